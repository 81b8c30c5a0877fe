// The answer to "is this sentence in the context, and why?": looked up in the receipt, in the messages that would be
// sent, and in what is stored.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { SECTION_NAMES, sectionOf } from "./experiment.js";
import { call } from "./rpc.js";
import { Excerpt, Time, number } from "./text.js";
import { Item } from "./receipt.js";
import { Entry, Notice, useLoaded } from "./widgets.js";

const TYPING_MS = 300;
const MAX_HITS = 5;
const MAX_ITEMS = 5;
const MAX_QUERY_CHARACTERS = 2_000;

/** A field for the sentence, and the answer for each context. `place.message` is the message to look for without words. */
export function SentenceFinder({ place, contexts, onMessage }) {
  const [typed, setTyped] = useState("");
  const [wanted, setWanted] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setWanted(typed.trim().slice(0, MAX_QUERY_CHARACTERS)), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const stored = useLoaded((signal) => storedMessages(place, wanted, signal), [place.session, place.user, wanted]);
  const isAsked = wanted !== "" || place.message !== "";
  return html`
    <section class="finder" aria-label="Find a sentence">
      <${Entry} label="Is this sentence in the context, and why?" type="search" value=${typed} onValue=${setTyped}
        placeholder="Some words of the sentence, exactly as they were said" />
      ${isAsked && stored.error && html`<${Notice} error=${stored.error} />`}
      ${isAsked && !stored.isLoading && html`
        <div class="answers" role="status">
          ${contexts.map(({ name, context, disabled }) => context && html`
            <${Answer} key=${name} name=${contexts.length > 1 ? name : ""} context=${context} wanted=${wanted}
              disabled=${disabled}
              hits=${hitsOf(stored.value, place, wanted)} onMessage=${onMessage} />`)}
        </div>`}
    </section>`;
}

/** Find messages that contain the words, of the user's sessions if there is a user. */
async function storedMessages(place, wanted, signal) {
  if (!wanted || !place.session) return [];
  const request = { sessionId: place.session, userId: place.user, query: wanted, limit: MAX_HITS };
  const response = await call("Search", { ...request, mode: "SEARCH_MODE_SUBSTRING" }, signal);
  return response.hits ?? [];
}

/** Without words, the message that was chosen in the conversation. */
function hitsOf(found, place, wanted) {
  return wanted ? found ?? [] : [{ sessionId: place.session, message: { id: place.message } }];
}

function Answer({ name, context, disabled, wanted, hits, onMessage }) {
  const items = matchingItems(context, wanted, hits);
  const isUnknown = wanted !== "" && !items.length && !hits.length;
  const isOut = !items.some(({ item }) => item.included);
  const missing = hits.filter((hit) => !items.some(({ item }) => concerns(item, hit)));
  return html`
    <div class="answer">
      ${name && html`<h3>${name}</h3>`}
      <p class="verdict"><b>${verdict(context, items, wanted)}</b></p>
      ${isUnknown && html`<p>No stored message has exactly these words.</p>`}
      ${isOut && disabled.length > 0 && html`
        <p>Switched off: ${disabled.map((section) => SECTION_NAMES[section]).join(", ")}.</p>`}
      <ul class="items">
        ${items.slice(0, MAX_ITEMS).map(({ section, item }) => html`
          <li class="in-section">${SECTION_NAMES[sectionOf(section)]}<ul class="items">
            <${Item} item=${item} onMessage=${onMessage} /></ul></li>`)}
      </ul>
      ${missing.map((hit) => html`<${NotCandidate} hit=${hit} onMessage=${onMessage} />`)}
    </div>`;
}

function matchingItems(context, wanted, hits) {
  const text = wanted.toLowerCase();
  const found = [];
  for (const section of context.receipt?.sections ?? []) {
    for (const item of section.items ?? []) {
      const isNamed = text !== "" && item.preview?.toLowerCase().includes(text);
      if (isNamed || hits.some((hit) => concerns(item, hit))) found.push({ section, item });
    }
  }
  const rank = ({ item }) => 2 * Boolean(item.preview?.toLowerCase().includes(text)) + Boolean(item.included);
  return found.sort((first, second) => rank(second) - rank(first));
}

function concerns(item, hit) {
  return hit.message.id !== "" && (item.id === hit.message.id || (item.messageIds ?? []).includes(hit.message.id));
}

function verdict(context, items, wanted) {
  const isSent = wanted !== "" && (context.messages ?? []).some((message) => contains(message, wanted));
  if (isSent || (wanted === "" && items.some(({ item }) => item.included))) return "Yes, it is in the context.";
  if (items.some(({ item }) => item.included)) return "Partly: an item with it is in the context, not with these words.";
  return items.length ? "No. It was considered and left out:" : "No.";
}

function contains(message, wanted) {
  return message.content?.toLowerCase().includes(wanted.toLowerCase());
}

/** A stored message that no section considered. */
function NotCandidate({ hit, onMessage }) {
  return html`
    <p>
      It is stored${hit.message.sequence && html` in message #${number(hit.message.sequence)}
      (<${Time} value=${hit.message.createTime} />: “<${Excerpt} text=${hit.message.content ?? ""} length=${100} />”)`},
      but was not considered: it is not in the window, and the search for the query did not rank it high enough.
      A query closer to its words finds it.
      ${" "}<button type="button" class="link" onClick=${() => onMessage(hit.sessionId, hit.message.id)}>
        show the message</button>
    </p>`;
}
