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
const chance = Buffer.alloc(BYTES * 256);
let used = chance.length;

/** A UUIDv7: the time in milliseconds, then chance, so that ids sort by when they were made. */
export function newId(): string {
    if (used === chance.length) {
        randomFillSync(chance);
        used = 0;
    }
    const time = Date.now().toString(16).padStart(12, "0");
    const rest = chance.subarray(used, used + BYTES);
    used += BYTES;
    rest.writeUInt8((rest.readUInt8(0) & 0x0f) | 0x70, 0);
    rest.writeUInt8((rest.readUInt8(2) & 0x3f) | 0x80, 2);
    const text = time + rest.toString("hex");
    return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
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
