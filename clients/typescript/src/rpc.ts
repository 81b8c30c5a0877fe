import type { DescMethod } from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { identify } from "./ids.js";
import { messageAbout, messageOf, plainOf } from "./plain.js";

/** One RPC: its path, and the way between plain values and bytes. */
export interface Rpc<Request, Answer> {
    readonly path: string;
    encode(request: Request): Buffer;
    decode(bytes: Uint8Array): Answer;
}

/** With `thing`, the request takes the fields of the one thing that it is about. */
export function rpc<Request extends object, Answer extends object>(
    method: DescMethod,
    thing?: string,
): Rpc<Request, Answer> {
    const { input, output } = method;
    return {
        path: `/${method.parent.typeName}/${method.name}`,
        encode(request) {
            const message = thing ? messageAbout(input, thing, request) : messageOf(input, request);
            identify(message);
            const bytes = toBinary(input, message);
            return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        },
        decode(bytes) {
            return plainOf(output, fromBinary(output, bytes)) as Answer;
        },
    };
}
