// The sessions of the namespace or of one user: read page by page, filtered here, kept current by events.

import { html, useEffect, useMemo, useState } from "./vendor/htm-preact.js";
import { call } from "./rpc.js";
import { useEvents, useReconnection } from "./live.js";
import { Excerpt, Time, number } from "./text.js";
import { UserList } from "./users.js";
import { Entry, ListStatus, Notice, useThrottled } from "./widgets.js";
import { ROW_HEIGHT, VirtualList } from "./virtual_list.js";

const PAGE_SESSIONS = 200;
// A filter reads more pages, up to this number of sessions: beyond it, choose the user first.
const MAX_FILTERED_SESSIONS = 5_000;
const REFRESH_MS = 1_000;
const HINTS = { sessions: "Part of an id ( / )", users: "Beginning of an id ( / )" };

/** The lists beside every view. `go` opens a session. */
export function Sessions({ live, place, go }) {
  const [filter, setFilter] = useState("");
  const [by, setBy] = useState("sessions");
  const [user, setUser] = useState("");
  const openUser = (userId) => {
    setUser(userId);
    setFilter("");
    setBy("sessions");
    // Facts, patterns and documents are those of the user now, who may have no session.
    go({ user: userId, session: "", message: "" });
  };
  return html`
    <aside class="sessions" aria-label="Sessions and users">
      <${Entry} label="Search sessions and users" type="search" value=${filter} onValue=${setFilter} data-search
        placeholder=${HINTS[by]} />
      <div class="tabs" role="group" aria-label="List by">
        ${["sessions", "users"].map((name) => html`
          <button type="button" aria-pressed=${by === name ? "true" : "false"} onClick=${() => setBy(name)}>
            ${name === "sessions" ? "Sessions" : "Users"}
          </button>`)}
      </div>
      ${by === "users"
        ? html`<${UserList} live=${live} prefix=${filter.trim()} onOpen=${openUser} />`
        : html`
          ${user && html`
            <p class="status">
              Of <${Excerpt} text=${user} length=${30} />
              ${" "}<button type="button" class="link" onClick=${() => setUser("")}>All sessions</button>
            </p>`}
          <${SessionList} key=${user} live=${live} place=${place} go=${go} filter=${filter.trim()} user=${user} />`}
    </aside>`;
}

function SessionList({ live, place, go, filter, user }) {
  const list = useSessions(live, filter, user);
  const rows = useMemo(() => rowsOf(list.sessions, filter), [list.sessions, filter]);
  const open = (row) => go({ ...row.target, message: "", view: openedView(place.view) });
  const select = (row) => go({ ...row.target, message: "" });
  return html`
    ${list.error && html`<${Notice} error=${list.error} />`}
    <${VirtualList} items=${rows} rowHeight=${ROW_HEIGHT} label="Sessions" selected=${place.session}
      onSelect=${select} onOpen=${open} row=${sessionRow} />
    <${ListStatus} pages=${list} count=${rows.length} noun="session" empty=${emptyText(filter, user)} />`;
}

/** A view that shows a session stays; others give way to the conversation. */
function openedView(view) {
  return view === "sessions" || view === "usage" ? "conversation" : view;
}

function emptyText(filter, user) {
  if (filter) return "No id contains this.";
  return user ? "This user has no session." : "There is no session in this namespace yet.";
}

function useSessions(live, filter, user) {
  const [state, setState] = useState({ sessions: [], token: "", error: undefined, isLoading: true });
  const read = async (pageToken, merge) => {
    setState((previous) => ({ ...previous, isLoading: true }));
    try {
      const response = await call("ListSessions", { userId: user, pageSize: PAGE_SESSIONS, pageToken });
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
  useReconnection(readFirst);
  const readMore = () => read(state.token, (previous, page) => ({
    ...loaded(page), sessions: merged(previous.sessions, page.sessions ?? []),
  }));
  // A filter concerns sessions that were not read yet.
  const isPartial = state.token && state.sessions.length < MAX_FILTERED_SESSIONS;
  useEffect(() => {
    if (filter && isPartial && !state.isLoading && !state.error) readMore();
  }, [filter, state]);
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

function rowsOf(sessions, filter) {
  const wanted = filter.toLowerCase();
  const matches = (id) => id.toLowerCase().includes(wanted);
  return sessions
    .filter((session) => matches(session.sessionId) || matches(session.userId ?? ""))
    .map((session) => ({
      key: session.sessionId, session, target: { session: session.sessionId, user: session.userId ?? "" },
    }));
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
