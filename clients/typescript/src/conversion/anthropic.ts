// Messages of Anthropic's Messages API, as plain objects.

import type { MessageInput, Role, ToolCallInput } from "../gen/types.js";
import { type Call, type Context, stepsOf } from "./exchanges.js";
import {
    checkDistinct,
    EMPTY,
    IS_ERROR,
    joined,
    objectOf,
    type Piece,
    placeholder,
    textPiece,
    Value,
} from "./values.js";

/** The first user message, which the API requires. */
const BEGINNING = "(The conversation begins.)";
const ROLES = ["user", "assistant", "system"] as const;

/** Blocks of one role only. */
const OWNERS: ReadonlyMap<string, string> = new Map([
    ["tool_use", "assistant"],
    ["thinking", "assistant"],
    ["redacted_thinking", "assistant"],
    ["tool_result", "user"],
]);

interface Cached {
    cache_control?: { type: "ephemeral" };
}

/** A text block of the Messages API. */
export interface AnthropicTextBlock extends Cached {
    type: "text";
    text: string;
}

/** A block of a message of the Messages API. */
export type AnthropicBlock =
    | AnthropicTextBlock
    | ({ type: "tool_use"; id: string; name: string; input: Record<string, unknown> } & Cached)
    | ({ type: "tool_result"; tool_use_id: string; content: string; is_error?: boolean } & Cached);

/** A message of the Messages API. */
export interface AnthropicMessage {
    role: "user" | "assistant";
    content: AnthropicBlock[];
}

/** The part of a request to the Messages API that a context fills. */
export interface AnthropicRequest {
    system: AnthropicTextBlock[];
    messages: AnthropicMessage[];
}

/**
 * Returns messages to add; `system`, if any, becomes the first.
 *
 * Each tool result becomes a message of its own; `is_error` is in its metadata. Thinking becomes the reasoning without
 * its signature, redacted thinking is left out. Blocks other than text are stored as their type: `[image]`. A message
 * without text is stored as `[empty]`.
 *
 * @throws ConversionError for what is not of the format
 */
export function messagesFromAnthropic(
    messages: readonly object[],
    system?: string | readonly object[] | null,
): MessageInput[] {
    const instructions = new Value(system, "system");
    const text = instructions.isNull ? "" : textOf(instructions);
    const first: MessageInput[] = text === "" ? [] : [{ role: "system", content: text }];
    return [...first, ...new Value(messages, "messages").items().flatMap(messagesOf)];
}

/**
 * Returns `system` and `messages`, with a cache breakpoint after each stable part.
 *
 * The stable system message becomes `system`. Retrieved memory, also a system message, becomes a text block of the newest
 * user message: not every model accepts system messages elsewhere, and `system` stays the same for the cache.
 */
export function anthropicMessages(context: Context): AnthropicRequest {
    const system: AnthropicTextBlock[] = [];
    const messages: AnthropicMessage[] = [];
    let lastStable: AnthropicBlock | undefined;
    for (const { role, text, stable, calls } of stepsOf(context)) {
        const said: AnthropicTextBlock[] = text.trim() === "" ? [] : [{ type: "text", text }];
        if (role === "system" && stable) {
            system.push(...said);
            continue;
        }
        append(messages, role === "assistant" ? "assistant" : "user", said);
        append(messages, "assistant", calls.map(useOf));
        // All results of parallel calls are in one message, before any text.
        append(messages, "user", calls.map(resultOf));
        if (stable) lastStable = messages.at(-1)?.content.at(-1);
    }
    for (const block of [system.at(-1), lastStable]) {
        if (block) block.cache_control = { type: "ephemeral" };
    }
    if (messages[0] && messages[0].role !== "user") {
        messages.unshift({ role: "user", content: [{ type: "text", text: BEGINNING }] });
    }
    return { system, messages };
}

/** Appends blocks; roles must alternate, so blocks of the same role join the last message. */
function append(messages: AnthropicMessage[], role: AnthropicMessage["role"], blocks: AnthropicBlock[]): void {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) messages.push({ role, content: blocks });
}

function useOf(call: Call): AnthropicBlock {
    return { type: "tool_use", id: call.id, name: call.name, input: objectOf(call.arguments, "arguments") };
}

function resultOf(call: Call): AnthropicBlock {
    const block = { type: "tool_result", tool_use_id: call.id, content: call.result } as const;
    return call.isError ? { ...block, is_error: true } : block;
}

function messagesOf(value: Value): MessageInput[] {
    const role = value.field("role").oneOf(ROLES);
    const content = value.field("content");
    if (!content.isList) return [{ role, content: textOf(content) || EMPTY }];
    return role === "assistant" ? [assistantOf(content)] : resultsAndTexts(content, role);
}

function assistantOf(content: Value): MessageInput {
    const calls: Value[] = [];
    const pieces: Piece[] = [];
    const thoughts: Piece[] = [];
    for (const block of content.items()) {
        const kind = kindOf(block, "assistant");
        if (kind === "tool_use") calls.push(block);
        else if (kind === "thinking") thoughts.push(textPiece(block.field("thinking").text()));
        else if (kind !== "redacted_thinking") pieces.push(pieceOf(block, kind));
    }
    const toolCalls = calls.map(callOf);
    checkDistinct(calls);
    const text = joined(pieces, true);
    const reasoning = joined(thoughts, false);
    return {
        role: "assistant",
        ...(text === "" && toolCalls.length > 0 ? {} : { content: text || EMPTY }),
        ...(toolCalls.length > 0 ? { toolCalls } : {}),
        ...(reasoning === "" ? {} : { reasoning }),
    };
}

/** Returns the messages in the order of the blocks; texts between results are one message. */
function resultsAndTexts(content: Value, role: Role): MessageInput[] {
    const messages: MessageInput[] = [];
    let pieces: Piece[] = [];
    const flush = () => {
        const text = joined(pieces, false);
        if (text !== "") messages.push({ role, content: text });
        pieces = [];
    };
    for (const block of content.items()) {
        const kind = kindOf(block, role);
        if (kind === "tool_result") {
            flush();
            messages.push(toolMessageOf(block));
        } else {
            pieces.push(pieceOf(block, kind));
        }
    }
    flush();
    return messages.length > 0 ? messages : [{ role, content: EMPTY }];
}

function toolMessageOf(block: Value): MessageInput {
    const content = block.field("content");
    const isError = block.field("is_error");
    if (!isError.isNull && typeof isError.value !== "boolean") throw isError.wrong("a boolean");
    return {
        role: "tool",
        toolCallId: block.field("tool_use_id").filledText(),
        content: (content.isNull ? "" : textOf(content)) || EMPTY,
        ...(isError.value === true ? { metadata: { [IS_ERROR]: true } } : {}),
    };
}

function callOf(block: Value): ToolCallInput {
    const input = block.field("input");
    if (!input.isNull && !input.isObject) throw input.wrong("an object");
    const id = block.field("id").filledText();
    return { id, name: block.field("name").filledText(), argumentsJson: input.isNull ? "{}" : input.json() };
}

/** Returns the text of a content without tools. */
function textOf(content: Value): string {
    if (content.isList)
        return joined(
            content.items().map((block) => pieceOf(block, kindOf(block, ""))),
            false,
        );
    if (content.isText) return content.text();
    throw content.wrong("a text or a list of blocks");
}

function kindOf(block: Value, role: string): string {
    const kind = block.field("type").filledText();
    const owner = OWNERS.get(kind) ?? role;
    if (owner !== role) throw block.field("type").error(`"${kind}" is only for the role ${owner}`);
    return kind;
}

function pieceOf(block: Value, kind: string): Piece {
    return kind === "text" ? textPiece(block.field("text").text()) : placeholder(kind);
}
