// Error details, which the sidecar sends in the trailing metadata.

import { fromBinary } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import { anyUnpack, durationMs } from "@bufbuild/protobuf/wkt";
import type { Metadata } from "@grpc/grpc-js";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema, StatusSchema } from "./gen/google/rpc/details_pb.js";

const KEY = "grpc-status-details-bin";
const DOMAIN = "memsidecar.dev";

/** Details of an error besides its code and message. */
export interface Details {
    readonly reason: string;
    readonly field: string;
    readonly metadata: Readonly<Record<string, string>>;
    readonly retryAfterMs: number | undefined;
}

/** Details of an error without details. */
export const NO_DETAILS: Details = { reason: "", field: "", metadata: {}, retryAfterMs: undefined };

/** Empty if there are none, or if an intermediary put something else there. */
export function detailsOf(trailing: Metadata): Details {
    const [packed] = trailing.get(KEY);
    if (!(packed instanceof Uint8Array)) return NO_DETAILS;
    try {
        return read(fromBinary(StatusSchema, packed).details);
    } catch {
        return NO_DETAILS;
    }
}

function read(packed: readonly Any[]): Details {
    const info = first(packed, (detail) => anyUnpack(detail, ErrorInfoSchema));
    if (info?.domain !== DOMAIN) return NO_DETAILS;
    const delay = first(packed, (detail) => anyUnpack(detail, RetryInfoSchema))?.retryDelay;
    return {
        reason: info.reason,
        field: first(packed, (detail) => anyUnpack(detail, BadRequestSchema))?.fieldViolations[0]?.field ?? "",
        metadata: info.metadata,
        retryAfterMs: delay && durationMs(delay),
    };
}

function first<Detail>(packed: readonly Any[], unpack: (detail: Any) => Detail | undefined): Detail | undefined {
    for (const detail of packed) {
        const found = unpack(detail);
        if (found !== undefined) return found;
    }
    return undefined;
}
