// Events of the namespace as Watch delivers them, with reconnection from the last cursor.

import { useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { stream } from "./rpc.js";

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 15_000;
// Events that arrive together are delivered together, so that a bulk load causes a few reads and not thousands.
const GATHER_MS = 250;
const HEARTBEAT = "EVENT_KIND_HEARTBEAT";
const RECONNECTED = "reconnected";
const reconnections = new EventTarget();
// A stream that is refused for these reasons stays refused.
const FINAL_CODES = new Set(["unauthenticated", "permission_denied", "unimplemented", "invalid_argument"]);

/** One Watch stream for all views. Listeners get lists of events. */
export class LiveEvents {
  #listeners = new Set();
  #stateListeners = new Set();
  #gathered = [];
  #timer = 0;
  #abort = new AbortController();
  #cursor = "";

  state = "connecting";

  start() {
    this.#run(this.#abort.signal);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#abort.abort();
  }

  subscribe(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  subscribeToState(listener) {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  async #run(signal) {
    let delay = FIRST_DELAY_MS;
    while (!signal.aborted) {
      try {
        for await (const event of stream("Watch", this.#cursor ? { cursor: this.#cursor } : {}, signal)) {
          delay = FIRST_DELAY_MS;
          this.#receive(event);
        }
      } catch (error) {
        if (signal.aborted || this.#isFinal(error)) return;
      }
      this.#setState("waiting");
      // A second console or a restarted sidecar must not be met by all at the same moment.
      await new Promise((resolve) => setTimeout(resolve, delay * (0.5 + Math.random())));
      delay = Math.min(2 * delay, MAX_DELAY_MS);
    }
  }

  #isFinal(error) {
    if (error.code === "invalid_argument" && this.#cursor) {
      this.#cursor = ""; // a cursor of another data directory: begin anew
      return false;
    }
    if (!FINAL_CODES.has(error.code)) return false;
    this.#setState("off");
    return true;
  }

  #receive(event) {
    const isBack = this.state === "waiting";
    this.#setState("live");
    if (isBack) reconnections.dispatchEvent(new Event(RECONNECTED));
    this.#cursor = event.cursor ?? this.#cursor;
    if (event.kind === HEARTBEAT) return;
    this.#gathered.push(event);
    this.#timer ||= setTimeout(() => this.#deliver(), GATHER_MS);
  }

  #deliver() {
    const events = this.#gathered;
    this.#gathered = [];
    this.#timer = 0;
    for (const listener of this.#listeners) listener(events);
  }

  #setState(state) {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.#stateListeners) listener(state);
  }
}

/** Call `read` when the sidecar answers again: what was read meanwhile may have failed. */
export function useReconnection(read) {
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => {
    const onReconnected = () => latest.current();
    reconnections.addEventListener(RECONNECTED, onReconnected);
    return () => reconnections.removeEventListener(RECONNECTED, onReconnected);
  }, []);
}

/** Call `listener` with events while the component is shown. */
export function useEvents(live, listener, dependencies) {
  useEffect(() => live.subscribe(listener), dependencies);
}

/** Return "connecting", "live", "waiting" (for the next attempt) or "off". */
export function useLiveState(live) {
  const [state, setState] = useState(live.state);
  useEffect(() => live.subscribeToState(setState), [live]);
  return state;
}
