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

// Random bits are drawn for many ids at once: each draw costs more than an id.
const BYTES = 10;
const randomBits = Buffer.alloc(BYTES * 256);
let used = randomBits.length;

// Ids of the same millisecond, and those after a clock that went back, increment the 26 bits after the time. The
// counter starts at a random value in the lower half, so that it does not overflow and does not reveal how many ids
// there were.
const MAX_COUNT = 2 ** 26 - 1;
const BEGIN = 2 ** 25 - 1;
let time = 0;
let count = 0;

/** Returns a UUIDv7: milliseconds, a counter, then random bits; ids of one thread sort by creation time. */
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

/** The random bits of one id. */
function drawn(): Buffer {
    if (used === randomBits.length) {
        randomFillSync(randomBits);
        used = 0;
    }
    used += BYTES;
    return randomBits.subarray(used - BYTES, used);
}

/** Adds a missing id to a write, so that a retried write is stored once. */
export function identify(request: Proto): void {
    if (isMessage(request, AddRequestSchema) || isMessage(request, AddStreamRequestSchema)) {
        if (request.message) request.message.id ||= newId();
    } else if (isMessage(request, AddBatchRequestSchema)) {
        for (const message of request.messages) message.id ||= newId();
    } else if (isMessage(request, StoreInteractionRequestSchema)) {
        request.interactionId ||= newId();
    } else if (isMessage(request, PutArtifactRequestSchema) && !request.offloadMessageId) {
        // The server derives the artifact id of an offloaded message.
        if (request.artifact) request.artifact.id ||= newId();
    }
}
