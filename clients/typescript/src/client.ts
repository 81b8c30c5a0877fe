import { type CallOptions, Calls } from "./calls.js";
import { CONNECTION_CHECKS, type ConnectionOptions, connectionOf } from "./connection.js";
import { Methods } from "./gen/methods.js";
import { type Checks, checkOptions, isNumber } from "./options.js";
import { ATTEMPTS, checkClientDeadline } from "./retry.js";

const DEADLINE_MS = 10_000;

/** Settings of a client: connection, deadline and attempts. */
export interface ClientOptions extends ConnectionOptions {
    /**
     * How long a call may take, retries included, unless it says otherwise: 10 seconds by default. More than 0, else it
     * is a RangeError. Infinity: no limit but the sidecar's. Streams have none.
     */
    deadlineMs?: number | undefined;
    /** Maximum number of attempts of a call: 4 by default. 1: no retries. */
    attempts?: number | undefined;
}

const CHECKS: Checks<ClientOptions> = { ...CONNECTION_CHECKS, deadlineMs: checkClientDeadline, attempts: isNumber };

/**
 * A sidecar. One is enough for a process: any number of calls may be under way at once. It connects with the first call,
 * and keeps no process alive while none is under way.
 *
 * ```js
 * const memory = new Client();
 * await memory.add({ userId: "ana", sessionId: "s1", role: "user", content: "I moved to Lisbon." });
 * const context = await memory.buildContext({ userId: "ana", sessionId: "s1", query: "Where do I live?" });
 * memory.close();
 * ```
 */
export class Client extends Methods implements Disposable, AsyncDisposable {
    readonly #calls: Calls;

    /**
     * Throws TypeError for an option that there is not, and where they do not go together; RangeError for what is no
     * deadline; and Node's own error where a file cannot be read.
     */
    constructor(options: ClientOptions = {}) {
        checkOptions(options, CHECKS);
        const { deadlineMs = DEADLINE_MS, attempts = ATTEMPTS } = options;
        if (!(attempts >= 1)) throw new TypeError(`attempts is ${attempts}, and must be 1 or more`);
        const calls = new Calls(connectionOf(options), deadlineMs, attempts);
        super(calls);
        this.#calls = calls;
    }

    /** Waits until the sidecar is serving. Fails with DeadlineExceeded if it is not in time. */
    waitUntilReady(options?: CallOptions): Promise<void> {
        return this.#calls.waitUntilReady(options);
    }

    /** Closes the connection; running calls fail with Closed. Idempotent. */
    close(): void {
        this.#calls.close();
    }

    [Symbol.dispose](): void {
        this.close();
    }

    async [Symbol.asyncDispose](): Promise<void> {
        this.close();
    }
}
