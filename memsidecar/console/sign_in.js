// The form for a token and a namespace. Shown when the sidecar refuses a call without a valid token, and on request.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { call, credentials, mayErase } from "./rpc.js";
import { Entry, Notice } from "./widgets.js";

/** Return the state of access ("checking", "accepted", "refused" or "left") with the functions that change it. */
export function useCaller() {
  const [caller, setCaller] = useState({ state: "checking", error: undefined, mayErase: false });
  const check = async () => {
    setCaller({ state: "checking", error: undefined, mayErase: false });
    try {
      await call("ListSessions", { pageSize: 1 });
      setCaller({ state: "accepted", error: undefined, mayErase: await mayErase() });
    } catch (error) {
      setCaller({ state: "refused", error, mayErase: false });
    }
  };
  useEffect(() => {
    check();
  }, []);
  const leave = () => {
    credentials.store("", "");
    setCaller({ state: "left", error: undefined, mayErase: false });
  };
  return { caller, check, leave };
}

/** The form. A token is kept until the tab is closed, and sent to this sidecar only. */
export function SignIn({ error, onSubmit }) {
  const [token, setToken] = useState("");
  const [namespace, setNamespace] = useState(credentials.namespace());
  const submit = (event) => {
    event.preventDefault();
    credentials.store(token.trim(), namespace.trim());
    onSubmit();
  };
  return html`
    <main class="sign-in">
      <h1>memsidecar</h1>
      <form onSubmit=${submit}>
        <p>${introduction(error)}</p>
        ${error && !isFirst(error) && html`<${Notice} error=${new Error(refusal(error))} />`}
        <${Entry} label="Token" type="password" value=${token} onValue=${setToken} autofocus
          hint="Kept until this tab is closed. Empty: no token." />
        <${Entry} label="Namespace" value=${namespace} onValue=${setNamespace} placeholder="default"
          hint="Empty: default." />
        <button type="submit" class="primary">Open</button>
      </form>
    </main>`;
}

/** The sidecar wants a token, and none was given yet. */
function isFirst(error) {
  return error.isUnauthenticated && !credentials.token();
}

function introduction(error) {
  return error?.isUnauthenticated
    ? "This sidecar needs a token. A token with the role read shows everything and changes nothing."
    : "Choose the namespace to look at, and the token for it if the sidecar needs one.";
}

function refusal(error) {
  if (error.isUnauthenticated) return "The sidecar does not know this token, or it has expired.";
  if (error.code === "permission_denied") return "This token has no access to this namespace.";
  return error.message;
}
