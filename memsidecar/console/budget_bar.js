// A context drawn as a bar: the tokens of each section within the budget, with the figures in a table.

import { html } from "./vendor/htm-preact.js";
import { SECTIONS, SECTION_NAMES, sectionOf } from "./experiment.js";
import { number, plural } from "./text.js";

/** `name` tells the contexts of two settings apart. */
export function BudgetBar({ context, name }) {
  const used = context.totalTokens ?? 0;
  const limit = context.maxTokens ?? 0;
  const sections = inOrder(context.receipt?.sections ?? []).filter((section) => section.usedTokens > 0);
  const free = Math.max(0, limit - used);
  return html`
    <figure class="budget-figure">
      <figcaption>
        <b>${number(used)}</b> of ${number(limit)} tokens
        (${Math.round((100 * used) / Math.max(1, limit))} %), ${exactness(context.receipt)}
      </figcaption>
      <div class="bar-drawing" role="img" aria-label=${spoken(sections, free)}>
        ${sections.map((section) => html`
          <span class="segment ${sectionOf(section).toLowerCase()}" key=${section.section}
            style=${{ flexGrow: section.usedTokens }} title=${spokenSection(section)}></span>`)}
        <span class="segment free" style=${{ flexGrow: free }} title="free: ${plural(free, "token")}"></span>
      </div>
      <${Figures} sections=${inOrder(context.receipt?.sections ?? [])} name=${name} />
    </figure>`;
}

function inOrder(sections) {
  return [...sections].sort((first, second) => SECTIONS.indexOf(sectionOf(first)) - SECTIONS.indexOf(sectionOf(second)));
}

function exactness(receipt) {
  const tokenizer = receipt?.tokenizer ?? "";
  return receipt?.exact ? `counted with ${tokenizer}` : `estimated with ${tokenizer}`;
}

function spoken(sections, free) {
  return `${sections.map(spokenSection).join(", ")}, free: ${plural(free, "token")}`;
}

function spokenSection(section) {
  return `${SECTION_NAMES[sectionOf(section)]}: ${plural(section.usedTokens, "token")}`;
}

/** Tokens used, share and ceiling of each section, and how many items are in and out. */
function Figures({ sections, name }) {
  const shown = sections.filter((section) => section.usedTokens || section.limitTokens || section.leftOutCount);
  return html`
    <div class="table-scroll" tabindex="0" role="region" aria-label="Tokens by section${name && `, ${name}`}">
      <table class="figures-table">
        <thead><tr>
          <th scope="col">Section</th><th scope="col">Used</th><th scope="col">Share</th><th scope="col">Ceiling</th>
          <th scope="col">In</th><th scope="col">Out</th>
        </tr></thead>
        <tbody>
          ${shown.map((section) => html`
            <tr key=${section.section}>
              <th scope="row"><span class="swatch ${sectionOf(section).toLowerCase()}"></span>
                ${SECTION_NAMES[sectionOf(section)]}</th>
              <td>${number(section.usedTokens)}</td>
              <td>${section.shareTokens ? number(section.shareTokens) : "–"}</td>
              <td>${section.limitTokens ? number(section.limitTokens) : "–"}</td>
              <td>${number((section.items ?? []).filter((item) => item.included).length)}</td>
              <td>${number(section.leftOutCount)}</td>
            </tr>`)}
        </tbody>
      </table>
    </div>`;
}
