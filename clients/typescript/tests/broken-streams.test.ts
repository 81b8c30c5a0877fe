// Fake servers, and sources of requests that fail or wait while a stream is broken.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { type AddStreamRequest, Client, errors, MemsidecarError } from "memsidecar-client";
import { answering, type Stream, streaming } from "./fake-server.js";

const ANSWER = Buffer.alloc(0);

function said(content: string): AddStreamRequest {
    return { sessionId: "s", role: "user", content };
}

/** Ends the first stream with OK after two responses; answers other streams completely. */
function endingEarly(stream: Stream, number: number): void {
    let requests = 0;
    stream.on("data", () => {
        requests += 1;
        if (number > 1 || requests < 3) stream.write(ANSWER);
        else stream.end();
    });
    if (number > 1) stream.on("end", () => stream.end());
}

/** Breaks the first stream at its first request; answers other streams completely. */
function breakingOnce(stream: Stream, number: number): void {
    stream.on("data", () => {
        if (number > 1) stream.write(ANSWER);
        else stream.emit("error", { code: status.UNAVAILABLE, details: "away" });
    });
    stream.on("end", () => stream.end());
}

async function countOf(answers: AsyncIterable<unknown>): Promise<number> {
    let count = 0;
    for await (const _ of answers) count += 1;
    return count;
}

test("a stream that ends with OK before all responses resumes", async () => {
    await using server = await streaming("AddStream", endingEarly);
    await using client = new Client({ address: server.address });
    async function* requests(): AsyncGenerator<AddStreamRequest> {
        for (let number = 0; number < 6; number += 1) {
            yield said(`${number}`);
            await sleep(20);
        }
    }
    assert.equal(await countOf(client.addStream(requests())), 6);
    assert.equal(await countOf(client.addStream([said("one"), said("two"), said("three")])), 3);
});

test("a stream that always ends too early fails in the end", async () => {
    await using server = await streaming("AddStream", (stream) => stream.on("data", () => stream.end()));
    await using client = new Client({ address: server.address, attempts: 2 });
    await assert.rejects(countOf(client.addStream([said("one")])), (error) => {
        assert.ok(error instanceof errors.Unreachable);
        return error.message.includes(server.address);
    });
});

test("an error of the requests between two streams reaches the caller", async () => {
    await using server = await streaming("AddStream", breakingOnce);
    await using client = new Client({ address: server.address });
    async function* requests(): AsyncGenerator<AddStreamRequest> {
        yield said("one");
        await sleep(100);
        throw new Error("the database is gone");
    }
    await assert.rejects(countOf(client.addStream(requests())), /the database is gone/);
});

test("waiting requests are notified when their stream ends", async () => {
    const refuse = (stream: Stream) =>
        stream.once("data", () => stream.emit("error", { code: status.INVALID_ARGUMENT, details: "no" }));
    for (const [rpc, method] of [
        ["AddStream", "addStream"],
        ["Import", "import"],
    ] as const) {
        await using server = await streaming(rpc, refuse);
        await using client = new Client({ address: server.address });
        let [asked, told] = [0, 0];
        const iterator: AsyncIterator<object> = {
            next() {
                asked += 1;
                if (asked > 1) return new Promise(() => {});
                return Promise.resolve({ done: false, value: method === "import" ? {} : said("one") });
            },
            async return() {
                told += 1;
                return { done: true, value: undefined };
            },
        };
        const requests = { [Symbol.asyncIterator]: () => iterator } as AsyncIterable<never>;
        await assert.rejects(countOf(client[method](requests)), MemsidecarError);
        assert.equal(told, 1, rpc);
    }
});

test("a response that cannot be decoded is a MemsidecarError", async () => {
    await using server = await answering("Count", () => Buffer.from([0xff, 0xff, 0xff]));
    await using client = new Client({ address: server.address, attempts: 1 });
    await assert.rejects(client.count({ sessionId: "s" }), (error) => {
        assert.ok(error instanceof MemsidecarError && error.code === "INTERNAL" && error.reason === "");
        return /CountResponse/.test(error.message);
    });
});

test("gRPC's own size limit is TooLarge", async () => {
    await using server = await answering("Count", () => ({ code: status.RESOURCE_EXHAUSTED, details: "too long" }));
    await using client = new Client({ address: server.address });
    await assert.rejects(client.count({ sessionId: "s" }), errors.TooLarge);
});

test("a call without an idempotency key is not retried if its arrival is unknown", async () => {
    let calls = 0;
    await using server = await answering("ReportUsage", (call) => {
        calls = call;
        return { code: status.UNAVAILABLE, details: "lost" };
    });
    await using client = new Client({ address: server.address });
    const usage = { model: "m", estimatedTokens: 1, actualTokens: 1 };
    await assert.rejects(client.reportUsage(usage), errors.Unreachable);
    assert.equal(calls, 1);
});

test("an invalid deadline is rejected, and a huge one is no limit", async () => {
    await using server = await answering("Count", () => ANSWER);
    await using client = new Client({ address: server.address });
    const own = { name: "RangeError", message: /^deadlineMs is .* must be more than 0/ };
    const told = { name: "RangeError", message: /^deadlineMs is .* must be 0 or more/ };
    for (const deadlineMs of [0, -0]) {
        assert.throws(() => new Client({ address: server.address, deadlineMs }), own);
    }
    const wrong = [Number.NaN, -1, Number.NEGATIVE_INFINITY, "soon", "5", 5n, null, {}, Symbol("soon")];
    for (const deadlineMs of wrong as number[]) {
        assert.throws(() => new Client({ address: server.address, deadlineMs }), own);
        await assert.rejects(client.count({ sessionId: "s" }, { deadlineMs }), told);
        await assert.rejects(client.count({ sessionId: "s" }, { deadlineMs }), RangeError);
        await assert.rejects(client.waitUntilReady({ deadlineMs }), RangeError);
        await assert.rejects(countOf(client.addStream([], { deadlineMs })), RangeError);
        await assert.rejects(countOf(client.import([], { deadlineMs })), RangeError);
    }
    for (const deadlineMs of [Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, 1e13, 1e12, Number.POSITIVE_INFINITY]) {
        await client.count({ sessionId: "s" }, { deadlineMs });
    }
    await using patient = new Client({ address: server.address, deadlineMs: Number.MAX_SAFE_INTEGER });
    await patient.count({ sessionId: "s" });
});

test("a call with an expired deadline fails at once, and nothing is sent", async () => {
    let calls = 0;
    await using server = await answering("Count", (call) => {
        calls = call;
        return ANSWER;
    });
    await using client = new Client({ address: server.address });
    await client.count({ sessionId: "s" });
    function* untouched(): Generator<never> {
        yield assert.fail("a request was taken that is not sent");
    }
    const over = { name: "DeadlineExceeded", code: "DEADLINE_EXCEEDED", message: /no time is left/ };
    for (const deadlineMs of [0, -0]) {
        await assert.rejects(client.count({ sessionId: "s" }, { deadlineMs }), over);
        await assert.rejects(countOf(client.messages({ sessionId: "s" }, { deadlineMs })), over);
        await assert.rejects(countOf(client.export({}, { deadlineMs })), over);
        await assert.rejects(countOf(client.addStream(untouched(), { deadlineMs })), over);
        await assert.rejects(countOf(client.import(untouched(), { deadlineMs })), over);
        await assert.rejects(client.waitUntilReady({ deadlineMs }), {
            name: "DeadlineExceeded",
            message: /was not ready within 0 seconds/,
        });
        const signal = AbortSignal.abort();
        await assert.rejects(client.count({ sessionId: "s" }, { deadlineMs, signal }), errors.Cancelled);
    }
    assert.equal(calls, 1);
});
