// The retry policy.

import { Closed, JournalUnavailable, type MemsidecarError, type StatusCode } from "./errors.js";
import { kindOf } from "./plain.js";

/** The default maximum number of attempts. */
export const ATTEMPTS = 4;

// Waits between attempts, each with a jitter of 20 %: a sidecar restarts within their sum. Further attempts use the last one.
const WAITS_MS = [400, 1_200, 3_600] as const;
const JITTER = 0.2;
// Thirty years. gRPC cannot encode much more and would end the process.
const MAX_WAIT_MS = 1e12;

// Status codes of a broken transport, if they come without a reason of the sidecar.
const BROKEN = new Set<StatusCode>(["INTERNAL", "UNKNOWN", "CANCELLED"]);

/** Applies the retry policy to one call: the deadline of each attempt and the wait before the next. */
export class Attempts {
    readonly #maxAttempts: number;
    readonly #end: number;
    readonly #repeatable: boolean;
    #made = 0;

    /** A call that is not `repeatable` has no idempotency key. Throws for an invalid deadline. */
    constructor(maxAttempts: number, deadlineMs: number, repeatable = true) {
        this.#maxAttempts = maxAttempts;
        this.#end = performance.now() + finite(deadlineMs);
        this.#repeatable = repeatable;
    }

    /** The deadline of an attempt that starts now, in wall-clock time as gRPC needs it. */
    begin(): number {
        this.#made += 1;
        return Date.now() + Math.max(0, this.#remainingMs());
    }

    /** Reset the attempts: after a response, a further failure is a new one. */
    progressed(): void {
        this.#made = 1;
    }

    /** Returns the milliseconds to wait before the next attempt. Throws the error if there is no further attempt. */
    waitAfter(error: MemsidecarError): number {
        const wait = this.#waitMs(error);
        if (!this.#worthAnother(error) || this.#made >= this.#maxAttempts || wait >= this.#remainingMs()) throw error;
        return wait;
    }

    #remainingMs(): number {
        return this.#end - performance.now();
    }

    /** Returns the delay of RetryInfo plus jitter, or the exponential backoff. */
    #waitMs(error: MemsidecarError): number {
        if (error.retryAfterMs !== undefined) return error.retryAfterMs * between(1, 1 + JITTER);
        return (WAITS_MS[this.#made - 1] ?? WAITS_MS[2]) * between(1 - JITTER, 1 + JITTER);
    }

    /**
     * Returns whether a retry can succeed. Messages have ids, so none is stored twice. A call that is not
     * repeatable is retried only if the sidecar rejected it.
     */
    #worthAnother(error: MemsidecarError): boolean {
        if (error instanceof Closed) return false;
        if (!this.#repeatable && (error.reason === "" || error instanceof JournalUnavailable)) return false;
        return error.code === "UNAVAILABLE" || (error.reason === "" && BROKEN.has(error.code));
    }
}

/** Checks the deadline of a client, which must be positive. Throws RangeError. */
export function checkClientDeadline(deadlineMs: unknown): void {
    if (!(typeof deadlineMs === "number" && deadlineMs > 0)) throw noDeadline(deadlineMs, "more than 0");
}

/** Checks the deadline of one call, which may be 0 or less. Throws RangeError for an invalid deadline. */
export function checkDeadline(deadlineMs: unknown): void {
    if (!(typeof deadlineMs === "number" && deadlineMs >= 0)) throw noDeadline(deadlineMs, "0 or more");
}

function noDeadline(deadlineMs: unknown, must: string): RangeError {
    const found = typeof deadlineMs === "number" ? deadlineMs : kindOf(deadlineMs);
    return new RangeError(`deadlineMs is ${found}, and must be ${must} (milliseconds; Infinity for no limit)`);
}

/** A wait longer than any timer is no deadline. */
function finite(deadlineMs: number): number {
    checkDeadline(deadlineMs);
    return deadlineMs > MAX_WAIT_MS ? Number.POSITIVE_INFINITY : deadlineMs;
}

function between(min: number, max: number): number {
    return min + Math.random() * (max - min);
}
