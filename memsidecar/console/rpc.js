// Calls of the sidecar in the Connect protocol: unary as JSON, streams as enveloped JSON. The token and the namespace
// are kept for the lifetime of the tab, and sent in headers and bodies, never in a URL.

const TOKEN_KEY = "memsidecar.token";
const NAMESPACE_KEY = "memsidecar.namespace";
const END_OF_STREAM = 2;
const ENVELOPE_BYTES = 5;

const METHODS = {
  MemoryService: ["GetAll", "GetRecent", "Search", "Count", "BuildContext"],
  SessionService: [
    "ListSessions", "GetSession", "ListUsers", "GetUsage", "DeleteSession", "ForgetMessage", "ForgetUser", "Watch",
  ],
  KnowledgeService: ["ListFacts", "ListArtifacts", "ListDocuments", "SearchDocuments", "GetSummary", "GetPatterns"],
};
const SERVICE_OF = new Map(
  Object.entries(METHODS).flatMap(([service, methods]) => methods.map((method) => [method, service])),
);

/** The error of a call: the code of Connect, the reason and the metadata of the sidecar. */
export class RpcError extends Error {
  constructor(code, message, reason = "", metadata = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.metadata = metadata;
  }

  /** The call has no valid token. */
  get isUnauthenticated() {
    return this.code === "unauthenticated";
  }
}

export const credentials = {
  token: () => sessionStorage.getItem(TOKEN_KEY) ?? "",
  namespace: () => sessionStorage.getItem(NAMESPACE_KEY) ?? "",
  /** Keep both for the lifetime of the tab; an empty value removes it. */
  store(token, namespace) {
    for (const [key, value] of [[TOKEN_KEY, token], [NAMESPACE_KEY, namespace]]) {
      if (value) sessionStorage.setItem(key, value);
      else sessionStorage.removeItem(key);
    }
  },
};

function post(method, contentType, body, signal) {
  const headers = { "content-type": contentType, "connect-protocol-version": "1" };
  if (credentials.token()) headers.authorization = `Bearer ${credentials.token()}`;
  // No referrer, no cookie, no cache: the request is what is given here.
  return fetch(`memsidecar.v1.${SERVICE_OF.get(method)}/${method}`, {
    method: "POST", headers, body, signal, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
  }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new RpcError("unavailable", "The sidecar does not answer. Is it running?");
  });
}

/** Call a unary RPC and return its response. The namespace is added to the request. */
export async function call(method, request = {}, signal = undefined) {
  const body = JSON.stringify({ namespace: credentials.namespace(), ...request });
  const response = await post(method, "application/json", body, signal);
  const text = await response.text();
  if (!response.ok) throw errorOf(response.status, text);
  return JSON.parse(text);
}

/** Call an RPC that streams responses, and yield them. Ends when the sidecar ends the stream. */
export async function* stream(method, request, signal) {
  const message = new TextEncoder().encode(JSON.stringify({ namespace: credentials.namespace(), ...request }));
  const envelope = new Uint8Array(ENVELOPE_BYTES + message.length);
  new DataView(envelope.buffer).setUint32(1, message.length);
  envelope.set(message, ENVELOPE_BYTES);
  const response = await post(method, "application/connect+json", envelope, signal);
  if (!response.ok) throw errorOf(response.status, await response.text());
  for await (const { flags, payload } of envelopes(response.body.getReader())) {
    const value = JSON.parse(new TextDecoder().decode(payload) || "{}");
    if (!(flags & END_OF_STREAM)) yield value;
    else if (value.error) throw connectError(value.error);
  }
}

async function* envelopes(reader) {
  let unread = new Uint8Array(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    unread = joined(unread, value);
    while (unread.length >= ENVELOPE_BYTES) {
      const length = new DataView(unread.buffer, unread.byteOffset).getUint32(1);
      if (unread.length < ENVELOPE_BYTES + length) break;
      yield { flags: unread[0], payload: unread.subarray(ENVELOPE_BYTES, ENVELOPE_BYTES + length) };
      unread = unread.subarray(ENVELOPE_BYTES + length);
    }
  }
}

function joined(first, second) {
  if (!first.length) return second;
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function errorOf(status, text) {
  try {
    return connectError(JSON.parse(text));
  } catch {
    return new RpcError("unknown", text.trim().slice(0, 300) || `The sidecar answered with status ${status}.`);
  }
}

function connectError(error) {
  const info = (error.details ?? []).map((detail) => detail.debug).find((debug) => debug?.reason);
  return new RpcError(error.code ?? "unknown", error.message ?? error.code, info?.reason, info?.metadata);
}

/**
 * Return whether the token may erase. ForgetUser without a user is refused in any case: the check of the role comes
 * first, so the error tells the role and nothing can be erased.
 */
export async function mayErase() {
  try {
    await call("ForgetUser", { dryRun: true });
  } catch (error) {
    if (error.code === "invalid_argument") return true;
    if (error.code !== "permission_denied") throw error;
  }
  return false;
}
