// One setting of the laboratory: the request that it stands for, and the context that the sidecar builds for it.

import { useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { call } from "./rpc.js";

// The order in a context. Of the others, three are counted and have no settings.
export const SECTIONS = [
  "SYSTEM", "PROFILE", "FACTS", "HINTS", "SUMMARY", "WORKING", "DOCUMENTS", "EPISODIC", "ARTIFACTS",
  "TOOL_SCHEMAS", "OUTPUT_RESERVE", "FRAMING",
];
export const SWITCHED_SECTIONS = SECTIONS.slice(0, 9);
export const SECTION_NAMES = {
  SYSTEM: "System prompt", PROFILE: "Profile", FACTS: "Facts", HINTS: "Style hints", SUMMARY: "Summary",
  WORKING: "Conversation", DOCUMENTS: "Documents", EPISODIC: "Said before", ARTIFACTS: "Tool results",
  TOOL_SCHEMAS: "Tool schemas", OUTPUT_RESERVE: "Output reserve", FRAMING: "Wrappers",
};
export const DEFAULT_SETTING = {
  maxTokens: 8_000, model: "", scope: "", contextFill: "", reserveOutputTokens: "", systemPrompt: "", profile: "",
  appendQuery: false, includeReasoning: false, disabled: [], limits: {},
};

/** "SECTION_WORKING" as "WORKING". */
export function sectionOf(receipt) {
  return receipt.section.replace("SECTION_", "");
}

/** Return the BuildContext request of a setting: a dry run, with the rejected items in the receipt. */
export function requestOf(place, query, setting) {
  const request = {
    sessionId: place.session, userId: place.user, query, debug: true, dryRun: true, maxTokens: setting.maxTokens,
    model: setting.model.trim(), systemPrompt: setting.systemPrompt, profile: setting.profile,
    appendQuery: setting.appendQuery && query !== "", includeReasoning: setting.includeReasoning,
    sections: SWITCHED_SECTIONS.map((name) => sectionBudget(name, setting)).filter(Boolean),
  };
  if (setting.scope) request.scope = setting.scope;
  if (setting.contextFill !== "") request.contextFill = Number(setting.contextFill);
  if (setting.reserveOutputTokens !== "") request.reserveOutputTokens = Number(setting.reserveOutputTokens);
  return request;
}

function sectionBudget(name, setting) {
  const isDisabled = setting.disabled.includes(name);
  const limit = setting.limits[name] ?? "";
  if (!isDisabled && limit === "") return null;
  const budget = { section: `SECTION_${name}`, disabled: isDisabled };
  if (limit !== "") budget.maxTokens = Number(limit);
  return budget;
}

/**
 * Return the newest context for the request, and whether a newer one is on its way. One call runs at a time. When it
 * has ended, the newest request follows; requests in between are dropped. So a moving slider shows contexts as fast as
 * the sidecar builds them, and no faster. A request for another session ends the call.
 */
export function useExperiment(request) {
  const [result, setResult] = useState({ context: null, error: undefined, isRunning: false, milliseconds: 0 });
  const queue = useRef({ next: null, isRunning: false, abort: null });
  const key = JSON.stringify(request);
  useEffect(() => {
    queue.current.abort?.abort();
    setResult((previous) => ({ ...previous, context: null, error: undefined }));
  }, [request.sessionId]);
  useEffect(() => {
    const { current } = queue;
    current.next = JSON.parse(key);
    if (!current.isRunning) run(current, setResult);
  }, [key]);
  useEffect(() => () => {
    queue.current.next = null;
    queue.current.abort?.abort();
  }, []);
  const again = () => {
    queue.current.next = JSON.parse(key);
    if (!queue.current.isRunning) run(queue.current, setResult);
  };
  return { ...result, again };
}

async function run(queue, setResult) {
  queue.isRunning = true;
  setResult((previous) => ({ ...previous, isRunning: true }));
  while (queue.next) {
    const request = queue.next;
    queue.next = null;
    queue.abort = new AbortController();
    const begin = performance.now();
    try {
      const context = await call("BuildContext", request, queue.abort.signal);
      setResult({ context, request, error: undefined, isRunning: true, milliseconds: performance.now() - begin });
    } catch (error) {
      if (error.name !== "AbortError") setResult({ context: null, error, isRunning: true, milliseconds: 0 });
    }
  }
  queue.isRunning = false;
  setResult((previous) => ({ ...previous, isRunning: false }));
}
