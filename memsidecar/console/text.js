// Stored text as text: nothing in it becomes markup, invisible and direction characters are named, long texts are
// shown in parts. Also the formats of numbers, times and ids.

import { html, useLayoutEffect, useState } from "./vendor/htm-preact.js";

const FIRST_CHARACTERS = 20_000;
const MORE_CHARACTERS = 200_000;
const LINE_SEPARATORS = /[\r\n\u2028\u2029]+/g;
// Controls except tab and line feed, zero-width and direction characters, line separators, tags, a lone surrogate.
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
const NAMES = {
  0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding", 0x202c: "end of embedding", 0x202d: "left-to-right override",
  0x202e: "right-to-left override", 0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate",
  0x2068: "first strong isolate", 0x2069: "end of isolate", 0x200b: "zero-width space", 0xfeff: "byte order mark",
};

/** Return the text with each invisible character replaced by its name. */
export function visible(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    if (match[0] === "\r" && text[match.index + 1] === "\n") continue;
    parts.push(text.slice(end, match.index), invisibleCharacter(match[0]));
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

function invisibleCharacter(character) {
  const code = character.codePointAt(0);
  const number = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return html`<span class="invisible" title=${NAMES[code] ?? "invisible character"}>${number}</span>`;
}

/** A whole text. More than 20,000 characters are shown on request: a browser lays out a line of 1 MB for seconds. */
export function Text({ text, label }) {
  const [shown, setShown] = useState(FIRST_CHARACTERS);
  useLayoutEffect(() => setShown(FIRST_CHARACTERS), [text]);
  const left = text.length - shown;
  return html`
    <pre class="text" dir="auto" aria-label=${label} tabindex=${label ? 0 : undefined}
      role=${label ? "region" : undefined}>${visible(text.slice(0, shown))}</pre>
    ${left > 0 && html`
      <button type="button" onClick=${() => setShown(shown + MORE_CHARACTERS)}>
        Show ${number(Math.min(left, MORE_CHARACTERS))} of ${number(left)} more characters
      </button>`}`;
}

/** The beginning of a text, on one line. */
export function Excerpt({ text, length = 240 }) {
  const start = text.slice(0, length).replace(LINE_SEPARATORS, " ");
  return html`<bdi>${visible(start)}${text.length > length ? "…" : ""}</bdi>`;
}

const NUMBERS = new Intl.NumberFormat("en");
const DATES = new Intl.DateTimeFormat("en-CA", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
  hourCycle: "h23",
});
const STEPS = [["day", 86_400], ["hour", 3_600], ["minute", 60]];

/** Format an integer. An int64 is a string in JSON; an absent one is 0. */
export function number(value) {
  return NUMBERS.format(Number(value ?? 0));
}

/** Format a share of 1, or a score. */
export function score(value) {
  return Number(value ?? 0).toFixed(2);
}

export function plural(count, noun, form = `${noun}s`) {
  return `${number(count)} ${Number(count ?? 0) === 1 ? noun : form}`;
}

/** A point in time: how long ago, with the date in its title. */
export function Time({ value }) {
  if (!value) return html`<span>unknown</span>`;
  const date = new Date(value);
  return html`<time datetime=${value} title=${DATES.format(date)}>${ago(date)}</time>`;
}

function ago(date) {
  const seconds = (Date.now() - date) / 1_000;
  if (Math.abs(seconds) < 60) return "just now";
  if (seconds < 0) return DATES.format(date);
  const [unit, length] = STEPS.find(([, length]) => seconds >= length);
  const count = Math.floor(seconds / length);
  return count > 30 && unit === "day" ? DATES.format(date).slice(0, 10) : `${plural(count, unit)} ago`;
}

/** The name of an enum value in words: "FACT_TYPE_ACTION_ITEM" without "FACT_TYPE_" is "action item". */
export function words(value, prefix) {
  return (value ?? "").replace(prefix, "").toLowerCase().replaceAll("_", " ");
}
