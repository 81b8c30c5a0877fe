// The items of a context's receipt: each with its tokens, its score parts, and the reason why it is in or out.

import { html, useState } from "./vendor/htm-preact.js";
import { SECTIONS, SECTION_NAMES, sectionOf } from "./experiment.js";
import { Excerpt, number, plural, score } from "./text.js";

const FIRST_ITEMS = 50;
const REASONS = {
  INCLUDED: "it fits",
  SHORTENED: "shortened to fit",
  OVER_SECTION: "its section is full. A larger budget or limit of the section makes room",
  OVER_TOTAL: "the whole context would exceed the budget",
  BEYOND_TOP_K: "enough items with a higher score were found",
  BELOW_THRESHOLD: "its relevance to the query is below the threshold",
  LOW_QUALITY: "it was rated too low",
  DUPLICATE: "nearly the same as an item that is in, or as the query",
  IN_WINDOW: "not repeated: the conversation contains it already",
  EXPIRED: "it has expired",
  DISABLED: "its section is switched off",
  SUMMARIZED: "not repeated: the summary covers it",
};
const PARTS = [
  ["keyword", "keywords"], ["semantic", "meaning"], ["neighbours", "neighbours"], ["speaker", "speaker"],
  ["session", "session"], ["recency", "recency"],
];
const FILTERS = [["all", "All"], ["in", "In"], ["out", "Out"]];

/** Return why an item is in or out, in words. */
export function reasonOf(item) {
  return REASONS[(item.reason ?? "").replace("INCLUSION_", "")] ?? (item.included ? REASONS.INCLUDED : "no reason was given");
}

/** The items of all sections. `changed` are keys of items that the other setting decides differently. */
export function ReceiptItems({ receipt, changed, onMessage }) {
  const [filter, setFilter] = useState("all");
  const sections = SECTIONS.flatMap((name) =>
    (receipt?.sections ?? []).filter((section) => sectionOf(section) === name && section.items?.length));
  return html`
    <div class="tabs" role="group" aria-label="Items shown">
      ${FILTERS.map(([key, title]) => html`
        <button type="button" aria-pressed=${filter === key ? "true" : "false"}
          onClick=${() => setFilter(key)}>${title}</button>`)}
    </div>
    ${sections.map((section) => html`
      <${SectionItems} key=${section.section} section=${section} filter=${filter} changed=${changed}
        onMessage=${onMessage} />`)}`;
}

function SectionItems({ section, filter, changed, onMessage }) {
  const [shown, setShown] = useState(FIRST_ITEMS);
  const items = section.items.filter((item) => filter === "all" || Boolean(item.included) === (filter === "in"));
  if (!items.length) return null;
  const name = sectionOf(section);
  return html`
    <section class="receipt-section">
      <h3><span class="swatch ${name.toLowerCase()}"></span> ${SECTION_NAMES[name]}
        <small>${plural(items.length, "item")}${section.summarizedCount
          && `, ${plural(section.summarizedCount, "message")} in the summary`}</small></h3>
      <ul class="items">
        ${items.slice(0, shown).map((item) => html`
          <${Item} item=${item} isChanged=${changed?.has(itemKey(section, item))} onMessage=${onMessage} />`)}
      </ul>
      ${items.length > shown && html`
        <button type="button" onClick=${() => setShown(shown + 4 * FIRST_ITEMS)}>
          Show more of ${number(items.length)}</button>`}
    </section>`;
}

export function Item({ item, isChanged, onMessage }) {
  const messageId = item.messageIds?.[0];
  return html`
    <li class="item ${item.included ? "is-in" : "is-out"} ${isChanged ? "is-changed" : ""}">
      <p class="item-text"><${Excerpt} text=${item.preview || item.id || "(no text)"} /></p>
      <p class="item-reason">
        <b>${item.included ? "✓ in" : "✗ out"}</b> · ${reasonOf(item)}${isChanged && " · differs from the other setting"}
      </p>
      <p class="item-note">
        ${plural(item.tokens, "token")}${item.origin && html` · from ${item.origin}`}
        ${item.relevance !== undefined && ` · relevance ${score(item.relevance)}`}
        ${item.score !== undefined && ` · score ${score(item.score)}`}
        ${messageId && item.sessionId && html` · <button type="button" class="link"
          onClick=${() => onMessage(item.sessionId, messageId)}>show the message</button>`}
      </p>
      <${ScoreParts} parts=${item.scores} />
    </li>`;
}

/** A bar for each part of a score. */
function ScoreParts({ parts }) {
  const given = PARTS.filter(([name]) => parts?.[name]);
  if (!given.length) return null;
  return html`
    <ul class="parts" aria-label="Parts of the score">
      ${given.map(([name, title]) => html`
        <li key=${name}>
          <span>${title} ${score(parts[name])}</span>
          <span class="part ${name}" style=${{ width: `${Math.round(60 * Math.min(1, parts[name]))}px` }}></span>
        </li>`)}
    </ul>`;
}

function itemKey(section, item) {
  return `${section.section} ${item.id}`;
}

/** Return the keys of items that only one of two contexts includes. */
export function differences(first, second) {
  const [one, two] = [first, second].map(includedKeys);
  return new Set([...one].filter((key) => !two.has(key)).concat([...two].filter((key) => !one.has(key))));
}

function includedKeys(context) {
  const keys = new Set();
  for (const section of context?.receipt?.sections ?? []) {
    for (const item of section.items ?? []) if (item.included) keys.add(itemKey(section, item));
  }
  return keys;
}
