// Streams whose requests wait for responses, fail or are cancelled. The scenarios cover interrupted streams.

import assert from "node:assert/strict";
import { EventEmitter, on, once } from "node:events";
import { after, before, test } from "node:test";
import { type AddStreamRequest, Client, errors, newId } from "memsidecar-client";
import { type Sidecar, startSidecar } from "./sidecar.js";

let sidecar: Sidecar;
before(async () => {
    sidecar = await startSidecar();
});
after(() => sidecar?.stop());

function said(sessionId: string, content: string): AddStreamRequest {
    return { sessionId, role: "user", content };
}

test("a request may wait for the answer before it", async () => {
    await using client = new Client({ address: sidecar.address });
    const sessionId = newId();
    const answered = new EventEmitter();
    async function* requests(): AsyncGenerator<AddStreamRequest> {
        yield said(sessionId, "first");
        for await (const [sequence] of on(answered, "sequence")) {
            if (sequence === 4) return;
            yield said(sessionId, `after ${sequence}`);
        }
    }
    for await (const answer of client.addStream(requests())) answered.emit("sequence", answer.result?.sequence);
    const contents: string[] = [];
    for await (const message of client.messages({ sessionId })) contents.push(message.content);
    assert.deepEqual(contents, ["first", "after 1", "after 2", "after 3"]);
});

test("an error of the requests reaches the caller", async () => {
    await using client = new Client({ address: sidecar.address });
    const own = new errors.Unreachable("of another client", "UNAVAILABLE");
    function* requests(): Generator<AddStreamRequest> {
        yield said(newId(), "good");
        throw own;
    }
    for (const answers of [client.addStream(requests()), client.import([{ record: {}, wrong: 1 } as never])]) {
        await assert.rejects(
            async () => {
                for await (const _ of answers);
            },
            (error) => error === own || error instanceof TypeError,
        );
    }
});

test("a signal cancels a stream and notifies its source", async () => {
    await using client = new Client({ address: sidecar.address });
    const controller = new AbortController();
    const told = new EventEmitter();
    const over = once(told, "over");
    async function* requests(): AsyncGenerator<AddStreamRequest> {
        try {
            yield said(newId(), "one");
            await new Promise((resolve) => setTimeout(resolve, 300));
            yield said(newId(), "two");
        } finally {
            told.emit("over");
        }
    }
    await assert.rejects(async () => {
        for await (const _ of client.addStream(requests(), { signal: controller.signal })) controller.abort();
    }, errors.Cancelled);
    await over;
    await client.count({ sessionId: "s" });
});

test("a caller that stops reading requests no further pages", async () => {
    await using client = new Client({ address: sidecar.address });
    const sessionId = newId();
    await client.addBatch({ sessionId, messages: Array.from({ length: 5 }, () => ({ role: "user", content: "x" })) });
    const pages = client.messages({ sessionId, pageSize: 2 });
    assert.equal((await pages.next()).done, false);
    await pages.return();
    assert.equal((await pages.next()).done, true);
});
