// The facts of a user, or of a session without a user: current ones, with the history of each and its sources.

import { html, useMemo, useState } from "./vendor/htm-preact.js";
import { useEvents } from "./live.js";
import { Excerpt, Time, number, plural, score, words } from "./text.js";
import { Entry, Notice, usePages, useThrottled } from "./widgets.js";

const PAGE_FACTS = 500;
const REFRESH_MS = 1_000;
const MAX_SOURCES = 20;

export function Facts({ live, place, go }) {
  const [filter, setFilter] = useState("");
  // The facts of a user are those of all the user's sessions.
  const owner = place.user ? { userId: place.user } : { sessionId: place.session };
  const request = { ...owner, includeHistory: true, pageSize: PAGE_FACTS };
  const pages = usePages("ListFacts", request, "facts", [place.user, place.user ? "" : place.session]);
  const refresh = useThrottled(pages.reload, REFRESH_MS);
  useEvents(live, (events) => events.some(concernsFacts) && refresh(), [live]);
  const groups = useMemo(() => matching(grouped(pages.items), filter.trim().toLowerCase()), [pages.items, filter]);
  if (!place.session && !place.user) return html`<${Notice}>Choose a session in the list.<//>`;
  return html`
    <section class="page" aria-label="Facts">
      <header class="view-heading">
        <h1>Facts about <${Excerpt} text=${place.user || place.session} length=${60} /></h1>
        <${Entry} label="Search facts" type="search" value=${filter} onValue=${setFilter} />
      </header>
      ${pages.error && html`<${Notice} error=${pages.error} />`}
      ${!pages.isLoading && !groups.length && !pages.error && html`
        <${Notice}>${pages.items.length ? "No fact contains this." : "Nothing is known yet."}<//>`}
      <ul class="cards">
        ${groups.map((group) => html`<${FactCard} key=${group.current.id} group=${group} place=${place} go=${go} />`)}
      </ul>
      ${pages.more && html`<button type="button" onClick=${pages.more}>Read more facts</button>`}
      ${!pages.error && html`<p class="status" role="status">${plural(groups.length, "fact")}</p>`}
    </section>`;
}

function concernsFacts(event) {
  return event.kind === "EVENT_KIND_FACT" || event.kind === "EVENT_KIND_FORGOTTEN";
}

/** Collect the values of each fact, the newest first. A value without an end is the current one. */
function grouped(facts) {
  const byKey = new Map();
  for (const fact of facts) {
    const key = `${fact.type} ${fact.key ?? ""}`;
    byKey.set(key, [...(byKey.get(key) ?? []), fact]);
  }
  return [...byKey.values()].flatMap(groupsOfKey);
}

/** A key can have several current values: each is a card of its own, and the first one has the history. */
function groupsOfKey(facts) {
  const newestFirst = [...facts].sort((first, second) => (second.lastUpdated ?? "").localeCompare(first.lastUpdated ?? ""));
  const current = newestFirst.filter((fact) => !fact.validUntil);
  const former = newestFirst.filter((fact) => fact.validUntil);
  if (!current.length) return [{ current: former[0], former: former.slice(1) }];
  return current.map((fact, index) => ({ current: fact, former: index === 0 ? former : [] }));
}

function matching(groups, wanted) {
  const contains = (fact) => `${words(fact.type, "FACT_TYPE_")} ${fact.key} ${fact.value}`.toLowerCase().includes(wanted);
  return groups.filter(({ current, former }) => [current, ...former].some(contains));
}

function FactCard({ group, place, go }) {
  const { current, former } = group;
  return html`
    <li class="card">
      <p class="row-note">
        <span class="badge">${words(current.type, "FACT_TYPE_")}</span>
        ${current.pinned && html` <span class="badge stable">pinned</span>`}
        ${current.validUntil && html` <span class="badge pruned">no longer valid</span>`}
      </p>
      <p class="fact"><b><${Excerpt} text=${current.key ?? ""} length=${100} /></b>:
        ${" "}<${Excerpt} text=${current.value ?? ""} length=${1_000} /></p>
      <p class="item-note">
        confidence ${score(current.confidence)} · by ${current.origin} · <${Time} value=${current.lastUpdated} />
      </p>
      <${Sources} fact=${current} place=${place} go=${go} />
      ${former.length > 0 && html`
        <details>
          <summary>${plural(former.length, "earlier value")}</summary>
          <ol class="history">
            ${former.map((fact) => html`
              <li key=${fact.id}>
                <${Excerpt} text=${fact.value ?? ""} length=${1_000} />
                <p class="item-note">from <${Time} value=${fact.validFrom} /> until <${Time} value=${fact.validUntil} />,
                  by ${fact.origin}</p>
                <${Sources} fact=${fact} place=${place} go=${go} />
              </li>`)}
          </ol>
        </details>`}
    </li>`;
}

/** The messages that a fact comes from. */
function Sources({ fact, place, go }) {
  const ids = fact.sourceMessageIds ?? [];
  if (!ids.length) return null;
  const open = (message) => go({ view: "conversation", session: fact.sessionId, user: place.user, message });
  return html`
    <p class="sources">Said in:
      ${ids.slice(0, MAX_SOURCES).map((id, index) => html`
        ${" "}<button type="button" class="link" key=${id} onClick=${() => open(id)}
          aria-label="Source ${index + 1} of ${fact.key}">source ${index + 1}</button>`)}
      ${ids.length > MAX_SOURCES && ` and ${number(ids.length - MAX_SOURCES)} more`}
    </p>`;
}
