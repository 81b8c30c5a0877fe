import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { MemsidecarError } from "./errors.js";
import { pathHere } from "./fields.js";
import { identify } from "./ids.js";
import { messageAbout, messageOf, plainOf } from "./plain.js";

// ReportUsage has no idempotency key and counts each time. All other calls may arrive twice: their writes have an id or
// a name.
const COUNTED = "ReportUsage";

/** One RPC: its path and its conversions between plain values and bytes. */
export interface Rpc<Request, Answer> {
    readonly path: string;
    /** Whether it may be retried when its arrival is unknown. */
    readonly repeatable: boolean;
    /** Throws TypeError and RangeError for an invalid request. */
    encode(request: Request): Buffer;
    /** Throws MemsidecarError for an invalid response, and RangeError for a number that cannot be held exactly. */
    decode(bytes: Uint8Array): Answer;
    /** Maps the path of a field from the contract to a plain request. */
    fieldHere(path: string): string;
}

/** With `thing`, the request has the fields of its item inline. */
export function rpc<Request extends object, Answer extends object>(
    method: DescMethod,
    thing?: string,
): Rpc<Request, Answer> {
    const { input, output } = method;
    return {
        path: `/${method.parent.typeName}/${method.name}`,
        repeatable: method.name !== COUNTED,
        encode(request) {
            const message = thing ? messageAbout(input, thing, request) : messageOf(input, request);
            identify(message);
            const bytes = toBinary(input, message);
            return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        },
        decode(bytes) {
            return plainOf(output, parsed(output, bytes)) as Answer;
        },
        fieldHere(path) {
            return pathHere(input, thing, path);
        },
    };
}

/** INTERNAL, as gRPC reports a response that it cannot decode. */
function parsed(schema: DescMessage, bytes: Uint8Array): Message {
    try {
        return fromBinary(schema, bytes);
    } catch (cause) {
        throw new MemsidecarError(`the answer is no ${schema.name}: ${cause}`, "INTERNAL", undefined, { cause });
    }
}
