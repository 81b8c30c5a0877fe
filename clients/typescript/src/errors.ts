// What can go wrong, as a tree: a class for each reason that the sidecar gives, and three that gRPC gives itself. Below
// MemsidecarError are all of them; a reason that this client does not know yet is a MemsidecarError.
//
// After an error with a reason, nothing of that attempt was stored; an earlier attempt whose answer was lost may have
// been. After one without a reason (Unreachable, DeadlineExceeded, Cancelled and the like) a write may have been stored.
// Of a stream, what was answered stays.

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

/** A call that was refused, or that nobody answered. Its message is for people, and may change. */
export class MemsidecarError extends Error {
    override readonly name: string = "MemsidecarError";
    /** gRPC's code. */
    readonly code: StatusCode;
    /** As in the contract's ErrorReason, without its prefix: "ID_CONFLICT". Empty for what gRPC says itself. */
    readonly reason: string;
    /** The path of the field that is wrong, as in "messages[3].toolCalls[0].name"; empty for other errors. */
    readonly field: string;
    /** What belongs to the reason: `last_sequence`, `required_tokens`, `quota`, `limit`, `file`. */
    readonly metadata: Readonly<Record<string, string>>;
    /** How long to wait before the call is worth another try; undefined where the sidecar did not say. */
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

/** A field of the request is wrong: `field`. */
export class InvalidField extends MemsidecarError {
    override readonly name: string = "InvalidField";
}

/** The call acts on something that is not there. */
export class NotFound extends MemsidecarError {
    override readonly name: string = "NotFound";
}

/** The message id is known with another body. */
export class IdConflict extends MemsidecarError {
    override readonly name: string = "IdConflict";
}

/** The session has moved on since `expectedSequence`. */
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

/** What must stay in the context does not fit. */
export class BudgetTooSmall extends MemsidecarError {
    override readonly name: string = "BudgetTooSmall";

    /** How many tokens would do: a call with exactly as many succeeds. */
    get requiredTokens(): number {
        return Number(this.metadata["required_tokens"] ?? 0);
    }
}

/** A message, a request, a batch, a document or an answer is. Do not send it again. Without a reason, gRPC found it so. */
export class TooLarge extends MemsidecarError {
    override readonly name: string = "TooLarge";
}

/** Too many calls: wait `retryAfterMs`. */
export class RateLimited extends MemsidecarError {
    override readonly name: string = "RateLimited";
}

/** No more may be kept: `quota` and `limit` in `metadata`. */
export class QuotaExceeded extends MemsidecarError {
    override readonly name: string = "QuotaExceeded";
}

/** There is no room. Reads go on. */
export class DiskFull extends MemsidecarError {
    override readonly name: string = "DiskFull";
}

/** No token, or one that is not good. */
export class Unauthenticated extends MemsidecarError {
    override readonly name: string = "Unauthenticated";
}

/** The token is not for this namespace or this call. */
export class PermissionDenied extends MemsidecarError {
    override readonly name: string = "PermissionDenied";
}

/** The sidecar is still opening its files. Was sent again already, as often as the policy says. */
export class Starting extends MemsidecarError {
    override readonly name: string = "Starting";
}

/** The sidecar is about to stop. Was sent again already, as often as the policy says. */
export class ShuttingDown extends MemsidecarError {
    override readonly name: string = "ShuttingDown";
}

/** What was asked needs the index. Was sent again already, as often as the policy says. */
export class IndexUnavailable extends MemsidecarError {
    override readonly name: string = "IndexUnavailable";
}

/** Too much is waiting already. Was sent again already, as often as the policy says. */
export class Overloaded extends MemsidecarError {
    override readonly name: string = "Overloaded";
}

/** What is stored cannot be read: `file` in `metadata`. */
export class DataCorrupted extends MemsidecarError {
    override readonly name: string = "DataCorrupted";
}

/** This version of the sidecar does not have it. */
export class NotImplemented extends MemsidecarError {
    override readonly name: string = "NotImplemented";
}

/** The sidecar's log says more. */
export class Internal extends MemsidecarError {
    override readonly name: string = "Internal";
}

/** Nothing answers at the address, or the connection broke. Was sent again already. A write may have been stored. */
export class Unreachable extends MemsidecarError {
    override readonly name: string = "Unreachable";
}

/** The time was over. A write may have been stored: send it again with the id that you gave. */
export class DeadlineExceeded extends MemsidecarError {
    override readonly name: string = "DeadlineExceeded";
}

/** The caller gave it up; `cause` is the signal's reason. A write may have been stored. */
export class Cancelled extends MemsidecarError {
    override readonly name: string = "Cancelled";
}

/** The client was closed, and its calls with it. */
export class Closed extends Cancelled {
    override readonly name: string = "Closed";

    /** @internal */
    constructor() {
        super("the client is closed", "CANCELLED");
    }
}
