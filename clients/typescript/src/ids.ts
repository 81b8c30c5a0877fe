import { randomFillSync } from "node:crypto";
import type { Message as Proto } from "@bufbuild/protobuf";
import { isMessage } from "@bufbuild/protobuf";
import { PutArtifactRequestSchema } from "./gen/memsidecar/v1/knowledge_pb.js";
import {
    AddBatchRequestSchema,
    AddRequestSchema,
    AddStreamRequestSchema,
    StoreInteractionRequestSchema,
} from "./gen/memsidecar/v1/memory_pb.js";

// Chance is drawn for many ids at once: each draw costs more than an id.
const BYTES = 10;
const jitter = Buffer.alloc(BYTES * 256);
let used = jitter.length;

// Ids of one millisecond, and those after a clock that was set back, go on counting in the 26 bits behind the time. They
// begin anywhere in the lower half, so that there is always room, and an id tells nothing of how many there were.
const MAX_COUNT = 2 ** 26 - 1;
const BEGIN = 2 ** 25 - 1;
let time = 0;
let count = 0;

/** A UUIDv7: the time in milliseconds, a counter, then jitter; so those of one thread sort by when they were made. */
export function newId(): string {
    const rest = drawn();
    const now = Date.now();
    if (now <= time && count < MAX_COUNT) {
        count += 1;
    } else {
        time = Math.max(now, time + 1);
        count = rest.readUInt32BE(0) & BEGIN;
    }
    rest.writeUInt16BE(0x7000 | (count >>> 14), 0);
    rest.writeUInt16BE(0x8000 | (count & 0x3fff), 2);
    const text = time.toString(16).padStart(12, "0") + rest.toString("hex");
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

/** The jitter of one id. */
function drawn(): Buffer {
    if (used === jitter.length) {
        randomFillSync(jitter);
        used = 0;
    }
    used += BYTES;
    return jitter.subarray(used - BYTES, used);
}

/** Gives a write that has none an id, so that it is stored once however often it is sent. */
export function identify(request: Proto): void {
    if (isMessage(request, AddRequestSchema) || isMessage(request, AddStreamRequestSchema)) {
        if (request.message) request.message.id ||= newId();
    } else if (isMessage(request, AddBatchRequestSchema)) {
        for (const message of request.messages) message.id ||= newId();
    } else if (isMessage(request, StoreInteractionRequestSchema)) {
        request.interactionId ||= newId();
    } else if (isMessage(request, PutArtifactRequestSchema) && !request.offloadMessageId) {
        // An offloaded message's artifact has an id of its own, always the same.
        if (request.artifact) request.artifact.id ||= newId();
    }
}
