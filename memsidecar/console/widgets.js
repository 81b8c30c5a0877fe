// Small parts that several views use: labelled inputs, notices, a reader of pages with its status.

import { html, useCallback, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact.js";
import { useReconnection } from "./live.js";
import { call } from "./rpc.js";
import { plural } from "./text.js";

let lastId = 0;

/** Return an id for a label or a description, unique in the document. */
export function useId(prefix) {
  const id = useRef("");
  id.current ||= `${prefix}-${++lastId}`;
  return id.current;
}

/** A labelled input. `onValue` gets its text; `rows` makes it a text area. */
export function Entry({ label, value, onValue, rows, hint, ...attributes }) {
  const id = useId("entry");
  const shared = {
    id, value, onInput: (event) => onValue(event.currentTarget.value), spellcheck: false, autocomplete: "off",
    "aria-describedby": hint ? `${id}-hint` : undefined, ...attributes,
  };
  return html`
    <div class="entry">
      <label for=${id}>${label}</label>
      ${rows ? html`<textarea rows=${rows} ...${shared}></textarea>` : html`<input ...${shared} />`}
      ${hint && html`<small id="${id}-hint">${hint}</small>`}
    </div>`;
}

/** A labelled switch. */
export function Switch({ label, checked, onValue, ...attributes }) {
  return html`
    <label class="switch">
      <input type="checkbox" checked=${checked} onChange=${(event) => onValue(event.currentTarget.checked)}
        ...${attributes} />
      <span>${label}</span>
    </label>`;
}

/** A labelled choice. `choices` are pairs of value and name. */
export function Choice({ label, value, choices, onValue }) {
  const id = useId("choice");
  return html`
    <div class="entry">
      <label for=${id}>${label}</label>
      <select id=${id} value=${value} onChange=${(event) => onValue(event.currentTarget.value)}>
        ${choices.map(([key, name]) => html`<option value=${key} selected=${key === value}>${name}</option>`)}
      </select>
    </div>`;
}

/** A message about a state: an error is announced at once. */
export function Notice({ error, children }) {
  if (error) return html`<p class="notice error" role="alert">${error.message}</p>`;
  return html`<p class="notice">${children}</p>`;
}

/**
 * Run `load(signal)` when a dependency changes. Return its value, its error, whether it runs, and `reload`. What was
 * loaded for other dependencies is never painted as an answer to these.
 */
export function useLoaded(load, dependencies) {
  const [result, setResult] = useState({ value: undefined, error: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  useLayoutEffect(() => {
    const abort = new AbortController();
    setResult((previous) => ({ ...previous, isLoading: true }));
    load(abort.signal).then(
      (value) => !abort.signal.aborted && setResult({ value, error: undefined, isLoading: false }),
      (error) => !abort.signal.aborted && setResult({ value: undefined, error, isLoading: false }),
    );
    return () => abort.abort();
  }, [...dependencies, round]);
  const reload = useCallback(() => setRound((previous) => previous + 1), []);
  useReconnection(reload);
  return { ...result, reload };
}

const UNREAD = { items: [], pageCount: 0, token: "", error: undefined, isLoading: true };

/**
 * Read an RPC page by page. Return the items so far, `more` while there is another page, and `reload`, which reads the
 * same pages again. The items stay until it is done; those of other dependencies leave at once.
 */
export function usePages(method, request, field, dependencies) {
  const [pages, setPages] = useState(UNREAD);
  const [round, setRound] = useState(0);
  const abort = useRef(null);
  const subject = useRef("");
  const read = async (before, pageCount) => {
    const { signal } = abort.current;
    let { items, token } = before;
    setPages((previous) => ({ ...previous, isLoading: true }));
    try {
      for (let page = before.pageCount; page < pageCount && (page === 0 || token); page += 1) {
        const response = await call(method, { ...request, pageToken: token }, signal);
        items = [...items, ...(response[field] ?? [])];
        token = response.nextPageToken ?? "";
      }
      if (!signal.aborted) setPages({ items, pageCount, token, error: undefined, isLoading: false });
    } catch (error) {
      if (!signal.aborted) setPages((previous) => ({ ...previous, error, isLoading: false }));
    }
  };
  useLayoutEffect(() => {
    abort.current = new AbortController();
    const isSame = subject.current === JSON.stringify(dependencies);
    subject.current = JSON.stringify(dependencies);
    if (!isSame) setPages(UNREAD);
    read(UNREAD, isSame ? Math.max(1, pages.pageCount) : 1);
    return () => abort.current.abort();
  }, [...dependencies, round]);
  const reload = useCallback(() => setRound((previous) => previous + 1), []);
  useReconnection(reload);
  const more = pages.token && !pages.isLoading ? () => read(pages, pages.pageCount + 1) : null;
  return { ...pages, more, reload };
}

/** The line below a list that is read page by page: how much is shown, and a button for more. */
export function ListStatus({ pages, count, noun, empty }) {
  return html`
    <p class="status" role="status">
      ${count ? plural(count, noun) : !pages.isLoading && empty}
      ${pages.more && html`, <button type="button" class="link" onClick=${pages.more}>load more</button>`}
      ${pages.isLoading && ", reading…"}
    </p>`;
}

/** Call `action` at most once in `milliseconds`, and once more for what arrived meanwhile. */
export function useThrottled(action, milliseconds) {
  const timer = useRef(0);
  const latest = useRef(action);
  latest.current = action;
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ||= setTimeout(() => {
      timer.current = 0;
      latest.current();
    }, milliseconds);
  }, [milliseconds]);
}
