// Usage: what the namespace stores against its quota, and how much of its budget each window fills.

import { html, useMemo } from "./vendor/htm-preact.js";
import { call } from "./rpc.js";
import { useEvents } from "./live.js";
import { Excerpt, number, plural } from "./text.js";
import { Notice, useLoaded, usePages, useThrottled } from "./widgets.js";

const PAGE_SESSIONS = 200;
const MAX_ROWS = 100;
const REFRESH_MS = 5_000;
const RESOURCES = ["sessions", "messages", "bytes"];

export function Usage({ live, go }) {
  const stored = useLoaded((signal) => call("GetUsage", {}, signal), []);
  const pages = usePages("ListSessions", { pageSize: PAGE_SESSIONS }, "sessions", []);
  const refresh = useThrottled(() => {
    stored.reload();
    pages.reload();
  }, REFRESH_MS);
  useEvents(live, refresh, [live]);
  const largest = useMemo(() => fullest(pages.items), [pages.items]);
  const error = stored.error ?? pages.error;
  return html`
    <section class="page" aria-label="Usage">
      <header class="view-heading"><h1>Usage</h1></header>
      ${error && html`<${Notice} error=${error} />`}
      <h2>Stored, against the quota</h2>
      <ul class="windows" aria-label="Stored">
        ${stored.value && RESOURCES.map((resource) => html`
          <${Amount} key=${resource} resource=${resource} stored=${stored.value.usage?.[resource]}
            limit=${stored.value.quota?.[resource]} />`)}
      </ul>
      <h2>Windows against their budgets</h2>
      <ul class="windows" aria-label="Windows">
        ${largest.map((session) => html`<${WindowUse} key=${session.sessionId} session=${session} go=${go} />`)}
      </ul>
      <p class="status" role="status">
        ${pages.isLoading ? "Reading…" : !pages.error && `Of the ${plural(pages.items.length, "session")} that were active last.`}
        ${pages.more && html` <button type="button" class="link" onClick=${pages.more}>Read more sessions</button>`}
      </p>
    </section>`;
}

/** One figure of the quota. `limit` is absent without one. */
function Amount({ resource, stored, limit }) {
  const percent = limit ? Math.round((100 * Number(stored ?? 0)) / Number(limit)) : 0;
  return html`
    <li>
      <span>${resource}</span>
      ${limit
        ? html`
          <meter min="0" max="100" high="90" value=${Math.min(100, percent)} aria-label="Share of the quota of ${resource}">
          </meter>
          <span>${number(stored)} of ${number(limit)}, ${percent} %</span>`
        : html`<span>${number(stored)}</span><span>no limit</span>`}
    </li>`;
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
      ${stats.budgetTokens
        ? html`
          <meter min="0" max="100" high="90" value=${Math.min(100, percent)} aria-label="Tokens of the window"></meter>
          <span>${number(stats.tokens)} of ${number(stats.budgetTokens)} tokens, ${percent} %</span>`
        : html`<span>${plural(stats.tokens, "token")}</span><span>no budget</span>`}
    </li>`;
}
