// Usage: what the sessions of the namespace hold, and how much of its budget each window fills.

import { html, useMemo } from "./vendor/htm-preact.js";
import { useEvents } from "./live.js";
import { Excerpt, number, plural } from "./text.js";
import { Notice, usePages, useThrottled } from "./widgets.js";

const PAGE_SESSIONS = 1_000;
const MAX_ROWS = 100;
const REFRESH_MS = 5_000;
const ROLES = ["system", "user", "assistant", "tool"];

export function Usage({ live, go }) {
  const pages = usePages("ListSessions", { pageSize: PAGE_SESSIONS }, "sessions", []);
  const refresh = useThrottled(pages.reload, REFRESH_MS);
  useEvents(live, refresh, [live]);
  const totals = useMemo(() => totalsOf(pages.items), [pages.items]);
  const largest = useMemo(() => fullest(pages.items), [pages.items]);
  return html`
    <section class="page" aria-label="Usage">
      <header class="view-heading"><h1>Usage</h1></header>
      ${pages.error && html`<${Notice} error=${pages.error} />`}
      <dl class="facts-list">
        ${totals.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${number(value)}</dd></div>`)}
      </dl>
      <h2>Windows against their budgets</h2>
      <ul class="windows">
        ${largest.map((session) => html`<${WindowUse} key=${session.sessionId} session=${session} go=${go} />`)}
      </ul>
      <p class="status" role="status">
        ${pages.isLoading ? "Reading…" : `Of ${plural(pages.items.length, "session")}.`}
        ${pages.more && html` <button type="button" class="link" onClick=${pages.more}>Read more sessions</button>`}
      </p>
    </section>`;
}

function totalsOf(sessions) {
  const sum = (read) => sessions.reduce((total, session) => total + Number(read(session.stats ?? {}) ?? 0), 0);
  return [
    ["sessions", sessions.length],
    ["users", new Set(sessions.map((session) => session.userId).filter(Boolean)).size],
    ["messages in windows", sum((stats) => stats.messageCount)],
    ["pruned messages", sum((stats) => stats.prunedCount)],
    ["tokens in windows", sum((stats) => stats.tokens)],
    ...ROLES.map((role) => [`tokens of ${role} messages`, sum((stats) => stats.tokensByRole?.[role])]),
  ];
}

function fullest(sessions) {
  const used = (session) => session.stats?.budgetUsed ?? 0;
  return [...sessions].sort((first, second) => used(second) - used(first)).slice(0, MAX_ROWS);
}

function WindowUse({ session, go }) {
  const stats = session.stats ?? {};
  const percent = Math.round(100 * (stats.budgetUsed ?? 0));
  const open = () => go({ view: "conversation", session: session.sessionId, user: session.userId ?? "", message: "" });
  return html`
    <li>
      <button type="button" class="link" onClick=${open}><${Excerpt} text=${session.sessionId} length=${60} /></button>
      <meter min="0" max="100" high="90" value=${Math.min(100, percent)} aria-label="Tokens of the window"></meter>
      <span>${number(stats.tokens)} of ${number(stats.budgetTokens)} tokens, ${percent} %</span>
    </li>`;
}
