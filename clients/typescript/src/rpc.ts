import type { DescMessage, DescMethod, Message } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { MemsidecarError } from "./errors.js";
import { pathHere } from "./fields.js";
import { identify } from "./ids.js";
import { messageAbout, messageOf, plainOf } from "./plain.js";

// It has no id, and counts each time that it arrives. All others may arrive twice: what they write has an id, or is put
// or removed by name.
const COUNTED = "ReportUsage";

/** One RPC: its path, and the way between plain values and bytes. */
export interface Rpc<Request, Answer> {
    readonly path: string;
    /** Whether it may be retried when its arrival is unknown. */
    readonly repeatable: boolean;
    /** Throws TypeError and RangeError for what is no such request. */
    encode(request: Request): Buffer;
    /** Throws MemsidecarError for what is no answer, and RangeError for a number that cannot be held exactly. */
    decode(bytes: Uint8Array): Answer;
    /** The path of a field in the sidecar's words, as it is written in a request. */
    fieldHere(path: string): string;
}

/** With `thing`, the request takes the fields of the one thing that it is about. */
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

/** As gRPC tells it where it reads answers itself: INTERNAL. */
function parsed(schema: DescMessage, bytes: Uint8Array): Message {
    try {
        return fromBinary(schema, bytes);
    } catch (cause) {
        throw new MemsidecarError(`the answer is no ${schema.name}: ${cause}`, "INTERNAL", undefined, { cause });
    }
}
