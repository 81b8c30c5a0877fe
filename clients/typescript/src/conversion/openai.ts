// Messages of OpenAI's chat completions and input items of its Responses API, as plain objects.

import type { MessageInput, Role, ToolCallInput } from "../gen/types.js";
import { type Context, stepsOf } from "./exchanges.js";
import { checkDistinct, EMPTY, joined, type Piece, placeholder, textPiece, Value } from "./values.js";

const ROLES: ReadonlyMap<string, Role> = new Map([
    ["system", "system"],
    ["developer", "system"],
    ["user", "user"],
    ["assistant", "assistant"],
    ["tool", "tool"],
]);

/** Parts that are text, and the key of their text. */
const TEXTS: ReadonlyMap<string, string> = new Map([
    ["text", "text"],
    ["input_text", "text"],
    ["output_text", "text"],
    ["refusal", "refusal"],
]);

/** A tool call in a message of chat completions. */
export interface OpenAIToolCall {
    id: string;
    type: "function";
    function: { name: string; arguments: string };
}

/** A message of chat completions. */
export type OpenAIMessage =
    | { role: "system" | "user"; content: string }
    | { role: "assistant"; content: string | null; tool_calls?: OpenAIToolCall[] }
    | { role: "tool"; tool_call_id: string; content: string };

/** An input item of the Responses API. */
export type OpenAIInputItem =
    | { role: "system" | "user" | "assistant"; content: string }
    | { type: "function_call"; call_id: string; name: string; arguments: string }
    | { type: "function_call_output"; call_id: string; output: string };

/**
 * Returns messages to add, one for each message of chat completions.
 *
 * `developer` is stored as system. Parts other than text are stored as their type: `[image_url]`. A message without text
 * is stored as `[empty]`. The text of `reasoning_content` or `reasoning` becomes the reasoning. The deprecated role
 * `function` and `function_call` are errors, as is everything that is not of the format.
 *
 * @throws ConversionError
 */
export function messagesFromOpenAI(messages: readonly object[]): MessageInput[] {
    return new Value(messages, "messages").items().map(messageOf);
}

/** Returns `messages` of chat completions. */
export function openAIMessages(context: Context): OpenAIMessage[] {
    return stepsOf(context).flatMap(({ role, text, calls }): OpenAIMessage[] => {
        if (role !== "assistant" && calls.length === 0) return [{ role, content: text }];
        if (calls.length === 0) return [{ role: "assistant", content: text }];
        const tool_calls = calls.map(
            (call): OpenAIToolCall => ({
                id: call.id,
                type: "function",
                function: { name: call.name, arguments: call.arguments },
            }),
        );
        return [
            { role: "assistant", content: text || null, tool_calls },
            ...calls.map((call): OpenAIMessage => ({ role: "tool", tool_call_id: call.id, content: call.result })),
        ];
    });
}

/** Returns `input` of the Responses API, in which calls and results are separate items. */
export function openAIInput(context: Context): OpenAIInputItem[] {
    return stepsOf(context).flatMap(({ role, text, calls }): OpenAIInputItem[] => [
        ...(text === "" ? [] : [{ role, content: text }]),
        ...calls.map(
            (call): OpenAIInputItem => ({
                type: "function_call",
                call_id: call.id,
                name: call.name,
                arguments: call.arguments,
            }),
        ),
        ...calls.map(
            (call): OpenAIInputItem => ({ type: "function_call_output", call_id: call.id, output: call.result }),
        ),
    ]);
}

function messageOf(value: Value): MessageInput {
    const role = ROLES.get(value.field("role").oneOf([...ROLES.keys()])) ?? "user";
    const name = value.field("name").optionalText();
    let content = contentOf(value.field("content"), role);
    const message: MessageInput = { role };
    if (name !== "") message.name = name;
    const calls = value.field("tool_calls");
    if (role === "assistant") {
        if (!value.field("function_call").isNull) {
            throw value.field("function_call").error("function_call is not supported; use tool_calls");
        }
        content ||= value.field("refusal").optionalText() || audioOf(value.field("audio"));
        const reasoning = reasoningOf(value);
        if (reasoning !== "") message.reasoning = reasoning;
        if (!calls.isNull && calls.items().length > 0) {
            message.toolCalls = calls.items().map(callOf);
            checkDistinct(calls.items());
        }
    } else if (!calls.isNull && !(calls.isList && calls.items().length === 0)) {
        throw calls.error("only an assistant message has tool calls");
    }
    if (role === "tool") message.toolCallId = value.field("tool_call_id").filledText();
    if (content !== "" || message.toolCalls === undefined) message.content = content || EMPTY;
    return message;
}

function contentOf(value: Value, role: Role): string {
    if (value.isList) return joined(value.items().map(pieceOf), role === "assistant");
    if (value.isText || (value.isNull && role === "assistant")) return value.optionalText();
    throw value.wrong("a text or a list of parts");
}

function pieceOf(part: Value): Piece {
    const kind = part.field("type").filledText();
    const key = TEXTS.get(kind);
    return key === undefined ? placeholder(kind) : textPiece(part.field(key).text());
}

/** Returns what was said in an audio answer. */
function audioOf(value: Value): string {
    return value.isNull ? "" : value.field("transcript").optionalText() || placeholder("audio").text;
}

function reasoningOf(value: Value): string {
    const thoughts = ["reasoning_content", "reasoning"].map((key) => value.field(key));
    return thoughts.find((thought) => thought.isText && thought.value !== "")?.text() ?? "";
}

function callOf(value: Value): ToolCallInput {
    const id = value.field("id").filledText();
    const kind = value.field("type").isNull ? "function" : value.field("type").oneOf(["function", "custom"] as const);
    const called = value.field(kind);
    const argumentsJson = called.field(kind === "function" ? "arguments" : "input").optionalText();
    return { id, name: called.field("name").filledText(), argumentsJson };
}
