// The one policy by which a call is sent again.

import { Closed, type MemsidecarError, type StatusCode } from "./errors.js";

/** How often a call is sent at most, unless the caller says otherwise. */
export const ATTEMPTS = 4;

// The waits are 0.4, 1.2 and 3.6 seconds, each a fifth more or less: a sidecar restarts within that.
const FIRST_MS = 400;
const FACTOR = 3;
const JITTER = 0.2;

// Codes that a transport which broke is told by, where no reason says that the sidecar gave them.
const BROKEN = new Set<StatusCode>(["INTERNAL", "UNKNOWN", "CANCELLED"]);

/** One call's way through the policy: until when each attempt may take, and how long to wait before the next. */
export class Attempts {
    readonly #most: number;
    readonly #end: number;
    #made = 0;

    constructor(most: number, deadlineMs: number) {
        this.#most = most;
        this.#end = performance.now() + deadlineMs;
    }

    /** When the attempt that begins now has to be over, as gRPC counts: by the clock on the wall. */
    begin(): number {
        this.#made += 1;
        return Date.now() + Math.max(0, this.#remainingMs());
    }

    /** Something was answered: whatever breaks now is another mishap, not the same again. */
    progressed(): void {
        this.#made = 1;
    }

    /** Milliseconds to wait before the next attempt. Throws the error where there shall be none. */
    waitAfter(error: MemsidecarError): number {
        const wait = this.#waitMs(error);
        if (!worthAnother(error) || this.#made >= this.#most || wait >= this.#remainingMs()) throw error;
        return wait;
    }

    #remainingMs(): number {
        return this.#end - performance.now();
    }

    /** As long as the sidecar said, and a little more; else longer each time. */
    #waitMs(error: MemsidecarError): number {
        if (error.retryAfterMs !== undefined) return error.retryAfterMs * between(1, 1 + JITTER);
        return FIRST_MS * FACTOR ** (this.#made - 1) * between(1 - JITTER, 1 + JITTER);
    }
}

function between(least: number, most: number): number {
    return least + Math.random() * (most - least);
}

/** Whether it was the moment or the way, and not the call. Writes carry ids, so none is stored twice. */
function worthAnother(error: MemsidecarError): boolean {
    if (error instanceof Closed) return false;
    return error.code === "UNAVAILABLE" || (error.reason === "" && BROKEN.has(error.code));
}
