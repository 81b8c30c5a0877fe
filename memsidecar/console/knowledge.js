// The patterns of a user's conversations, and the documents, with a search in their chunks.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { call } from "./rpc.js";
import { Excerpt, Text, Time, number, plural, score } from "./text.js";
import { Entry, Notice, useLoaded, usePages } from "./widgets.js";

const PAGE_DOCUMENTS = 100;
const TYPING_MS = 300;

/** Facts, patterns and documents belong to a user, or to a session without a user. */
function ownerOf(place) {
  return place.user ? { userId: place.user } : { sessionId: place.session };
}

export function Patterns({ place }) {
  const isChosen = Boolean(place.session || place.user);
  const found = useLoaded(
    async (signal) => (isChosen ? call("GetPatterns", ownerOf(place), signal) : null), [place.user, place.session]);
  if (!isChosen) return html`<${Notice}>Choose a session in the list.<//>`;
  const patterns = found.value;
  return html`
    <section class="page" aria-label="Patterns">
      <header class="view-heading">
        <h1>Patterns of <${Excerpt} text=${place.user || place.session} length=${60} /></h1>
      </header>
      ${found.error && html`<${Notice} error=${found.error} />`}
      ${patterns && html`<${PatternFigures} patterns=${patterns} />`}
    </section>`;
}

function PatternFigures({ patterns }) {
  const byKind = grouped(patterns.patterns ?? []);
  const figures = [
    ["conversations", patterns.conversations && number(patterns.conversations)],
    ["turns in one, on average", patterns.meanTurns && patterns.meanTurns.toFixed(1)],
    ["frequency", patterns.frequency], ["answer length", patterns.answerLength],
    ["technical depth", patterns.technicalDepth],
  ].filter(([, value]) => value);
  if (!figures.length && !byKind.size) return html`<${Notice}>There is not enough evidence yet.<//>`;
  return html`
    <dl class="facts-list">${figures.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>
    ${patterns.hints && html`<h2>Hints in contexts</h2><${Text} text=${patterns.hints} />`}
    ${[...byKind].map(([kind, values]) => html`
      <h2 key=${kind}>${kind.replaceAll("_", " ")}</h2>
      <ul class="evidence">
        ${values.map((pattern) => html`
          <li><${Excerpt} text=${pattern.value ?? ""} length=${300} /> <small>${number(pattern.evidence)}×</small></li>`)}
      </ul>`)}
    ${patterns.computedAt && html`<p class="status">computed <${Time} value=${patterns.computedAt} /></p>`}`;
}

function grouped(patterns) {
  const found = new Map();
  for (const pattern of patterns) found.set(pattern.kind, [...(found.get(pattern.kind) ?? []), pattern]);
  return found;
}

export function Documents({ place }) {
  const owner = place.session || place.user ? ownerOf(place) : null;
  return html`
    <section class="page" aria-label="Documents">
      <header class="view-heading"><h1>Documents</h1></header>
      <${ChunkSearch} owner=${owner ?? {}} />
      ${owner && html`<${DocumentList} owner=${owner} of=${place.user || place.session} />`}
      <${DocumentList} owner=${{}} of="" />
    </section>`;
}

/** The documents of a user or a session, or with an empty `of` those of the namespace. */
function DocumentList({ owner, of }) {
  const pages = usePages("ListDocuments", { ...owner, pageSize: PAGE_DOCUMENTS }, "documents", [of]);
  return html`
    <section>
      <h2>${of ? html`Of <${Excerpt} text=${of} length=${60} />` : "Of the namespace"}</h2>
      ${pages.error && html`<${Notice} error=${pages.error} />`}
      ${!pages.isLoading && !pages.items.length && !pages.error && html`<${Notice}>There is no document.<//>`}
      <ul class="cards">
        ${pages.items.map((document) => html`
          <li class="card" key=${document.id}>
            <p><b><${Excerpt} text=${document.title || document.id} length=${200} /></b>
              ${document.title && html` <small><${Excerpt} text=${document.id} length=${80} /></small>`}</p>
            <p class="item-note">
              ${plural(document.chunkCount, "chunk")} · ${plural(document.tokens, "token")}
              ${" · "}<${Time} value=${document.createTime} />
              ${document.source && html` · <${Excerpt} text=${document.source} length=${200} />`}
            </p>
          </li>`)}
      </ul>
      ${pages.more && html`<button type="button" onClick=${pages.more}>Read more documents</button>`}
    </section>`;
}

/** Chunks that a context could show for a query, with their scores. */
function ChunkSearch({ owner }) {
  const [typed, setTyped] = useState("");
  const [query, setQuery] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQuery(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const found = useLoaded(async (signal) => (query ? call("SearchDocuments", { ...owner, query }, signal) : null),
    [query, JSON.stringify(owner)]);
  const hits = found.value?.hits ?? [];
  return html`
    <${Entry} label="Search in documents" type="search" value=${typed} onValue=${setTyped} />
    ${query && found.error && html`<${Notice} error=${found.error} />`}
    ${query && found.value && html`
      <ol class="items" aria-label="Chunks found">
        ${hits.map((hit) => html`
          <li class="item">
            <p class="item-note"><${Excerpt} text=${hit.chunk.documentId} length=${80} />, chunk
              ${" "}${number(hit.chunk.chunkIndex)} · relevance ${score(hit.relevance)} · score ${score(hit.score)}</p>
            <${Text} text=${hit.chunk.text ?? ""} />
          </li>`)}
        ${!hits.length && html`<li>No chunk matches.</li>`}
      </ol>`}`;
}
