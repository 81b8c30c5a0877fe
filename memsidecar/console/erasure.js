// Erasure of a message, a session or a user: first a dry run that counts, then a confirmation, then the erasure.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { call } from "./rpc.js";
import { plural } from "./text.js";
import { Notice, useId } from "./widgets.js";

const COUNTS = [
  ["sessions", "session"], ["messages", "message"], ["facts", "fact"], ["summaries", "summary", "summaries"],
  ["artifacts", "artifact"], ["documents", "document"], ["indexRows", "row of the index", "rows of the index"],
];

/** A button, offered to callers who may erase, with the dialog behind it. */
export function ErasureButton({ title, method, request, onErased }) {
  const [isOpen, setOpen] = useState(false);
  return html`
    <button type="button" class="danger" onClick=${() => setOpen(true)}>${title}…</button>
    ${isOpen && html`
      <${ErasureDialog} title=${title} method=${method} request=${request} onErased=${onErased}
        onClose=${() => setOpen(false)} />`}`;
}

function ErasureDialog({ title, method, request, onErased, onClose }) {
  const dialog = useRef(null);
  const id = useId("erasure");
  const [receipt, setReceipt] = useState(null);
  const [error, setError] = useState(undefined);
  const [isErasing, setErasing] = useState(false);
  useEffect(() => {
    dialog.current.showModal();
    const abort = new AbortController();
    call(method, { ...request, dryRun: true }, abort.signal).then(
      (response) => setReceipt(response.receipt ?? {}),
      (failure) => failure.name !== "AbortError" && setError(failure),
    );
    return () => abort.abort();
  }, []);
  const erase = async () => {
    setErasing(true);
    try {
      await call(method, request);
      onClose();
      onErased();
    } catch (failure) {
      setError(failure);
      setErasing(false);
    }
  };
  return html`
    <dialog ref=${dialog} aria-labelledby=${id} onClose=${onClose}>
      <h2 id=${id}>${title}?</h2>
      ${error && html`<${Notice} error=${error} />`}
      ${!receipt && !error && html`<${Notice}>Counting…<//>`}
      ${receipt && html`
        <p>This erases from every layer and every file, and cannot be undone:</p>
        <ul>${counted(receipt).map((line) => html`<li>${line}</li>`)}</ul>`}
      <div class="actions">
        <button type="button" onClick=${onClose} autofocus>Cancel</button>
        ${receipt && html`
          <button type="button" class="danger" disabled=${isErasing} onClick=${erase}>
            ${isErasing ? "Erasing…" : "Erase for good"}
          </button>`}
      </div>
    </dialog>`;
}

function counted(receipt) {
  const lines = COUNTS.filter(([field]) => receipt[field] > 0).map(([field, ...noun]) => plural(receipt[field], ...noun));
  return lines.length ? lines : ["nothing: there is nothing left"];
}
