// One conversation as it is read: the newest messages first, then everything page by page, oldest first, and what was
// pruned, summarised or offloaded.

import { useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { call } from "./rpc.js";
import { useEvents, useReconnection } from "./live.js";
import { useThrottled } from "./widgets.js";

const FIRST_MESSAGES = 60;
const PAGE_MESSAGES = 1_000;
// A conversation that is pruned often is not read again each time.
const READ_AGAIN_MS = 1_000;
// More messages than these are read on request: each one stays in the memory of the browser.
const MAX_UNASKED_MESSAGES = 20_000;
// Changes of these kinds can concern messages that were read already.
const REWRITING = new Set(["PRUNED", "CLEARED", "ANNOTATED", "FORGOTTEN"].map((kind) => `EVENT_KIND_${kind}`));

/** The messages of a session, by sequence, with the state of each. */
export class Conversation {
  #scope;
  #bySequence = new Map();
  #window = new Set();
  #publish;
  #signal;

  constructor(place, publish, signal) {
    this.#scope = { sessionId: place.session, userId: place.user };
    this.#publish = publish;
    this.#signal = signal;
    this.session = null;
    this.summary = null;
    this.artifacts = new Map();
    this.isWindowRead = false;
    this.isComplete = false;
    this.needsRequest = false;
    this.error = undefined;
  }

  /** Read everything, newest messages first. `all` also reads a conversation that is very long. */
  async read(all = false) {
    this.error = undefined;
    try {
      await Promise.all([this.#readNewest(), this.#readContext()]);
      this.#show();
      this.needsRequest = !all && this.total > MAX_UNASKED_MESSAGES;
      if (!this.needsRequest) await this.#readPages();
    } catch (error) {
      if (error.name !== "AbortError") this.error = error;
    }
    this.#show();
  }

  async #readNewest() {
    this.#merge((await this.#call("GetRecent", { n: FIRST_MESSAGES })).messages, true);
    this.#show();
  }

  /** Read what was added since. */
  async readNew() {
    this.error = undefined;
    try {
      const last = Math.max(0, ...this.#lastSequence());
      await this.#readContext();
      const added = Number(this.session?.stats?.lastSequence ?? 0) - last;
      if (added > 0) this.#merge((await this.#call("GetRecent", { n: Math.min(added, 10_000) })).messages, true);
    } catch (error) {
      if (error.name !== "AbortError") this.error = error;
    }
    this.#show();
  }

  get total() {
    const stats = this.session?.stats ?? {};
    return (stats.messageCount ?? 0) + (stats.prunedCount ?? 0);
  }

  /** Messages with their states, oldest first. */
  get rows() {
    const sorted = [...this.#bySequence.values()].sort((first, second) => first.sequence - second.sequence);
    return sorted.map((message) => ({ key: message.id, message, states: this.#states(message) }));
  }

  #states(message) {
    const states = [];
    const sequence = Number(message.sequence);
    if (this.isWindowRead && !this.#window.has(sequence)) states.push("pruned");
    if (this.summary && sequence >= this.summary.firstSequence && sequence <= this.summary.lastSequence) {
      states.push("summarised");
    }
    if (this.artifacts.has(message.id)) states.push("offloaded");
    return states;
  }

  #call(method, request = {}) {
    return call(method, { ...this.#scope, ...request }, this.#signal);
  }

  async #readContext() {
    const [found, summary, artifacts] = await Promise.all([
      this.#call("GetSession"), this.#call("GetSummary"), this.#call("ListArtifacts", { pageSize: PAGE_MESSAGES }),
    ]);
    this.session = found.session ?? null;
    this.summary = summary.summary ? withNumbers(summary.summary) : null;
    this.artifacts = new Map(
      (artifacts.artifacts ?? []).filter((each) => each.messageId).map((each) => [each.messageId, each]),
    );
  }

  async #readPages() {
    await this.#eachPage(false);
    this.isWindowRead = true;
    // What is stored and not in the window was pruned.
    if (this.session?.stats?.prunedCount) await this.#eachPage(true);
    this.isComplete = true;
  }

  async #eachPage(includePruned) {
    let pageToken = "";
    do {
      const page = await this.#call("GetAll", { pageSize: PAGE_MESSAGES, pageToken, includePruned });
      this.#merge(page.messages, !includePruned);
      this.#show();
      pageToken = page.nextPageToken ?? "";
    } while (pageToken);
  }

  #merge(messages, inWindow) {
    for (const message of messages ?? []) {
      const sequence = Number(message.sequence);
      this.#bySequence.set(sequence, message);
      if (inWindow) this.#window.add(sequence);
    }
  }

  #lastSequence() {
    const sequences = [...this.#bySequence.keys()];
    return sequences.length ? [sequences.reduce((first, second) => Math.max(first, second))] : [];
  }

  #show() {
    if (this.#signal.aborted) return;
    const { session, summary, artifacts, isComplete, needsRequest, error, total, rows } = this;
    this.#publish({ session, summary, artifacts, isComplete, needsRequest, error, total, rows });
  }
}

function withNumbers(summary) {
  return { ...summary, firstSequence: Number(summary.firstSequence), lastSequence: Number(summary.lastSequence) };
}

const NOTHING = { session: null, summary: null, artifacts: new Map(), rows: [], total: 0, isComplete: false };

/** Return the conversation of the place, current through events, and `readAll` for a very long one. */
export function useConversation(live, place) {
  const [shown, setShown] = useState(NOTHING);
  const [round, setRound] = useState(0);
  const current = useRef(null);
  const previous = useRef("");
  useEffect(() => {
    const isAgain = previous.current === place.session;
    previous.current = place.session;
    if (!isAgain) setShown(NOTHING);
    if (!place.session) return undefined;
    const abort = new AbortController();
    // Read again, it replaces what is shown when it is complete: the rows in sight stay in place.
    const publish = (state) => (!isAgain || state.isComplete || state.needsRequest || state.error) && setShown(state);
    current.current = new Conversation(place, publish, abort.signal);
    current.current.read();
    return () => abort.abort();
  }, [place.session, place.user, round]);
  const readAgain = useThrottled(() => setRound((count) => count + 1), READ_AGAIN_MS);
  useReconnection(readAgain);
  const reading = useRef(Promise.resolve());
  useEvents(live, (events) => {
    const own = events.filter((event) => event.sessionId === place.session || !event.sessionId);
    if (own.some((event) => REWRITING.has(event.kind))) readAgain();
    else if (own.length) reading.current = reading.current.then(() => current.current?.readNew());
  }, [live, place.session]);
  return { ...shown, readAll: () => current.current?.read(true) };
}
