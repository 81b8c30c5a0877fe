// The sessions of the namespace, and their users: read page by page, filtered here, kept current by events.

import { html, useEffect, useMemo, useState } from "./vendor/htm-preact.js";
import { call } from "./rpc.js";
import { useEvents } from "./live.js";
import { Excerpt, Time, number, plural } from "./text.js";
import { Entry, Notice, useThrottled } from "./widgets.js";
import { VirtualList } from "./virtual_list.js";

const PAGE_SESSIONS = 200;
// A filter reads more pages, up to this number of sessions: beyond it the whole id of a user is needed.
const MAX_FILTERED_SESSIONS = 5_000;
const REFRESH_MS = 1_000;
const ROW_HEIGHT = 62;

/** The list beside every view. `go` opens a session. */
export function Sessions({ live, place, go }) {
  const [filter, setFilter] = useState("");
  const [by, setBy] = useState("sessions");
  const list = useSessions(live, filter.trim(), by);
  const rows = useMemo(() => rowsOf(list.sessions, filter.trim(), by), [list.sessions, filter, by]);
  const open = (row) => {
    if (by === "sessions") go({ ...row.target, message: "", view: openedView(place.view) });
    else {
      setFilter(row.target.user);
      setBy("sessions");
    }
  };
  const select = (row) => by === "sessions" && go({ ...row.target, message: "" });
  return html`
    <aside class="sessions" aria-label="Sessions and users">
      <${Entry} label="Search sessions and users" type="search" value=${filter} onValue=${setFilter} data-search
        placeholder="Part of an id ( / )" />
      <div class="tabs" role="group" aria-label="List by">
        ${["sessions", "users"].map((name) => html`
          <button type="button" aria-pressed=${by === name ? "true" : "false"} onClick=${() => setBy(name)}>
            ${name === "sessions" ? "Sessions" : "Users"}
          </button>`)}
      </div>
      ${list.error && html`<${Notice} error=${list.error} />`}
      <${VirtualList} items=${rows} rowHeight=${ROW_HEIGHT} label=${by === "sessions" ? "Sessions" : "Users"}
        selected=${by === "sessions" ? place.session : null} onSelect=${select} onOpen=${open}
        row=${by === "sessions" ? sessionRow : userRow} />
      <p class="status" role="status">
        ${rows.length ? plural(rows.length, by === "sessions" ? "session" : "user") : emptyText(list, filter)}
        ${list.more && html`, <button type="button" class="link" onClick=${list.more}>load more</button>`}
        ${list.isLoading && ", reading…"}
      </p>
    </aside>`;
}

/** A view that shows a session stays; others give way to the conversation. */
function openedView(view) {
  return view === "sessions" || view === "usage" ? "conversation" : view;
}

function emptyText(list, filter) {
  if (list.isLoading) return "";
  return filter ? "No id contains this." : "There is no session in this namespace yet.";
}

function useSessions(live, filter, by) {
  const [state, setState] = useState({ sessions: [], token: "", error: undefined, isLoading: true });
  const read = async (pageToken, merge) => {
    setState((previous) => ({ ...previous, isLoading: true }));
    try {
      const response = await call("ListSessions", { pageSize: PAGE_SESSIONS, pageToken });
      setState((previous) => merge(previous, response));
    } catch (error) {
      setState((previous) => ({ ...previous, error, isLoading: false }));
    }
  };
  const readFirst = () => read("", (previous, page) => ({ ...loaded(page), sessions: page.sessions ?? [] }));
  useEffect(() => {
    readFirst();
  }, []);
  // What was written to is on the first page now. Sessions that were erased are named by their event, or all are read.
  const refresh = useThrottled(() => read("", (previous, page) => ({
    ...loaded(page), token: previous.sessions.length > PAGE_SESSIONS ? previous.token : page.nextPageToken ?? "",
    sessions: merged(page.sessions ?? [], previous.sessions),
  })), REFRESH_MS);
  useEvents(live, (events) => {
    const erased = events.filter((event) => event.kind === "EVENT_KIND_FORGOTTEN");
    if (erased.some((event) => !event.id)) readFirst();
    else refresh();
  }, [live]);
  const readMore = () => read(state.token, (previous, page) => ({
    ...loaded(page), sessions: merged(previous.sessions, page.sessions ?? []),
  }));
  // A filter, and the list of users, concern sessions that were not read yet.
  const isPartial = state.token && state.sessions.length < MAX_FILTERED_SESSIONS;
  useEffect(() => {
    if ((filter || by === "users") && isPartial && !state.isLoading) readMore();
  }, [filter, by, state]);
  return { ...state, more: state.token && !state.isLoading ? readMore : null };
}

function loaded(page) {
  return { token: page.nextPageToken ?? "", error: undefined, isLoading: false };
}

/** Return both lists without repetitions; the first one is newer. */
function merged(first, second) {
  const known = new Set(first.map((session) => session.sessionId));
  return [...first, ...second.filter((session) => !known.has(session.sessionId))];
}

function rowsOf(sessions, filter, by) {
  const wanted = filter.toLowerCase();
  const matches = (id) => id.toLowerCase().includes(wanted);
  if (by === "users") return users(sessions).filter((row) => matches(row.target.user));
  return sessions
    .filter((session) => matches(session.sessionId) || matches(session.userId ?? ""))
    .map((session) => ({
      key: session.sessionId, session, target: { session: session.sessionId, user: session.userId ?? "" },
    }));
}

function users(sessions) {
  const found = new Map();
  for (const session of sessions) {
    if (!session.userId) continue;
    const row = found.get(session.userId) ?? {
      key: session.userId, target: { user: session.userId }, sessions: 0, messages: 0, lastActive: session.lastActive,
    };
    row.sessions += 1;
    row.messages += session.stats?.messageCount ?? 0;
    found.set(session.userId, row);
  }
  return [...found.values()];
}

function sessionRow({ session }) {
  const stats = session.stats ?? {};
  return html`
    <span class="row-title"><${Excerpt} text=${session.sessionId} length=${60} /></span>
    <span class="row-note">
      ${session.userId && html`<${Excerpt} text=${session.userId} length=${30} />${" · "}`}
      ${number(stats.messageCount)} msg · ${number(stats.tokens)} tok · <${Time} value=${session.lastActive} />
    </span>`;
}

function userRow(row) {
  return html`
    <span class="row-title"><${Excerpt} text=${row.target.user} length=${60} /></span>
    <span class="row-note">
      ${plural(row.sessions, "session")} · ${number(row.messages)} msg · <${Time} value=${row.lastActive} />
    </span>`;
}
