// The API follows the contract: a method for each RPC, an error for each reason, plain values in both directions.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { type AddRequest, Client, errors, MemsidecarError, newId, VERSION } from "memsidecar-client";
import { BY_REASON } from "#dist/failure.js";
import { ErrorReasonSchema } from "#dist/gen/memsidecar/v1/errors_pb.js";
import { KnowledgeService } from "#dist/gen/memsidecar/v1/knowledge_pb.js";
import { AddBatchRequestSchema, AddRequestSchema, MemoryService } from "#dist/gen/memsidecar/v1/memory_pb.js";
import { SessionSchema, SessionService } from "#dist/gen/memsidecar/v1/session_pb.js";
import { messageOf, plainOf } from "#dist/plain.js";
import { rpc } from "#dist/rpc.js";

const METHODS = [MemoryService, SessionService, KnowledgeService].flatMap((service) => service.methods);
const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("there is a method for each RPC, and an iterator for each paged RPC", () => {
    assert.equal(METHODS.length, 38);
    for (const method of METHODS) {
        assert.equal(typeof Reflect.get(Client.prototype, method.localName), "function", method.name);
        if (!method.output.fields.some((field) => field.name === "next_page_token")) continue;
        const items = method.output.fields.find((field) => field.fieldKind === "list" && field.message);
        assert.equal(typeof Reflect.get(Client.prototype, items?.localName ?? ""), "function", items?.name);
    }
});

test("every reason has an error class of its name", () => {
    const reasons = ErrorReasonSchema.values.slice(1).map((value) => value.name.replace("ERROR_REASON_", ""));
    assert.deepEqual([...BY_REASON.keys()].sort(), reasons.sort());
    for (const [reason, kind] of BY_REASON) {
        const name = reason.toLowerCase().replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
        const error = new kind("words", "UNKNOWN", { reason, field: "", metadata: {}, retryAfterMs: undefined });
        assert.equal(error.name, name);
        assert.equal(Reflect.get(errors, name), kind);
        assert.ok(error instanceof MemsidecarError);
    }
});

test("the version is that of the package", () => {
    const file = new URL(import.meta.resolve("memsidecar-client/package.json"));
    assert.equal(VERSION, (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version);
});

test("ids are of version 7, differ, and sort by time", async () => {
    const ids = Array.from({ length: 1000 }, newId);
    assert.equal(new Set(ids).size, 1000);
    for (const id of ids) assert.match(id, UUID_7);
    assert.deepEqual(ids.toSorted(), ids);
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.ok(newId().slice(0, 13) > (ids[0] ?? "").slice(0, 13));
});

test("a call about one thing takes the thing's fields, and makes its id", () => {
    const add = rpc<AddRequest, object>(MemoryService.method.add, "message");
    const request = { sessionId: "s", role: "user", content: "hi", expectedSequence: 3 } as const;
    const sent = plainOf(AddRequestSchema, fromBinary(AddRequestSchema, add.encode(request))) as {
        message: { id: string; role: string };
        expectedSequence: number;
    };
    assert.match(sent.message.id, UUID_7);
    assert.equal(sent.message.role, "user");
    assert.equal(sent.expectedSequence, 3);
    const own = fromBinary(AddRequestSchema, add.encode({ ...request, messageId: "m1" }));
    assert.equal(own.message?.id, "m1");
});

test("an unknown field is rejected before the call", async () => {
    using client = new Client({ address: "127.0.0.1:1" });
    const wrong = { session_id: "s" } as unknown as { sessionId: string };
    await assert.rejects(client.count(wrong), new TypeError('CountRequest has no field "session_id"'));
    const boss = { sessionId: "s", role: "boss" } as unknown as AddRequest;
    await assert.rejects(
        client.add(boss),
        new TypeError('role is "boss", and must be one of system, user, assistant, tool'),
    );
    await assert.rejects(
        client.add({ sessionId: "s", role: "user", content: 1 as never }),
        new TypeError("content is of the type number, and must be a string"),
    );
    for (const name of ["contents", "message"]) {
        const unknown = { sessionId: "s", role: "user", [name]: {} } as AddRequest;
        await assert.rejects(client.add(unknown), new TypeError(`AddRequest has no field "${name}"`));
    }
    await assert.rejects(
        client.add({ ...boss, role: "user", messageId: 1 as never }),
        new TypeError("messageId is of the type number, and must be a string"),
    );
});

test("a request that is not an object is rejected", async () => {
    using client = new Client({ address: "127.0.0.1:1" });
    const must = (name: string, found: string) => new TypeError(`${name} is ${found}, and must be an object`);
    await assert.rejects(client.add(undefined as never), must("AddRequest", "of the type undefined"));
    await assert.rejects(client.add(null as never), must("AddRequest", "null"));
    await assert.rejects(client.count("s" as never), must("CountRequest", "of the type string"));
    await assert.rejects(client.messages(undefined as never).next(), must("GetAllRequest", "of the type undefined"));
    await assert.rejects(client.messages(["s"] as never).next(), must("GetAllRequest", "a list"));
    await assert.rejects(client.addStream(["s"] as never).next(), must("AddStreamRequest", "of the type string"));
    for (const wrong of [undefined, null, {}, 1]) {
        for (const answers of [client.addStream(wrong as never), client.import(wrong as never)]) {
            await assert.rejects(answers.next(), { name: "TypeError", message: /^requests is .* must be a list or/ });
        }
    }
});

test("ids stay sorted when the clock stops or goes back", (context) => {
    const now = Date.now();
    context.mock.timers.enable({ apis: ["Date"], now });
    const ids = Array.from({ length: 20_000 }, newId);
    context.mock.timers.setTime(now - 60_000);
    ids.push(...Array.from({ length: 100 }, newId));
    for (const id of ids) assert.match(id, UUID_7);
    assert.deepEqual(ids.toSorted(), ids);
    assert.equal(new Set(ids).size, ids.length);
});

test("a value of a wrong type is reported with its path before the call", () => {
    const wrong = (message: object, error: object) =>
        assert.throws(() => messageOf(AddBatchRequestSchema, { messages: [{}, message] }), error);
    wrong({ content: { a: 1 } }, new TypeError("messages[1].content is of the type object, and must be a string"));
    wrong({ content: 123 }, new TypeError("messages[1].content is of the type number, and must be a string"));
    wrong({ content: ["a"] }, new TypeError("messages[1].content is a list, and must be a string"));
    wrong(
        { toolCalls: [{ id: 1 }] },
        new TypeError("messages[1].toolCalls[0].id is of the type number, and must be a string"),
    );
    wrong({ toolCalls: "c1" }, new TypeError("messages[1].toolCalls is of the type string, and must be a list"));
    wrong({ toolCalls: [null] }, new TypeError("messages[1].toolCalls[0] is null, and must be an object"));
    wrong({ metadata: "a" }, new TypeError("messages[1].metadata is of the type string, and must be an object"));
    wrong({ metadata: [1] }, new TypeError("messages[1].metadata is a list, and must be an object"));
    wrong({ synthetic: 1 }, new TypeError("messages[1].synthetic is of the type number, and must be a boolean"));
    wrong(
        { evaluationScore: "1" },
        new TypeError("messages[1].evaluationScore is of the type string, and must be a number"),
    );
    wrong({ sequence: "1" }, new TypeError("messages[1].sequence is of the type string, and must be a number"));
    wrong({ tokens: 1.5 }, new RangeError("messages[1].tokens is 1.5, and must be a whole number of 32 bits"));
    wrong({ tokens: "1" }, new TypeError("messages[1].tokens is of the type string, and must be a number"));
    wrong({ createTime: 5 }, /messages\[1\]\.createTime is of the type number/);
    wrong({ createTime: "soon" }, /messages\[1\]\.createTime is no time: soon/);
    wrong({ createTime: new Date(Number.NaN) }, TypeError);
    const roles = "one of system, user, assistant, tool";
    wrong({ role: "nobody" }, new TypeError(`messages[1].role is "nobody", and must be ${roles}`));
    wrong({ role: 1n }, new TypeError(`messages[1].role is of the type bigint, and must be ${roles}`));
    wrong({ role: null }, new TypeError(`messages[1].role is null, and must be ${roles}`));
    wrong({ role: "99999999999" }, new TypeError(`messages[1].role is "99999999999", and must be ${roles}`));
    wrong(
        { toolCalls: [{ arguments: "{}" }] },
        new TypeError('messages[1].toolCalls[0].arguments: ToolCall has no field "arguments"'),
    );
    wrong({ content: null }, new TypeError("messages[1].content is null, and must be a string"));
    wrong({ metadata: null }, new TypeError("messages[1].metadata is null, and must be an object"));
    wrong({ createTime: null }, new TypeError("messages[1].createTime is null, and must be a Date or RFC 3339"));
    wrong({ evaluationScore: null }, new TypeError("messages[1].evaluationScore is null, and must be a number"));
    wrong({ metadata: { big: 1n } }, /^TypeError: messages\[1\]\.metadata is no JSON: .*BigInt/);
    wrong({ vector: [0, 1e300] }, new RangeError("messages[1].vector[1] is 1e+300, which is more than 32 bits hold"));
    assert.throws(
        () => messageOf(AddBatchRequestSchema, undefined as never),
        /AddBatchRequest is of the type undefined/,
    );
});

test("invalid Unicode is reported with its path at any depth", () => {
    const cut = (message: object, words: string) =>
        assert.throws(() => messageOf(AddBatchRequestSchema, { messages: [{}, message] }), new TypeError(words));
    const half = "is not valid Unicode: half of a character stands at";
    cut({ content: "a\ud800b" }, `messages[1].content ${half} 1`);
    cut({ content: "😀 \ude00" }, `messages[1].content ${half} 3`);
    cut({ content: "smile 😀".slice(0, -1) }, `messages[1].content ${half} 6`);
    cut({ toolCalls: [{ argumentsJson: "\udfff" }] }, `messages[1].toolCalls[0].argumentsJson ${half} 0`);
    cut({ metadata: { a: [1, { b: "\ud800" }] } }, `messages[1].metadata.a[1].b ${half} 0`);
    const key = 'has a key that is not valid Unicode: "b\\ud800"';
    cut({ metadata: { a: [{ "b\ud800": 1 }] } }, `messages[1].metadata.a[0] ${key}`);
    assert.throws(() => messageOf(SessionSchema, { watermarks: { "b\ud800": 1 } }), new TypeError(`watermarks ${key}`));
    const add = rpc<AddRequest, object>(MemoryService.method.add, "message");
    const request = { sessionId: "s", role: "user", content: "\ud83d" } as const;
    assert.throws(() => add.encode(request), new TypeError(`content ${half} 0`));
    assert.throws(() => add.encode({ ...request, sessionId: "s\ud83d" }), new TypeError(`sessionId ${half} 1`));
    const whole = { content: "😀", metadata: { "😀": [null, "😀", { a: true }] } };
    const sent = plainOf(AddRequestSchema, messageOf(AddRequestSchema, { message: whole })) as { message: object };
    assert.deepEqual({ ...sent.message, ...whole }, sent.message);
});

test("times keep all their digits, and a Date will do", () => {
    const there = (createTime: unknown) =>
        plainOf(SessionSchema, messageOf(SessionSchema, { createTime })) as { createTime: string };
    assert.equal(there("2024-02-29T12:34:56.789123Z").createTime, "2024-02-29T12:34:56.789123Z");
    assert.equal(there("2024-02-29T13:34:56+01:00").createTime, "2024-02-29T12:34:56Z");
    assert.equal(there(new Date(1_709_210_096_789)).createTime, "2024-02-29T12:34:56.789Z");
});

test("64-bit numbers are numbers, and are never rounded", () => {
    const there = (lastSequence: unknown) =>
        plainOf(SessionSchema, messageOf(SessionSchema, { stats: { lastSequence } })) as {
            stats: { lastSequence: number };
        };
    assert.equal(there(Number.MAX_SAFE_INTEGER).stats.lastSequence, Number.MAX_SAFE_INTEGER);
    assert.throws(() => there(2 ** 53), RangeError);
    assert.throws(() => there(1.5), RangeError);
    const message = messageOf(SessionSchema, { watermarks: { facts: 7 } }) as unknown as { watermarks: object };
    assert.deepEqual(plainOf(SessionSchema, message as never), {
        ...plainOf(SessionSchema, messageOf(SessionSchema, {})),
        watermarks: { facts: 7 },
    });
    message.watermarks = { facts: 2n ** 53n };
    assert.throws(() => plainOf(SessionSchema, message as never), RangeError);
});

test("an unknown enum value is sent and received", () => {
    const plain = plainOf(AddRequestSchema, messageOf(AddRequestSchema, { message: { role: "9" } })) as {
        message: { role: string };
    };
    assert.equal(plain.message.role, "9");
});
