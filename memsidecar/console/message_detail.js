// One message in full: its text, its tool exchange, its states, and what can be done with it.

import { html, useEffect } from "./vendor/htm-preact.js";
import { ErasureButton } from "./erasure.js";
import { Excerpt, Text, Time, number, plural, words } from "./text.js";

const EXPLANATIONS = {
  pruned: "Pruned: not in the window. Search and retrieval still find it.",
  summarised: "Covered by the session's summary.",
  offloaded: "Offloaded: the window has a preview, and the artifact has the whole.",
};

export function roleOf(message) {
  return words(message.role, "ROLE_");
}

/** The states of a message as badges. */
export function States({ states }) {
  return states.map((state) => html`<span class="badge ${state}">${state}</span>${" "}`);
}

export function MessageDetail({ row, rows, conversation, place, go, caller }) {
  const { message, states } = row;
  const close = () => go({ message: "" });
  useEffect(() => {
    const onKeyDown = (event) => event.key === "Escape" && !document.querySelector("dialog[open]") && close();
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  const artifact = conversation.artifacts.get(message.id);
  return html`
    <article class="detail" aria-label="Message">
      <header>
        <h1><span class="role ${roleOf(message)}">${roleOf(message)}</span> #${number(message.sequence)}</h1>
        <button type="button" onClick=${close}>Back (Esc)</button>
      </header>
      <p class="figures">
        <span><b>${number(message.tokens)}</b> tokens</span> <span><${Time} value=${message.createTime} /></span>
        ${message.evaluationScore !== undefined && html`<span>score <b>${message.evaluationScore}</b> of 10</span>`}
        <span class="id"><${Excerpt} text=${message.id} length=${80} /></span>
      </p>
      ${states.map((state) => html`<p class="state"><${States} states=${[state]} />${EXPLANATIONS[state]}</p>`)}
      ${message.content && html`<${Text} text=${message.content} label="Content" />`}
      ${message.reasoning && html`<details><summary>Reasoning</summary><${Text} text=${message.reasoning} /></details>`}
      <${Exchange} message=${message} rows=${rows} go=${go} />
      ${artifact && html`
        <h2>Artifact, ${plural(artifact.tokens, "token")}</h2>
        <${Text} text=${artifact.content ?? ""} label="Artifact" />`}
      ${message.metadata && html`
        <details><summary>Metadata</summary><${Text} text=${JSON.stringify(message.metadata, null, 2)} /></details>`}
      <div class="actions">
        <button type="button" class="primary" onClick=${() => go({ view: "laboratory" })}>
          Is it in the context?
        </button>
        ${caller.mayErase && html`
          <${ErasureButton} title="Forget this message" method="ForgetMessage" onErased=${close}
            request=${{ sessionId: place.session, userId: place.user, messageId: message.id }} />`}
      </div>
    </article>`;
}

/** The calls of an assistant message with their results, or the call that a result belongs to. */
function Exchange({ message, rows, go }) {
  const at = rows.findIndex((row) => row.message === message);
  if (message.toolCalls?.length) {
    return message.toolCalls.map((call) => {
      const result = resultOf(call, rows, at);
      return html`
        <h2>Call of <${Excerpt} text=${call.name} length=${100} /></h2>
        <${Text} text=${call.argumentsJson ?? ""} label="Arguments" />
        ${result ? html`<${Jump} target=${result} go=${go} name="result" />` : html`<p>No result yet.</p>`}`;
    });
  }
  const caller = message.toolCallId ? callerOf(message, rows, at) : null;
  return caller && html`<${Jump} target=${caller} go=${go} name="call" />`;
}

function Jump({ target, go, name }) {
  return html`<p><button type="button" class="link" onClick=${() => go({ message: target.key })}>
    Go to its ${name}, #${number(target.message.sequence)}</button></p>`;
}

/** Providers reuse ids: a result belongs to the nearest earlier call with its id. */
function resultOf(call, rows, at) {
  for (const row of rows.slice(at + 1)) {
    if (row.message.toolCallId === call.id) return row;
    if (row.message.toolCalls?.some((later) => later.id === call.id)) return null;
  }
  return null;
}

function callerOf(message, rows, at) {
  const isCaller = (row) => row.message.toolCalls?.some((call) => call.id === message.toolCallId);
  return rows.slice(0, at).reverse().find(isCaller) ?? null;
}
