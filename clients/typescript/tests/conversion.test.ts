// The cases of clients/scenarios/conversion.json, which all clients run, and input that only JavaScript can have.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
    anthropicMessages,
    type Context,
    ConversionError,
    type Message,
    type MessageInput,
    messagesFromAnthropic,
    messagesFromOpenAI,
    openAIInput,
    openAIMessages,
} from "memsidecar-client";
import { MessageSchema } from "#dist/gen/memsidecar/v1/message_pb.js";
import { messageOf, plainOf } from "#dist/plain.js";

interface ContractMessage {
    role: string;
    content?: string;
    name?: string;
    tool_calls?: { id: string; name: string; arguments_json?: string }[];
    tool_call_id?: string;
    metadata?: Record<string, string | number | boolean>;
    reasoning?: string;
}

interface Case {
    name: string;
    messages: object[];
    system?: string | null;
    expected?: ContractMessage[];
    error?: { field: string; problem: string };
    stable_prefix_count?: number;
    openai_messages?: unknown;
    openai_input?: unknown;
    anthropic_messages?: unknown;
}

const FILE = new URL("../../../scenarios/conversion.json", import.meta.url);
const TABLE = JSON.parse(readFileSync(FILE, "utf8")) as Record<string, Case[]>;

function cases(list: string, run: (given: Case) => void): void {
    const found = TABLE[list] ?? [];
    assert.ok(found.length > 0, list);
    for (const given of found) test(`${list}: ${given.name}`, () => run(given));
}

function verify(given: Case, convert: () => MessageInput[]): void {
    if (given.error === undefined) {
        assert.deepEqual(convert().map(comparable), given.expected?.map(plainMessage).map(comparable));
        return;
    }
    const { field, problem } = given.error;
    const isExpected = (error: unknown): boolean => {
        assert.ok(error instanceof ConversionError, String(error));
        assert.deepEqual({ field: error.field, problem: error.problem }, { field, problem });
        return error.message === `${field}: ${problem}`;
    };
    assert.throws(convert, isExpected);
}

/** A message of the table as a request has it. */
function plainMessage(message: ContractMessage): MessageInput {
    return {
        role: message.role.replace("ROLE_", "").toLowerCase() as MessageInput["role"],
        content: message.content,
        name: message.name,
        toolCalls: message.tool_calls?.map(({ id, name, arguments_json }) => ({
            id,
            name,
            argumentsJson: arguments_json ?? "",
        })),
        toolCallId: message.tool_call_id,
        metadata: message.metadata,
        reasoning: message.reasoning,
    };
}

/** A message as it is sent and read, with the arguments of calls as values. */
function comparable(message: MessageInput): unknown {
    const { toolCalls, ...rest } = readMessage(message);
    return { ...rest, toolCalls: toolCalls.map((call) => ({ ...call, argumentsJson: parsed(call.argumentsJson) })) };
}

function readMessage(message: MessageInput): Message {
    return plainOf(MessageSchema, messageOf(MessageSchema, message)) as unknown as Message;
}

function parsed(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return text;
    }
}

function contextOf(messages: MessageInput[], stablePrefixCount = 0): Context {
    return { messages: messages.map(readMessage), stablePrefixCount };
}

cases("messages_from_openai", (given) => verify(given, () => messagesFromOpenAI(given.messages)));

cases("messages_from_anthropic", (given) => verify(given, () => messagesFromAnthropic(given.messages, given.system)));

cases("contexts", (given) => {
    const messages = (given.messages as ContractMessage[]).map(plainMessage);
    const context = contextOf(messages, given.stable_prefix_count);
    const before = structuredClone(context);
    assert.deepEqual(openAIMessages(context), given.openai_messages);
    assert.deepEqual(openAIInput(context), given.openai_input);
    assert.deepEqual(anthropicMessages(context), given.anthropic_messages);
    assert.deepEqual(context, before);
});

cases("openai_round_trips", (given) => {
    assert.deepEqual(openAIMessages(contextOf(messagesFromOpenAI(given.messages))), given.messages);
});

cases("anthropic_round_trips", (given) => {
    const request = anthropicMessages(contextOf(messagesFromAnthropic(given.messages)));
    assert.deepEqual(request, { system: [], messages: given.messages });
});

test("input of a call keeps the order of its keys", () => {
    const content = [{ type: "tool_use", id: "t1", name: "put", input: { b: 1, a: "ä" } }];
    const [message] = messagesFromAnthropic([{ role: "assistant", content }]);
    assert.equal(message?.toolCalls?.[0]?.argumentsJson, '{"b":1,"a":"ä"}');
});

test("input of a call that is no JSON is named", () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    for (const input of [circular, { big: 1n }, { most: Number.POSITIVE_INFINITY }]) {
        const content = [{ type: "tool_use", id: "t1", name: "put", input }];
        assert.throws(() => messagesFromAnthropic([{ role: "assistant", content }]), {
            name: "ConversionError",
            field: "messages[0].content[0].input",
        });
    }
});

test("names of JavaScript's own are no roles, types or fields", () => {
    for (const role of ["__proto__", "constructor", "toString"]) {
        assert.throws(() => messagesFromOpenAI([{ role, content: "Hi" }]), { field: "messages[0].role" });
        const [message] = messagesFromOpenAI([{ role: "user", content: [{ type: role }] }]);
        assert.equal(message?.content, `[${role}]`);
    }
    assert.throws(() => messagesFromOpenAI([{ role: "user", content: () => "Hi" }]), {
        problem: "a text or a list of parts is required, not a function",
    });
    assert.throws(() => messagesFromOpenAI(new Array<object>(1)), { field: "messages[0]" });
});

test("arguments that JavaScript cannot send as JSON are sent as text", () => {
    for (const argumentsJson of ["[".repeat(100_000), '{"n": [-1e999]}']) {
        const request = anthropicMessages(
            contextOf([{ role: "assistant", toolCalls: [{ id: "c1", name: "run", argumentsJson }] }]),
        );
        assert.deepEqual(Reflect.get(request.messages[1]?.content[0] ?? {}, "input"), { arguments: argumentsJson });
    }
});
