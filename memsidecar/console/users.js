// The users of the namespace, by the beginning of their ids: read page by page, kept current by events.

import { html, useState } from "./vendor/htm-preact.js";
import { useEvents } from "./live.js";
import { Excerpt, Time, plural } from "./text.js";
import { ListStatus, Notice, usePages, useThrottled } from "./widgets.js";
import { ROW_HEIGHT, VirtualList } from "./virtual_list.js";

const PAGE_USERS = 200;
const REFRESH_MS = 1_000;

/** `onOpen` gets the id of the chosen user. */
export function UserList({ live, prefix, onOpen }) {
  const request = { userIdPrefix: prefix, pageSize: PAGE_USERS };
  const pages = usePages("ListUsers", request, "users", [prefix]);
  const [selected, setSelected] = useState(null);
  const refresh = useThrottled(pages.reload, REFRESH_MS);
  useEvents(live, (events) => {
    const isErasure = events.some((event) => event.kind === "EVENT_KIND_FORGOTTEN");
    // The next read begins with the first page, so one that was read further stays until something is erased.
    if (isErasure || pages.items.length <= PAGE_USERS) refresh();
  }, [live, pages.items]);
  const rows = pages.items.map((user) => ({ key: user.userId, user }));
  return html`
    ${pages.error && html`<${Notice} error=${pages.error} />`}
    <${VirtualList} items=${rows} rowHeight=${ROW_HEIGHT} label="Users" selected=${selected}
      onSelect=${(row) => setSelected(row.key)} onOpen=${(row) => onOpen(row.key)} row=${userRow} />
    <${ListStatus} pages=${pages} count=${rows.length} noun="user"
      empty=${prefix ? "No id of a user begins with this." : "There is no user in this namespace yet."} />`;
}

function userRow({ user }) {
  return html`
    <span class="row-title"><${Excerpt} text=${user.userId} length=${60} /></span>
    <span class="row-note">
      ${plural(user.sessionCount, "session")}${user.lastActive && html` · <${Time} value=${user.lastActive} />`}
    </span>`;
}
