// Brings the messages of a context into the order that providers require.
//
// The sidecar keeps messages in the order of their arrival. Providers are stricter: results directly follow the message
// with the calls, each call has one result, and ids do not repeat. So a late result moves up to its call, a call without
// a result gets NO_RESULT, a result without a call becomes a user message, and an id that is repeated, too long or
// contains special characters is replaced, in call and result alike.

import type { BuildContextResponse, Message, ToolCall } from "../gen/types.js";
import { IS_ERROR } from "./values.js";

export const NO_RESULT = "[no result was recorded]";
const MAX_ID_CHARS = 40;
const MAX_NAME_CHARS = 64;

/** What a conversion needs of a context. */
export type Context = Pick<BuildContextResponse, "messages" | "stablePrefixCount">;

export interface Call {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
    result: string;
    isError: boolean;
}

/** One message with its calls. `stable`: it belongs to the prefix that stays the same in the next turn. */
export interface Step {
    readonly role: "system" | "user" | "assistant";
    readonly text: string;
    readonly stable: boolean;
    readonly calls: readonly Call[];
}

export function stepsOf(context: Context): Step[] {
    const steps: Step[] = [];
    const open = new Map<string, Call[]>();
    const ids = new Set<string>();
    for (const [at, message] of context.messages.entries()) {
        const stable = at < context.stablePrefixCount;
        if (message.role !== "tool") {
            const calls = message.toolCalls.map((given) => {
                const call = callOf(given, ids);
                const others = open.get(given.id);
                if (others) others.push(call);
                else open.set(given.id, [call]);
                return call;
            });
            steps.push({ role: roleOf(message), text: textOf(message), stable, calls });
            continue;
        }
        const answered = open.get(message.toolCallId)?.pop();
        if (answered) {
            answered.result = message.content;
            answered.isError = message.metadata?.[IS_ERROR] === true;
        } else {
            steps.push({ role: "user", text: `Result of a tool: ${message.content}`, stable, calls: [] });
        }
    }
    return steps;
}

/** A role that a later contract adds is sent as the user's. */
function roleOf(message: Message): Step["role"] {
    return message.role === "system" || message.role === "assistant" ? message.role : "user";
}

/** The text with the speaker's name, because most providers have no field for it. */
function textOf(message: Message): string {
    const isNamed = message.name !== "" && roleOf(message) === "user";
    return isNamed ? `${message.name}: ${message.content}` : message.content;
}

function callOf(given: ToolCall, ids: Set<string>): Call {
    return {
        id: uniqueId(given.id, ids),
        name: plain(given.name, MAX_NAME_CHARS) || "tool",
        arguments: given.argumentsJson.trim() === "" ? "{}" : given.argumentsJson,
        result: NO_RESULT,
        isError: false,
    };
}

function uniqueId(id: string, ids: Set<string>): string {
    const base = plain(id, MAX_ID_CHARS) || "call";
    let unique = base;
    for (let number = 2; ids.has(unique); number++) {
        const suffix = `_${number}`;
        unique = base.slice(0, MAX_ID_CHARS - suffix.length) + suffix;
    }
    ids.add(unique);
    return unique;
}

/** The text in the characters that all providers accept. */
function plain(text: string, maxChars: number): string {
    return text.replace(/[^a-zA-Z0-9_-]/gu, "_").slice(0, maxChars);
}
