// A list box of rows of one height. Only the rows in sight are in the document, so 10,000 cost as much as 50.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { useId } from "./widgets.js";

/** Of a row with a title and a note. */
export const ROW_HEIGHT = 62;
const OVERSCAN_ROWS = 6;

/**
 * `items` have a `key`. `row(item)` returns the content of a row. With `fromEnd` the list begins at its end and stays
 * there while items are added; elsewhere the row on top stays in place.
 */
export function VirtualList({ items, rowHeight, row, selected, onSelect, onOpen, label, fromEnd = false }) {
  const id = useId("list");
  const box = useRef(null);
  const [height, setHeight] = useState(600);
  const [top, setTop] = useState(0);
  const anchor = useRef({ key: null, offset: 0, atEnd: fromEnd });

  useEffect(() => {
    const observer = new ResizeObserver(() => setHeight(box.current?.clientHeight ?? 600));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => keepPlace(box.current, items, rowHeight, anchor.current), [items, height]);

  // The event of a list that was scrolled and then left comes when `box` is empty.
  const onScroll = ({ currentTarget }) => {
    setTop(currentTarget.scrollTop);
    remember(currentTarget, items, rowHeight, anchor.current, fromEnd);
  };
  const selectedIndex = items.findIndex((item) => item.key === selected);
  const move = (index) => {
    if (!items.length) return;
    const target = Math.min(Math.max(index, 0), items.length - 1);
    reveal(box.current, target, rowHeight);
    onSelect(items[target]);
  };
  const onKeyDown = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const from = selectedIndex >= 0 ? selectedIndex : Math.floor(top / rowHeight) - 1;
    const steps = { ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page };
    const ends = { Home: 0, End: items.length - 1 };
    const target = steps[event.key] ?? ends[event.key];
    if (target !== undefined) move(target);
    else if (event.key === "Enter" && selectedIndex >= 0) (onOpen ?? onSelect)(items[selectedIndex]);
    else return;
    event.preventDefault();
  };

  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN_ROWS);
  const last = Math.min(items.length, Math.ceil((top + height) / rowHeight) + OVERSCAN_ROWS);
  const isShown = selectedIndex >= first && selectedIndex < last;
  return html`
    <div class="list" ref=${box} id=${id} role="listbox" tabindex="0" aria-label=${label} onScroll=${onScroll}
      onKeyDown=${onKeyDown} aria-activedescendant=${isShown ? `${id}-${selectedIndex}` : undefined}>
      <div class="list-space" role="presentation" style=${{ height: `${items.length * rowHeight}px` }}>
        ${items.slice(first, last).map((item, index) => html`
          <div class="row" role="option" key=${item.key} id="${id}-${first + index}" aria-setsize=${items.length}
            aria-posinset=${first + index + 1} aria-selected=${item.key === selected ? "true" : "false"}
            style=${{ height: `${rowHeight}px`, transform: `translateY(${(first + index) * rowHeight}px)` }}
            onClick=${() => (onOpen ?? onSelect)(item)}>
            ${row(item)}
          </div>`)}
      </div>
    </div>`;
}

/** Scroll so that the remembered row is where it was, although rows were added or removed above it. */
function keepPlace(box, items, rowHeight, anchor) {
  if (anchor.atEnd) {
    box.scrollTop = box.scrollHeight;
    return;
  }
  const index = anchor.key === null ? -1 : items.findIndex((item) => item.key === anchor.key);
  if (index >= 0) box.scrollTop = index * rowHeight + anchor.offset;
}

function remember(box, items, rowHeight, anchor, fromEnd) {
  const index = Math.floor(box.scrollTop / rowHeight);
  anchor.key = items[index]?.key ?? null;
  anchor.offset = box.scrollTop - index * rowHeight;
  anchor.atEnd = fromEnd && box.scrollTop + box.clientHeight >= box.scrollHeight - rowHeight / 2;
}

function reveal(box, index, rowHeight) {
  const start = index * rowHeight;
  if (start < box.scrollTop) box.scrollTop = start;
  else if (start + rowHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = start + rowHeight - box.clientHeight;
  }
}
