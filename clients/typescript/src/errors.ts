// Errors, as a tree: a class for each reason that the sidecar gives, and three that gRPC gives itself. Below
// MemsidecarError are all of them; a reason that this client does not know yet is a MemsidecarError.
//
// After an error with a reason, that attempt stored nothing; an earlier attempt whose response was lost may have. After
// one without a reason (Unreachable, DeadlineExceeded, Cancelled and the like), and after JournalUnavailable, a write may
// have been stored.
// Acknowledged messages of a stream stay stored.

import { type Details, NO_DETAILS } from "./details.js";

/** gRPC's codes by name. */
export type StatusCode =
    | "CANCELLED"
    | "UNKNOWN"
    | "INVALID_ARGUMENT"
    | "DEADLINE_EXCEEDED"
    | "NOT_FOUND"
    | "ALREADY_EXISTS"
    | "PERMISSION_DENIED"
    | "RESOURCE_EXHAUSTED"
    | "FAILED_PRECONDITION"
    | "ABORTED"
    | "OUT_OF_RANGE"
    | "UNIMPLEMENTED"
    | "INTERNAL"
    | "UNAVAILABLE"
    | "DATA_LOSS"
    | "UNAUTHENTICATED";

/** Error of a call. Its message is for people and may change. */
export class MemsidecarError extends Error {
    override readonly name: string = "MemsidecarError";
    /** gRPC's code. */
    readonly code: StatusCode;
    /** As in the contract's ErrorReason, without its prefix: "ID_CONFLICT". Empty for errors of gRPC itself. */
    readonly reason: string;
    /** The path of the invalid field, as in "messages[3].toolCalls[0].name"; empty for other errors. */
    readonly field: string;
    /** Details of the reason: `last_sequence`, `required_tokens`, `item`, `quota`, `limit`, `file`. */
    readonly metadata: Readonly<Record<string, string>>;
    /** The delay of RetryInfo; undefined without one. */
    readonly retryAfterMs: number | undefined;

    /** @internal */
    constructor(message: string, code: StatusCode, details: Details = NO_DETAILS, options?: ErrorOptions) {
        super(message, options);
        this.code = code;
        this.reason = details.reason;
        this.field = details.field;
        this.metadata = details.metadata;
        this.retryAfterMs = details.retryAfterMs;
    }
}

/** A field of the request is invalid: `field`. */
export class InvalidField extends MemsidecarError {
    override readonly name: string = "InvalidField";
}

/** The call acts on an item that does not exist. */
export class NotFound extends MemsidecarError {
    override readonly name: string = "NotFound";
}

/** The message id exists with a different body. */
export class IdConflict extends MemsidecarError {
    override readonly name: string = "IdConflict";
}

/** The session's last sequence is not `expectedSequence`. */
export class SequenceMismatch extends MemsidecarError {
    override readonly name: string = "SequenceMismatch";

    /** The session's newest sequence. */
    get lastSequence(): number {
        return Number(this.metadata["last_sequence"] ?? 0);
    }
}

/** The session belongs to another user. */
export class SessionOwnerMismatch extends MemsidecarError {
    override readonly name: string = "SessionOwnerMismatch";
}

/** The mandatory parts of the context do not fit. */
export class BudgetTooSmall extends MemsidecarError {
    override readonly name: string = "BudgetTooSmall";

    /** The required budget: a call with exactly this many tokens succeeds. */
    get requiredTokens(): number {
        return Number(this.metadata["required_tokens"] ?? 0);
    }

    /** The largest mandatory part: "system_prompt", "newest user message", "pinned facts" and so on. */
    get item(): string {
        return this.metadata["item"] ?? "";
    }
}

/**
 * A message, request, batch, document or response is too large. A retry does not help. Without a reason, gRPC's own
 * limit applied.
 */
export class TooLarge extends MemsidecarError {
    override readonly name: string = "TooLarge";
}

/** Too many calls: wait `retryAfterMs`. */
export class RateLimited extends MemsidecarError {
    override readonly name: string = "RateLimited";
}

/** The namespace is at its quota: `quota` and `limit` in `metadata`. */
export class QuotaExceeded extends MemsidecarError {
    override readonly name: string = "QuotaExceeded";
}

/** The disk is full. Reads still work. */
export class DiskFull extends MemsidecarError {
    override readonly name: string = "DiskFull";
}

/** The caller does not read the events of `watch`. Watch again from `cursor` in `metadata`. */
export class SlowReader extends MemsidecarError {
    override readonly name: string = "SlowReader";
}

/** The token is missing, unknown or expired. */
export class Unauthenticated extends MemsidecarError {
    override readonly name: string = "Unauthenticated";
}

/** The token is not valid for this namespace or this call. */
export class PermissionDenied extends MemsidecarError {
    override readonly name: string = "PermissionDenied";
}

/** The sidecar is still opening its files. The client has retried the call as often as the retry policy allows. */
export class Starting extends MemsidecarError {
    override readonly name: string = "Starting";
}

/** The sidecar is about to stop. The client has retried the call as often as the retry policy allows. */
export class ShuttingDown extends MemsidecarError {
    override readonly name: string = "ShuttingDown";
}

/**
 * The request needs the index, which is not open. The client has retried the call as often as the retry policy allows.
 */
export class IndexUnavailable extends MemsidecarError {
    override readonly name: string = "IndexUnavailable";
}

/** Too many requests are queued in the sidecar. The client has retried the call as often as the retry policy allows. */
export class Overloaded extends MemsidecarError {
    override readonly name: string = "Overloaded";
}

/**
 * The database of the sidecar's journal does not answer. The client has retried the call as often as the retry policy
 * allows. A write may have been stored.
 */
export class JournalUnavailable extends MemsidecarError {
    override readonly name: string = "JournalUnavailable";
}

/** Stored data is corrupted: `file` in `metadata`. */
export class DataCorrupted extends MemsidecarError {
    override readonly name: string = "DataCorrupted";
}

/** This version of the sidecar does not implement the RPC. */
export class NotImplemented extends MemsidecarError {
    override readonly name: string = "NotImplemented";
}

/** A bug in the sidecar. The sidecar's log has the details. */
export class Internal extends MemsidecarError {
    override readonly name: string = "Internal";
}

/**
 * No server answers at the address, or the connection broke. The client has retried the call. A write may have been
 * stored.
 */
export class Unreachable extends MemsidecarError {
    override readonly name: string = "Unreachable";
}

/** The deadline passed. A write may have been stored: retry it with the same id. */
export class DeadlineExceeded extends MemsidecarError {
    override readonly name: string = "DeadlineExceeded";
}

/** The caller cancelled; `cause` is the signal's reason. A write may have been stored. */
export class Cancelled extends MemsidecarError {
    override readonly name: string = "Cancelled";
}

/** The client was closed, which cancels its calls. */
export class Closed extends Cancelled {
    override readonly name: string = "Closed";

    /** @internal */
    constructor() {
        super("the client is closed", "CANCELLED");
    }
}
