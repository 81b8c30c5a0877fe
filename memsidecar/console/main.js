// The shell of the console: access, the chosen place, the list of sessions beside the views, the keyboard.

import { html, render, useEffect, useLayoutEffect, useMemo } from "./vendor/htm-preact.js";
import { LiveEvents, useLiveState } from "./live.js";
import { Laboratory } from "./laboratory.js";
import { Facts } from "./facts.js";
import { Documents, Patterns } from "./knowledge.js";
import { TITLES, VIEWS, clearPlace, usePlace, useTheme } from "./place.js";
import { credentials } from "./rpc.js";
import { Sessions } from "./sessions.js";
import { SignIn, useCaller } from "./sign_in.js";
import { Excerpt } from "./text.js";
import { Timeline } from "./timeline.js";
import { Usage } from "./usage.js";
import { Notice } from "./widgets.js";

const COMPONENTS = {
  sessions: Timeline,
  conversation: Timeline,
  laboratory: Laboratory,
  facts: Facts,
  patterns: Patterns,
  documents: Documents,
  usage: Usage,
};
const LIVE_TEXTS = {
  connecting: "connecting…",
  live: "live",
  waiting: "not connected, trying again…",
  off: "no live updates",
};

function App() {
  const { caller, check, leave } = useCaller();
  if (caller.state === "checking") return html`<main class="sign-in"><${Notice}>Connecting…<//></main>`;
  if (caller.state !== "accepted") return html`<${SignIn} error=${caller.error} onSubmit=${check} />`;
  const forget = () => {
    clearPlace();
    leave();
  };
  return html`<${Console} caller=${caller} leave=${forget} />`;
}

function Console({ caller, leave }) {
  const [place, go] = usePlace();
  const live = useMemo(() => new LiveEvents(), []);
  useEffect(() => {
    live.start();
    return () => live.stop();
  }, [live]);
  useSearchKey();
  useLayoutEffect(() => {
    document.title = `${TITLES[place.view]} – memsidecar`;
  }, [place.view]);
  const View = COMPONENTS[place.view];
  return html`
    <${Bar} place=${place} go=${go} live=${live} caller=${caller} leave=${leave} />
    <div class="body at-${place.view}">
      <${Sessions} live=${live} place=${place} go=${go} />
      <main id="view" tabindex="-1" key=${place.view === "sessions" ? "conversation" : place.view}>
        <${View} live=${live} place=${place} go=${go} caller=${caller} />
      </main>
    </div>`;
}

function Bar({ place, go, live, caller, leave }) {
  const [theme, nextTheme] = useTheme();
  const state = useLiveState(live);
  const open = (event, view) => {
    event.preventDefault();
    go({ view });
  };
  return html`
    <header class="bar">
      <a class="skip" href="#view" onClick=${focusView}>Skip to the content</a>
      <span class="brand">memsidecar</span>
      <nav aria-label="Views">
        ${VIEWS.map((view) => html`
          <a href="#/${view}" class="to-${view}" aria-current=${isCurrent(view, place.view) ? "page" : undefined}
            onClick=${(event) => open(event, view)}>${TITLES[view]}</a>`)}
      </nav>
      <span class="bar-end">
        <span class="live ${state}" role="status">${LIVE_TEXTS[state]}</span>
        <span class="namespace">
          <${Excerpt} text=${credentials.namespace() || "default"} length=${30} />
          ${!caller.mayErase && " · read only"}
        </span>
        <button type="button" onClick=${nextTheme} aria-label="Theme: ${theme}">◐</button>
        <button type="button" onClick=${leave}>Leave</button>
      </span>
    </header>`;
}

/** "sessions" is a view of its own on a narrow screen only; on a wide one the conversation is beside the list. */
function isCurrent(view, current) {
  return view === current || (view === "conversation" && current === "sessions" && innerWidth > 800);
}

function focusView(event) {
  event.preventDefault();
  document.getElementById("view").focus();
}

/** "/" moves the focus to the search field, Esc leaves a field. */
function useSearchKey() {
  useEffect(() => {
    const onKeyDown = (event) => {
      const isField = event.target.matches?.("input, textarea, select");
      if (event.key === "Escape" && isField) event.target.blur();
      if (event.key !== "/" || isField || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      document.querySelector("[data-search]")?.focus();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
