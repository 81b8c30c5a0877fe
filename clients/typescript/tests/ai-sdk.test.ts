// Conversations of the Vercel AI SDK, through its own functions, in a real sidecar.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { convertToModelMessages, generateText, type ModelMessage, modelMessageSchema, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import fc from "fast-check";
import { Client, errors, newId } from "memsidecar-client";
import { Conversation, fromModelMessages } from "memsidecar-client/ai-sdk";
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

function conversation(sessionId = newId()): Conversation {
    return new Conversation(client, { sessionId, userId: `user of ${sessionId}` });
}

// -- shapes of messages

function record(model: Record<string, fc.Arbitrary<unknown>>, optional: Record<string, fc.Arbitrary<unknown>> = {}) {
    return fc.record({ ...model, ...optional }, { requiredKeys: Object.keys(model), noNullPrototype: true });
}

const text = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.constantFrom("", "\ud800", "a\n\udfff"));
const providerOptions = fc.constantFrom({ anthropic: { cacheControl: { type: "ephemeral" } } }, { openai: {} });
const data = fc.oneof(
    fc.base64String({ maxLength: 40 }),
    fc.uint8Array({ maxLength: 40 }),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.from(bytes).buffer),
    fc.webUrl().map((url) => new URL(url)),
);
const textPart = record({ type: fc.constant("text"), text }, { providerOptions });
const filePart = record(
    { type: fc.constant("file"), data, mediaType: fc.constant("application/pdf") },
    { filename: fc.string(), providerOptions },
);
const imagePart = record({ type: fc.constant("image"), image: data }, { mediaType: fc.constant("image/png") });
const reasoningPart = record({ type: fc.constant("reasoning"), text }, { providerOptions });
const called = { toolCallId: fc.oneof(fc.uuid(), text), toolName: fc.oneof(fc.constant("weather"), text) };
const callPart = record(
    { type: fc.constant("tool-call"), ...called, input: fc.jsonValue() },
    { providerOptions, providerExecuted: fc.boolean() },
);
const output = fc.oneof(
    record({ type: fc.constantFrom("text", "error-text"), value: text }, { providerOptions }),
    record({ type: fc.constantFrom("json", "error-json"), value: fc.jsonValue() }),
    record({ type: fc.constant("execution-denied") }, { reason: text }),
    record({
        type: fc.constant("content"),
        value: fc.array(
            fc.oneof(
                record({ type: fc.constant("text"), text }),
                record({
                    type: fc.constant("file-data"),
                    data: fc.base64String(),
                    mediaType: fc.constant("image/png"),
                }),
            ),
            { maxLength: 3 },
        ),
    }),
);
const resultPart = record({ type: fc.constant("tool-result"), ...called, output }, { providerOptions });
const approvalPart = record({
    type: fc.constant("tool-approval-response"),
    approvalId: fc.uuid(),
    approved: fc.boolean(),
});
const askPart = record({ type: fc.constant("tool-approval-request"), approvalId: fc.uuid(), toolCallId: fc.uuid() });

const some = <Part>(...parts: fc.Arbitrary<Part>[]) => fc.array(fc.oneof(...parts), { maxLength: 4 });
const message = fc.oneof(
    record({ role: fc.constant("system"), content: text }, { providerOptions }),
    record(
        { role: fc.constant("user"), content: fc.oneof(text, some(textPart, filePart, imagePart)) },
        { providerOptions },
    ),
    record(
        {
            role: fc.constant("assistant"),
            content: fc.oneof(text, some(textPart, reasoningPart, filePart, callPart, resultPart, askPart)),
        },
        { providerOptions },
    ),
    record({ role: fc.constant("tool"), content: some(resultPart, approvalPart) }, { providerOptions }),
) as unknown as fc.Arbitrary<ModelMessage>;

test("all fields of a message are returned", async () => {
    const messages = fc.array(message, { minLength: 1, maxLength: 6 });
    const roundTrip = async (said: ModelMessage[]): Promise<void> => {
        for (const message of said) modelMessageSchema.parse(message);
        const kept = conversation();
        await kept.add(...said);
        assert.deepStrictEqual(await kept.messages(), said);
    };
    await fc.assert(fc.asyncProperty(messages, roundTrip), { numRuns: 60 });
});

test("values with a field in the contract are stored in that field", () => {
    const output = { type: "json" as const, value: { degrees: 18 } };
    const stored = fromModelMessages([
        {
            role: "assistant",
            content: [
                { type: "reasoning", text: "They want the weather." },
                { type: "text", text: "I look it up." },
                { type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Porto" } },
            ],
        },
        {
            role: "tool",
            content: [
                { type: "tool-result", toolCallId: "c1", toolName: "weather", output },
                { type: "tool-result", toolCallId: "c2", toolName: "weather", output: { type: "text", value: "" } },
            ],
        },
    ]);
    assert.deepEqual(
        stored.map(({ metadata: _, ...fields }) => fields),
        [
            {
                role: "assistant",
                content: "I look it up.",
                reasoning: "They want the weather.",
                toolCalls: [{ id: "c1", name: "weather", argumentsJson: '{"city":"Porto"}' }],
            },
            { role: "tool", content: '{"degrees":18}', toolCallId: "c1", name: "weather" },
            { role: "tool", content: "(empty)", toolCallId: "c2", name: "weather" },
        ],
    );
});

test("messages of other programs are read by the contract's fields", async () => {
    const sessionId = newId();
    const toolCalls = [{ id: "c1", name: "weather", argumentsJson: '{"city":"Porto"}' }];
    await client.addBatch({
        sessionId,
        messages: [
            { role: "user", content: "Weather?" },
            { role: "assistant", toolCalls, reasoning: "hm" },
            { role: "tool", content: "18 degrees", toolCallId: "c1" },
            { role: "assistant", content: "18 degrees." },
        ],
    });
    const messages = await new Conversation(client, { sessionId }).messages();
    for (const message of messages) modelMessageSchema.parse(message);
    assert.deepEqual(messages.slice(1), [
        {
            role: "assistant",
            content: [
                { type: "reasoning", text: "hm" },
                { type: "tool-call", toolCallId: "c1", toolName: "weather", input: { city: "Porto" } },
            ],
        },
        {
            role: "tool",
            content: [
                {
                    type: "tool-result",
                    toolCallId: "c1",
                    toolName: "weather",
                    output: { type: "text", value: "18 degrees" },
                },
            ],
        },
        { role: "assistant", content: "18 degrees." },
    ]);
});

test("metadata of other programs under the same key is left alone", async () => {
    const sessionId = newId();
    const part = '{"group":"g","message":{"role":"tool"},"part":{"type":"tool-result","toolCallId":"c1"}}';
    const odd = ["v6", "6", "null", "[]", "{}", '{"message":null}', '{"message":{"role":"user"}}', part];
    for (const text of [
        ...odd,
        '{"message":{"role":"user","content":[{"type":"text"}]}}',
        '{"group":1,"message":{}}',
    ]) {
        await client.add({ sessionId, role: "user", content: `kept as ${text}`, metadata: { ai_sdk: text } });
    }
    const kept = new Conversation(client, { sessionId });
    const messages = await kept.messages();
    assert.equal(messages.length, 10);
    for (const { role, content } of messages) assert.ok(role === "user" && String(content).startsWith("kept as "));
    assert.equal((await kept.prompt()).messages.length, 10);
    assert.equal((await kept.uiMessages()).length, 10);
});

test("after an error the same turn is added again, and stored once", async (context) => {
    const kept = conversation();
    const output = { type: "text" as const, value: "18" };
    const result = (toolCallId: string) => ({ type: "tool-result" as const, toolCallId, toolName: "weather", output });
    const turn = (): ModelMessage[] => [
        { role: "user", content: "yes" },
        { role: "tool", content: [result("c1"), result("c2")] },
        { role: "user", content: "yes" },
    ];
    const addBatch = client.addBatch.bind(client);
    const lost = context.mock.method(client, "addBatch", async (request: Parameters<typeof addBatch>[0]) => {
        await addBatch(request);
        throw new errors.Unreachable("the answer was lost", "UNAVAILABLE");
    });
    await assert.rejects(kept.add(...turn()), errors.Unreachable);
    await assert.rejects(kept.addResponse({ response: { messages: turn() } }), errors.Unreachable);
    lost.mock.restore();
    await kept.addResponse({ response: { messages: turn() } });
    assert.deepEqual(await kept.messages(), turn());
    await kept.add({ role: "user", content: "yes" });
    assert.deepEqual(await kept.messages(), [...turn(), { role: "user", content: "yes" }]);
});

test("a system message keeps its options in the prompt", async () => {
    const kept = conversation();
    const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };
    const user: ModelMessage = { role: "user", content: "hi" };
    await kept.add({ role: "system", content: "Be kind.", providerOptions }, user);
    const prompt = await kept.prompt();
    assert.deepEqual(prompt.system, [{ role: "system", content: "Be kind.", providerOptions }]);
    assert.deepEqual(prompt.messages, [user]);
    const model = fakeModel();
    await generateText({ model, ...prompt, tools: { weather } });
    assert.deepEqual(model.doGenerateCalls[0]?.prompt[0], { role: "system", content: "Be kind.", providerOptions });
});

test("a shortened result is shown shortened", async () => {
    const sessionId = newId();
    const kept = conversation(sessionId);
    const rows = Array.from({ length: 800 }, (_, row) => ({ row }));
    await kept.add(
        { role: "user", content: "Read it." },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "read", input: {} }] },
        {
            role: "tool",
            content: [
                { type: "tool-result", toolCallId: "c1", toolName: "read", output: { type: "json", value: rows } },
            ],
        },
        { role: "assistant", content: "I read it." },
        { role: "user", content: "And now?" },
    );
    await client.prune({ sessionId, maxTokens: 400, overflow: true });
    const result = (await kept.messages())[2]?.content[0] as { output: { type: string; value: string } };
    assert.equal(result.output.type, "text");
    assert.ok(result.output.value.length < 4_000);
});

// -- an agent

const weather = tool({
    description: "The weather in a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => ({ city, degrees: 18 }),
});

/** A fake model that calls the weather tool for the last city and returns the result. */
function fakeModel(): MockLanguageModelV3 {
    const usage = {
        inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 5, text: 5, reasoning: 0 },
    };
    return new MockLanguageModelV3({
        doGenerate: async ({ prompt }) => {
            const newest = prompt.at(-1);
            if (newest?.role === "tool") {
                const said = `It is ${/"degrees":(\d+)/.exec(JSON.stringify(newest.content))?.[1]} degrees.`;
                const content = [{ type: "text" as const, text: said }];
                return { content, finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
            }
            const cities = prompt.map((message) => /Porto|Lisbon/.exec(JSON.stringify(message.content))?.[0]);
            const input = JSON.stringify({ city: cities.findLast((found) => found !== undefined) });
            const call = { type: "tool-call" as const, toolCallId: newId(), toolName: "weather", input };
            const content = [{ type: "reasoning" as const, text: "The weather." }, call];
            return { content, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] };
        },
    });
}

/** Returns the messages of all steps, which version 7 of the SDK has in another place. */
function answered(result: {
    responseMessages?: ModelMessage[];
    response: { messages: ModelMessage[] };
}): ModelMessage[] {
    return result.responseMessages ?? result.response.messages;
}

test("an agent with a tool remembers its first turn in the second", async (context) => {
    const warned = context.mock.method(console, "warn", () => {});
    const kept = conversation();
    const model = fakeModel();
    const said: ModelMessage[] = [];
    for (const content of ["How is the weather in Lisbon?", "And now?"]) {
        const question: ModelMessage = { role: "user", content };
        await kept.add(question);
        const prompt = await kept.prompt({ systemPrompt: "You know the weather.", includeReasoning: true });
        assert.deepStrictEqual(prompt.messages, [...said, question]);
        const result = await generateText({ model, tools: { weather }, stopWhen: stepCountIs(3), ...prompt });
        assert.equal(result.text, "It is 18 degrees.");
        await kept.addResponse(result);
        said.push(question, ...answered(result));
    }
    assert.deepEqual(
        said.map((message) => message.role),
        ["user", "assistant", "tool", "assistant", "user", "assistant", "tool", "assistant"],
    );
    assert.deepStrictEqual(await kept.messages(), said);
    const first = model.doGenerateCalls[0]?.prompt[0];
    assert.deepEqual(first?.role === "system" && first.content, "You know the weather.");
    assert.match(JSON.stringify(model.doGenerateCalls[2]?.prompt), /How is the weather in Lisbon/);
    assert.equal(warned.mock.callCount(), 0);
    const silent = await kept.prompt();
    assert.doesNotMatch(JSON.stringify(silent.messages), /reasoning/);
});

test("a conversation is converted to UI messages and back", async () => {
    const kept = conversation();
    const prompt = [{ role: "user" as const, content: "How is the weather in Lisbon?" }];
    const result = await generateText({
        model: fakeModel(),
        tools: { weather },
        stopWhen: stepCountIs(3),
        messages: prompt,
    });
    await kept.add(...prompt);
    await kept.addResponse(result);
    const shown = await kept.uiMessages();
    assert.deepEqual(
        shown.map((message) => [message.role, message.parts.map((part) => part.type)]),
        [
            ["user", ["text"]],
            ["assistant", ["step-start", "reasoning", "tool-weather", "step-start", "text"]],
        ],
    );
    const [tools] = shown[1]?.parts.filter((part) => part.type === "tool-weather") ?? [];
    assert.deepEqual(tools && "output" in tools && tools.output, { city: "Lisbon", degrees: 18 });
    const again = await convertToModelMessages(shown);
    assert.deepEqual(
        again.map((message) => message.role),
        ["user", "assistant", "tool", "assistant"],
    );
});
