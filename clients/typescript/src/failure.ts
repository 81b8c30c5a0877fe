// Converts errors of gRPC to errors of the client.

import { type ServiceError, status } from "@grpc/grpc-js";
import type { Connection } from "./connection.js";
import { type Details, detailsOf } from "./details.js";
import * as errors from "./errors.js";
import { MemsidecarError, type StatusCode } from "./errors.js";

type Kind = new (message: string, code: StatusCode, details: Details, options?: ErrorOptions) => MemsidecarError;

/** The error class of each reason. */
export const BY_REASON: ReadonlyMap<string, Kind> = new Map(
    Object.entries({
        INVALID_FIELD: errors.InvalidField,
        NOT_FOUND: errors.NotFound,
        ID_CONFLICT: errors.IdConflict,
        SEQUENCE_MISMATCH: errors.SequenceMismatch,
        SESSION_OWNER_MISMATCH: errors.SessionOwnerMismatch,
        BUDGET_TOO_SMALL: errors.BudgetTooSmall,
        TOO_LARGE: errors.TooLarge,
        RATE_LIMITED: errors.RateLimited,
        QUOTA_EXCEEDED: errors.QuotaExceeded,
        DISK_FULL: errors.DiskFull,
        SLOW_READER: errors.SlowReader,
        UNAUTHENTICATED: errors.Unauthenticated,
        PERMISSION_DENIED: errors.PermissionDenied,
        STARTING: errors.Starting,
        SHUTTING_DOWN: errors.ShuttingDown,
        INDEX_UNAVAILABLE: errors.IndexUnavailable,
        OVERLOADED: errors.Overloaded,
        JOURNAL_UNAVAILABLE: errors.JournalUnavailable,
        DATA_CORRUPTED: errors.DataCorrupted,
        NOT_IMPLEMENTED: errors.NotImplemented,
        INTERNAL: errors.Internal,
    }),
);

const BY_CODE: { readonly [code in StatusCode]?: Kind } = {
    UNAVAILABLE: errors.Unreachable,
    DEADLINE_EXCEEDED: errors.DeadlineExceeded,
    CANCELLED: errors.Cancelled,
    // gRPC's own limit on the size of a message.
    RESOURCE_EXHAUSTED: errors.TooLarge,
};

/** Converts an error of gRPC. `fieldHere` maps a field to its TypeScript name. */
export function failure(
    error: ServiceError,
    connection: Connection,
    fieldHere: (path: string) => string,
): MemsidecarError {
    const code = (status[error.code] ?? "UNKNOWN") as StatusCode;
    const said = detailsOf(error.metadata);
    const details = { ...said, field: fieldHere(said.field) };
    const isUnreachable = code === "UNAVAILABLE" && details.reason === "";
    return errorOf(code, isUnreachable ? unreachable(error.details, connection) : error.details, details, {
        cause: error,
    });
}

/** Returns the error for a reason, or for the code if there is no reason. */
function errorOf(code: StatusCode, message: string, details: Details, options: ErrorOptions): MemsidecarError {
    const kind = details.reason ? BY_REASON.get(details.reason) : BY_CODE[code];
    return new (kind ?? MemsidecarError)(message, code, details, options);
}

const NO_CONNECTION = /^No connection established\. Last error: (?:Error: )?(.*?)\s*\.? Resolution note:/s;
const TIME = / \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/;

/** The message for an unreachable server, with a hint at the cause. */
function unreachable(said: string, { address, tls }: Connection): string {
    const why = NO_CONNECTION.exec(said)?.[1]?.replace(TIME, "");
    return `${address} cannot be reached: ${why === undefined ? said : why + hint(why, tls)}`;
}

/** A hint for a connection where only one side speaks TLS. */
function hint(why: string, tls: boolean): string {
    if (tls && why.includes("wrong version number")) return " (the client speaks TLS; the sidecar does not seem to)";
    const dropped = /^(Failed to connect|Protocol error|.*ECONNRESET)/.test(why);
    return !tls && dropped ? " (the client speaks no TLS; the sidecar may want it)" : "";
}
