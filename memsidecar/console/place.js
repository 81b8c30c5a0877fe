// What is shown: the view in the fragment of the URL, the chosen user, session and message in the state of the history
// entry. A URL contains neither ids nor content, and the back button works.

import { useCallback, useEffect, useLayoutEffect, useState } from "./vendor/htm-preact.js";

export const VIEWS = ["sessions", "conversation", "laboratory", "facts", "patterns", "documents", "usage"];
export const TITLES = {
  sessions: "Sessions",
  conversation: "Conversation",
  laboratory: "Context laboratory",
  facts: "Facts",
  patterns: "Patterns",
  documents: "Documents",
  usage: "Usage",
};
const NOTHING_CHOSEN = { user: "", session: "", message: "" };
const THEME_KEY = "memsidecar.theme";
const THEMES = ["system", "light", "dark"];

function viewOfUrl() {
  const name = location.hash.replace(/^#\//, "");
  return VIEWS.includes(name) ? name : "sessions";
}

function currentPlace(previous = NOTHING_CHOSEN) {
  const { user, session, message } = { ...previous, ...history.state };
  return { user, session, message, view: viewOfUrl() };
}

/** Return the place and `go(change)`, which adds an entry to the history. */
export function usePlace() {
  const [place, setPlace] = useState(currentPlace);
  useEffect(() => {
    const follow = () => setPlace(currentPlace);
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);
  const go = useCallback((change) => {
    setPlace((previous) => {
      const next = { ...previous, ...change };
      if (isSame(previous, next)) return previous;
      const { view, ...chosen } = next;
      // The message within a conversation is not a step back of its own.
      const replaces = view === previous.view && chosen.session === previous.session;
      history[replaces ? "replaceState" : "pushState"](chosen, "", `#/${view}`);
      return next;
    });
  }, []);
  return [place, go];
}

function isSame(first, second) {
  return ["view", "user", "session", "message"].every((name) => first[name] === second[name]);
}

/** Forget what was chosen, in this history entry. */
export function clearPlace() {
  history.replaceState(NOTHING_CHOSEN, "", "#/sessions");
}

/**
 * Return the theme ("system", "light" or "dark") and a function that switches to the next one. Nothing is painted in
 * the previous theme once the name of the next one is shown.
 */
export function useTheme() {
  const [theme, setTheme] = useState(() => localStorage.getItem(THEME_KEY) ?? "system");
  useLayoutEffect(() => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    localStorage.setItem(THEME_KEY, theme);
  }, [theme]);
  const next = () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]);
  return [theme, next];
}
