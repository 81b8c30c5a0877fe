// Histories of LangChain.js, through its own classes, in a real sidecar.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
    AIMessage,
    AIMessageChunk,
    type BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
} from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { RunnableLambda, RunnableWithMessageHistory } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import fc from "fast-check";
import { Client, errors, newId } from "memsidecar-client";
import { fromLangChain, MemsidecarChatMessageHistory, toLangChain } from "memsidecar-client/langchain";
import { z } from "zod";
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

function history(sessionId = newId()): MemsidecarChatMessageHistory {
    return new MemsidecarChatMessageHistory({ client, sessionId, userId: `user of ${sessionId}` });
}

/** All fields of a message, without those that its class adds. */
function shape(message: BaseMessage): unknown {
    const fields = Object.entries(message).filter(([name, value]) => !name.startsWith("lc_") && value !== undefined);
    return { class: message.constructor, fields: Object.fromEntries(fields), dict: json(message.toDict()) };
}

function json(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value, (_, message) => (typeof message === "bigint" ? `${message}n` : message)));
}

async function assertRoundTrip(messages: BaseMessage[]): Promise<void> {
    const kept = history();
    const before = messages.map(shape);
    await kept.addMessages(messages);
    assert.deepStrictEqual((await kept.getMessages()).map(shape), before);
}

// -- shapes of messages

function record(model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> {
    return fc.record(model, { noNullPrototype: true });
}

const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "\ud800", "a\n\udfff"),
);
const dict = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 4 }), {
    maxKeys: 3,
    noNullPrototype: true,
});
const block = fc.oneof(
    record({ type: fc.constant("text"), text }),
    record({ type: fc.constant("text"), text, cache_control: dict }),
    record({ type: fc.constant("reasoning"), reasoning: text }),
    record({ type: fc.constant("thinking"), thinking: text, signature: fc.string() }),
    record({ type: fc.constant("image_url"), image_url: record({ url: fc.webUrl() }) }),
    record({
        type: fc.constant("image"),
        data: fc.uint8Array({ maxLength: 50 }),
        mimeType: fc.constant("image/png"),
    }),
);
const content = fc.oneof(text, fc.array(block, { maxLength: 4 }));
const common = {
    content,
    id: fc.option(fc.uuid(), { nil: undefined }),
    name: fc.option(fc.oneof(fc.constant("ana"), text), { nil: undefined }),
    additional_kwargs: dict,
    response_metadata: dict,
};
const toolCall = record({
    id: fc.option(fc.oneof(fc.uuid(), text), { nil: undefined }),
    name: fc.oneof(fc.constant("weather"), text),
    args: dict,
    type: fc.constant("tool_call" as const),
});
const invalidCall = record({
    id: fc.uuid(),
    name: text,
    args: text,
    error: text,
    type: fc.constant("invalid_tool_call" as const),
});
const usage = record({ input_tokens: fc.nat(), output_tokens: fc.nat(), total_tokens: fc.nat() });
const artifact = fc.oneof(
    fc.jsonValue(),
    fc.uint8Array({ maxLength: 50 }),
    fc.date({ noInvalidDate: true }),
    fc.bigInt(),
    dict,
);

// biome-ignore lint/suspicious/noExplicitAny: what is generated is of the constructors' own types, which are not exported
const made = (Class: new (fields: any) => BaseMessage, fields: Record<string, fc.Arbitrary<unknown>>) =>
    record({ ...common, ...fields }).map((given) => new Class(given));
const assistant = {
    tool_calls: fc.array(toolCall, { maxLength: 3 }),
    invalid_tool_calls: fc.array(invalidCall, { maxLength: 2 }),
    usage_metadata: fc.option(usage, { nil: undefined }),
};
const message = fc.oneof(
    made(HumanMessage, {}),
    made(SystemMessage, {}),
    made(AIMessage, assistant),
    made(AIMessage, { ...assistant, response_metadata: fc.constant({ output_version: "v1" }) }),
    made(AIMessageChunk, assistant),
    made(ToolMessage, {
        tool_call_id: fc.oneof(fc.uuid(), text),
        artifact: fc.option(artifact, { nil: undefined }),
        status: fc.constantFrom("success", "error", undefined),
    }),
    made(ChatMessage, { role: fc.oneof(fc.constantFrom("user", "assistant", "critic"), text) }),
    made(FunctionMessage, { name: fc.constant("weather"), content: text }),
);

test("all fields of a message are returned", async () => {
    await fc.assert(fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 6 }), assertRoundTrip), {
        numRuns: 60,
    });
});

test("a role may have any name, also one of Object's properties", async () => {
    const roles = ["__proto__", "constructor", "toString", "hasOwnProperty", "critic"];
    const messages = roles.map((role) => new ChatMessage({ role, content: "hello" }));
    assert.deepStrictEqual(
        messages.map((message) => fromLangChain(message).role),
        roles.map(() => "user"),
    );
    await assertRoundTrip(messages);
});

test("values with a field in the contract are stored in that field", () => {
    const stored = fromLangChain(
        new AIMessage({
            id: "m1",
            name: "bot",
            content: [
                { type: "reasoning", reasoning: "They want the weather." },
                { type: "text", text: "I look" },
                { type: "text", text: "it up." },
            ],
            tool_calls: [{ id: "c1", name: "weather", args: { city: "Porto" } }],
        }),
    );
    const { metadata: _, ...fields } = stored;
    assert.deepEqual(fields, {
        id: "m1",
        role: "assistant",
        content: "I look\nit up.",
        reasoning: "They want the weather.",
        name: "bot",
        toolCalls: [{ id: "c1", name: "weather", argumentsJson: '{"city":"Porto"}' }],
        toolCallId: undefined,
    });
    assert.equal(fromLangChain(new ToolMessage({ content: "", tool_call_id: "c1" })).content, "(empty)");
});

test("values that cannot be stored are rejected, and nothing is stored", async () => {
    const kept = history();
    const odd = new ToolMessage({ content: "x", tool_call_id: "c1", artifact: new Map() });
    await assert.rejects(kept.addMessages([new HumanMessage("hi"), odd]), /a Map cannot be kept/);
    await assert.rejects(kept.addMessage(new RemoveMessage({ id: "m1" })), /no message to store/);
    assert.deepEqual(await kept.getMessages(), []);
});

test("messages of other programs are read by the contract's fields", async () => {
    const sessionId = newId();
    const toolCalls = [
        { id: "c1", name: "weather", argumentsJson: '{"city":"Porto"}' },
        { id: "c2", name: "weather", argumentsJson: "{city" },
    ];
    await client.addBatch({
        sessionId,
        messages: [
            { id: "m0", role: "system", content: "Be kind." },
            { id: "m1", role: "user", content: "hi", name: "Ana" },
            { id: "m2", role: "assistant", toolCalls, reasoning: "hm" },
            { id: "m3", role: "tool", content: "18 degrees", toolCallId: "c1", name: "weather" },
        ],
    });
    const [system, human, ai, result] = await history(sessionId).getMessages();
    assert.ok(system instanceof SystemMessage && human instanceof HumanMessage);
    assert.equal(human.name, "Ana");
    assert.ok(ai instanceof AIMessage && ai.id === "m2");
    assert.deepEqual(ai.tool_calls, [{ id: "c1", name: "weather", args: { city: "Porto" }, type: "tool_call" }]);
    assert.equal(ai.invalid_tool_calls?.[0]?.args, "{city");
    assert.equal(ai.additional_kwargs["reasoning_content"], "hm");
    assert.ok(result instanceof ToolMessage && result.tool_call_id === "c1");
});

test("metadata of other programs under the same key is left alone", async () => {
    const sessionId = newId();
    const odd = [
        "v0.3",
        "{}",
        "null",
        "[]",
        '{"class":"AIMessage"}',
        '{"class":"constructor","fields":{"content":"x"}}',
    ];
    const wrong = [
        '{"class":"AIMessage","fields":{"content":5}}',
        '{"class":"AIMessage","fields":{"content":"","tool_calls":1}}',
    ];
    for (const text of [...odd, ...wrong, '{"class":"AIMessage","fields":{"content":[null]}}']) {
        await client.add({ sessionId, role: "user", content: `kept as ${text}`, metadata: { langchain: text } });
    }
    const messages = await history(sessionId).getMessages();
    assert.equal(messages.length, 9);
    for (const message of messages) assert.ok(message instanceof HumanMessage && message.text.startsWith("kept as "));
});

test("after an error the same turn is added again, and stored once", async (context) => {
    const sessionId = newId();
    const turn = () => [new HumanMessage("yes"), new AIMessage("fine"), new HumanMessage("yes")];
    const addBatch = client.addBatch.bind(client);
    const lost = context.mock.method(client, "addBatch", async (request: Parameters<typeof addBatch>[0]) => {
        await addBatch(request);
        throw new errors.DeadlineExceeded("the answer was lost", "DEADLINE_EXCEEDED");
    });
    const given = turn();
    await assert.rejects(history(sessionId).addMessages(given), errors.DeadlineExceeded);
    await assert.rejects(history(sessionId).addMessages(turn()), errors.DeadlineExceeded);
    lost.mock.restore();
    await history(sessionId).addMessages([...given, new AIMessage("really")]);
    const contents = async () => (await history(sessionId).getMessages()).map((message) => message.text);
    assert.deepEqual(await contents(), ["yes", "fine", "yes", "really"]);
    await history(sessionId).addMessages(given);
    assert.deepEqual(await contents(), ["yes", "fine", "yes", "really", "yes", "fine", "yes"]);
});

test("a shortened result is shown shortened, and reasoning is shown on request only", async () => {
    const kept = history("shortened");
    const blocks = [{ type: "text" as const, text: "line of a file\n".repeat(800) }];
    await kept.addMessages([
        new HumanMessage("Read it."),
        new AIMessage({
            content: [{ type: "thinking", thinking: "A file.", signature: "s" }],
            tool_calls: [{ id: "c1", name: "read", args: {} }],
        }),
        new ToolMessage({ content: blocks, tool_call_id: "c1" }),
        new AIMessage("I read it."),
        new HumanMessage("And now?"),
    ]);
    await client.prune({ sessionId: "shortened", maxTokens: 400, overflow: true });
    const result = (await kept.getMessages())[2];
    assert.ok(result instanceof ToolMessage && typeof result.content === "string");
    assert.ok(result.content.length < 4_000);
    const [, silent] = await kept.context();
    assert.deepEqual(silent?.content, []);
    const [, loud] = await kept.context({ includeReasoning: true });
    assert.deepEqual(loud?.content, [{ type: "thinking", thinking: "A file.", signature: "s" }]);
});

// -- an agent

const weather = tool(async ({ city }) => [`18 degrees in ${city}`, { city, degrees: 18 }], {
    name: "weather",
    description: "The weather in a city",
    schema: z.object({ city: z.string() }),
    responseFormat: "content_and_artifact",
});

/** A fake model that calls the weather tool for the last city and returns the result. */
class FakeModel extends BaseChatModel {
    override _llmType(): string {
        return "fake";
    }

    override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
        const newest = messages.at(-1);
        if (newest instanceof ToolMessage) return this.#said(new AIMessage(`It is ${newest.content}.`));
        const cities = messages.map((message) => /Porto|Lisbon/.exec(message.text)?.[0]);
        const city = cities.findLast((found) => found !== undefined);
        const tool_calls = [{ id: newId(), name: "weather", args: { city }, type: "tool_call" as const }];
        return this.#said(new AIMessage({ content: "", tool_calls, response_metadata: { model: "fake" } }));
    }

    #said(said: AIMessage): ChatResult {
        return { generations: [{ text: said.text, message: said }] };
    }
}

test("an agent with a tool remembers its first turn in the second", async () => {
    const model = new FakeModel({});
    const seen: number[] = [];
    const agent = RunnableLambda.from(async (messages: BaseMessage[]) => {
        seen.push(messages.length);
        const said: BaseMessage[] = [];
        for (;;) {
            const answer = await model.invoke([...messages, ...said]);
            said.push(answer);
            if (!answer.tool_calls?.length) return said;
            for (const call of answer.tool_calls) said.push((await weather.invoke(call)) as ToolMessage);
        }
    });
    const remembering = new RunnableWithMessageHistory({ runnable: agent, getMessageHistory: (id) => history(id) });
    const config = { configurable: { sessionId: newId() } };
    const said: BaseMessage[] = [];
    for (const question of ["How is the weather in Lisbon?", "And now?"]) {
        said.push(new HumanMessage(question), ...(await remembering.invoke([new HumanMessage(question)], config)));
        await awaitAllCallbacks();
    }
    assert.deepEqual(seen, [1, 5]);
    assert.equal(said.at(-1)?.text, "It is 18 degrees in Lisbon.");
    const kept = await history(config.configurable.sessionId).getMessages();
    assert.deepStrictEqual(kept.map(shape), said.map(shape));
    const results = kept.filter((message) => message instanceof ToolMessage);
    assert.deepEqual(
        results.map((message) => message.artifact),
        [
            { city: "Lisbon", degrees: 18 },
            { city: "Lisbon", degrees: 18 },
        ],
    );
    const context = await history(config.configurable.sessionId).context({ systemPrompt: "You know the weather." });
    assert.equal(context[0]?.text, "You know the weather.");
    assert.deepStrictEqual(context.slice(1).map(shape), said.map(shape));
});

test("returned messages behave like LangChain's own", () => {
    const stored = fromLangChain(new AIMessage({ content: "hi", id: "m1" }));
    const back = toLangChain({ ...(stored as Parameters<typeof toLangChain>[0]), synthetic: false });
    assert.ok(AIMessage.isInstance(back));
    assert.equal(back.getType(), "ai");
});
