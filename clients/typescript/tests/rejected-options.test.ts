// Fields that the sidecar rejects have their TypeScript names.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type AddRequest, Client, errors } from "memsidecar-client";
import { MemoryService } from "#dist/gen/memsidecar/v1/memory_pb.js";
import { SessionService } from "#dist/gen/memsidecar/v1/session_pb.js";
import { rpc } from "#dist/rpc.js";
import { type Sidecar, startSidecar } from "./sidecar.js";

let sidecar: Sidecar;
let client: Client;
before(async () => {
    sidecar = await startSidecar();
    client = new Client({ address: sidecar.address });
});
after(async () => {
    client?.close();
    await sidecar?.stop();
});

async function refused(call: Promise<unknown>, field: string): Promise<void> {
    await assert.rejects(call, (error) => {
        assert.ok(error instanceof errors.InvalidField, String(error));
        assert.equal(error.field, field);
        return true;
    });
}

test("an invalid field has its TypeScript name at any depth", async () => {
    const [good, call] = [{ role: "user", content: "hi" } as const, { id: "c1", name: "find", argumentsJson: "{}" }];
    const calling = { role: "assistant", toolCalls: [call, { ...call, name: "" }] } as const;
    await refused(client.count({ sessionId: "" }), "sessionId");
    await refused(client.getAll({ sessionId: "s", pageSize: -1 }), "pageSize");
    await refused(client.messages({ sessionId: "" }).next(), "sessionId");
    await refused(
        client.addBatch({ sessionId: "s", messages: [good, good, good, calling] }),
        "messages[3].toolCalls[1].name",
    );
    await refused(client.setPolicy({ sessionId: "s", policy: { autoPruneTokens: -1 } }), "policy.autoPruneTokens");
});

test("the field of a nested item is reported as a field of the call", async () => {
    const good = { sessionId: "s", role: "user", content: "hi" } as const;
    await refused(client.add({ ...good, sessionId: "" }), "sessionId");
    await refused(client.add({ ...good, content: "" }), "content");
    await refused(client.add({ ...good, evaluationScore: 11 }), "evaluationScore");
    await refused(client.add({ ...good, messageId: "\n" }), "messageId");
    await refused(client.addStream([{ ...good, toolCallId: "c1" }]).next(), "toolCallId");
    await refused(client.putArtifact({ sessionId: "s", content: "" }), "content");
    await refused(client.putDocument({ documentId: "", text: "a" }), "documentId");
});

test("a path outside the contract stays unchanged", () => {
    const add = rpc<AddRequest, object>(MemoryService.method.add, "message");
    for (const path of ["", "request", "message", "later_field.inner_field[2]", "message_id"]) {
        assert.equal(add.fieldHere(path), path);
    }
    assert.equal(add.fieldHere("message.metadata.my_key"), "metadata.my_key");
    assert.equal(add.fieldHere("message.later_field"), "later_field");
    const imported = rpc(SessionService.method.import);
    assert.equal(imported.fieldHere("record.message.tool_calls[0].id"), "record.message.toolCalls[0].id");
});
