// The view of one conversation: its figures, its summary, its messages as rows, and the chosen message.

import { html, useMemo, useState } from "./vendor/htm-preact.js";
import { useConversation } from "./conversation.js";
import { ErasureButton } from "./erasure.js";
import { MessageDetail, States, roleOf } from "./message_detail.js";
import { Excerpt, Text, Time, number, plural } from "./text.js";
import { VirtualList } from "./virtual_list.js";
import { Entry, Notice } from "./widgets.js";

const ROW_HEIGHT = 66;
const MAX_NAMES = 5;

export function Timeline({ live, place, go, caller }) {
  const conversation = useConversation(live, place);
  const [filter, setFilter] = useState("");
  const rows = useMemo(() => matching(conversation.rows, filter.trim().toLowerCase()), [conversation.rows, filter]);
  const chosen = conversation.rows.find((row) => row.key === place.message);
  if (!place.session) return html`<${Notice}>Choose a session in the list.<//>`;
  const choose = (row) => go({ message: row.key });
  return html`
    <section class="conversation ${chosen ? "has-detail" : ""}" aria-label="Conversation">
      <div class="conversation-list">
        <${Heading} conversation=${conversation} place=${place} go=${go} caller=${caller} />
        <div class="toolbar">
          <${Entry} label="Search in this conversation" type="search" value=${filter} onValue=${setFilter}
            placeholder="Words, a role, pruned …" />
        </div>
        ${conversation.error && html`<${Notice} error=${conversation.error} />`}
        <${VirtualList} items=${rows} rowHeight=${ROW_HEIGHT} row=${messageRow} selected=${place.message}
          onSelect=${choose} label="Messages, oldest first" fromEnd=${true} />
        <${Progress} conversation=${conversation} shown=${rows.length} filter=${filter} />
      </div>
      ${chosen && html`
        <${MessageDetail} row=${chosen} rows=${conversation.rows} conversation=${conversation} place=${place} go=${go}
          caller=${caller} />`}
    </section>`;
}

function Heading({ conversation, place, go, caller }) {
  const { session, summary } = conversation;
  const stats = session?.stats ?? {};
  return html`
    <header class="view-heading">
      <h1><${Excerpt} text=${place.session} length=${80} /></h1>
      ${session && html`
        <p class="figures">
          ${session.userId && html`<span>user <b><${Excerpt} text=${session.userId} length=${60} /></b></span>`}
          <span><b>${number(stats.messageCount)}</b> in the window</span>
          <span><b>${number(stats.prunedCount)}</b> pruned</span>
          <span><b>${number(stats.tokens)}</b> tokens${Number(stats.budgetTokens ?? 0) > 0 && html`
            ${" "}of ${number(stats.budgetTokens)}`}</span>
          <span>active <${Time} value=${session.lastActive} /></span>
        </p>
        <div class="actions">
          <button type="button" onClick=${() => go({ view: "laboratory" })}>Open in the laboratory</button>
          ${caller.mayErase && html`
            <${ErasureButton} title="Forget this session" method="DeleteSession" onErased=${() => chooseNothing(go)}
              request=${{ sessionId: place.session, userId: place.user }} />`}
          ${caller.mayErase && session.userId && html`
            <${ErasureButton} title="Forget this user" method="ForgetUser" onErased=${() => chooseNothing(go)}
              request=${{ userId: session.userId }} />`}
        </div>`}
      ${summary && html`
        <details>
          <summary>Summary of messages ${number(summary.firstSequence)} to ${number(summary.lastSequence)},
            ${" "}${plural(summary.tokens, "token")}, by ${summary.origin}</summary>
          <${Text} text=${summary.text ?? ""} />
        </details>`}
    </header>`;
}

function chooseNothing(go) {
  go({ view: "sessions", session: "", user: "", message: "" });
}

function Progress({ conversation, shown, filter }) {
  const { rows, total, isComplete, needsRequest, readAll } = conversation;
  if (needsRequest) {
    return html`<p class="status" role="status">The newest ${number(rows.length)} of ${number(total)} messages.
      ${" "}<button type="button" class="link" onClick=${readAll}>Read all</button></p>`;
  }
  const count = filter.trim() ? `${number(shown)} of ${plural(rows.length, "message")}` : plural(rows.length, "message");
  return html`<p class="status" role="status">
    ${isComplete ? count : `${number(rows.length)} of ${plural(total, "message")}, reading…`}</p>`;
}

function matching(rows, wanted) {
  if (!wanted) return rows;
  return rows.filter(({ message, states }) =>
    message.content?.toLowerCase().includes(wanted) || roleOf(message).includes(wanted) || states.includes(wanted) ||
    message.toolCalls?.some((call) => `${call.name} ${call.argumentsJson}`.toLowerCase().includes(wanted)));
}

function messageRow({ message, states }) {
  const role = roleOf(message);
  return html`
    <span class="row-note ${states.includes("pruned") ? "is-pruned" : ""}">
      <span class="role ${role}">${role}</span>
      ${" "}${message.name && html`<${Excerpt} text=${message.name} length=${30} />${" "}`}
      #${number(message.sequence)} · ${number(message.tokens)} tok · <${Time} value=${message.createTime} />
      ${" "}<${States} states=${states} />
    </span>
    <span class="row-text ${role === "tool" ? "is-result" : ""}">
      ${message.toolCalls?.length > 0 && html`<span class="call">calls ${calledNames(message)}</span>${" "}`}
      ${role === "tool" && html`<span class="call">result</span>${" "}`}
      <${Excerpt} text=${message.content ?? ""} />
    </span>`;
}

function calledNames(message) {
  const names = message.toolCalls.slice(0, MAX_NAMES).map((call) => call.name).join(", ");
  return html`<${Excerpt} text=${names} length=${80} />`;
}
