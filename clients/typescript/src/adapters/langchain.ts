/**
 * Histories of LangChain.js in memsidecar. Messages are returned unchanged: their class, ids, names, content blocks,
 * tool calls, artifacts and whatever else they carry.
 *
 * @packageDocumentation
 */

import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import {
    AIMessage,
    AIMessageChunk,
    type BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
} from "@langchain/core/messages";
import type { Client } from "../client.js";
import type { BuildContextRequest, Message, MessageInput, Role } from "../gen/types.js";
import { type Checks, isClient, isString, knownOptions } from "../options.js";
import { Calls, EMPTY, fitting, Joined, read, written } from "./extra-fields.js";
import { addIdempotently } from "./idempotent-add.js";

const KEY = "langchain";

type Fields = Record<string, unknown>;
type MessageClass = new (fields: never) => BaseMessage;

const CLASSES: Readonly<Record<string, MessageClass>> = {
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
};

// A Map, because a role may be any text, also "__proto__" and "constructor".
const ROLES: ReadonlyMap<string, Role> = new Map([
    ["human", "user"],
    ["user", "user"],
    ["ai", "assistant"],
    ["assistant", "assistant"],
    ["system", "system"],
    ["developer", "system"],
    ["tool", "tool"],
    ["function", "tool"],
]);

/** Identifies a conversation. */
export interface HistoryOptions {
    /** The client. The history does not close it. */
    client: Client;
    /** The session; the first message creates it. */
    sessionId: string;
    /** The owner of the session. */
    userId?: string | undefined;
    /** The namespace of the session; "default" by default. */
    namespace?: string | undefined;
}

const CHECKS: Checks<HistoryOptions> = { client: isClient, sessionId: isString, userId: isString, namespace: isString };

/**
 * The messages of one session, for RunnableWithMessageHistory and whatever else takes a history. Those that were pruned
 * are not among them.
 *
 * A message that has an id is stored under it: adding it again changes nothing, and another message with the same id is
 * refused with IdConflict. A message without one is another message each time that it is added, but after an error:
 * then the same messages can be added again, and none is stored twice.
 */
export class MemsidecarChatMessageHistory extends BaseListChatMessageHistory {
    /** @internal */
    lc_namespace = ["memsidecar_client", "langchain"];
    readonly #client: Client;
    readonly #owner: { sessionId: string; userId: string | undefined; namespace: string | undefined };

    /** Throws TypeError where the client or the session is not given. */
    constructor(options: HistoryOptions) {
        super();
        const { client, sessionId, userId, namespace } = knownOptions(options, CHECKS, "client", "sessionId");
        this.#client = client;
        this.#owner = { sessionId, userId, namespace };
    }

    /** Returns the messages of the session's window, oldest first. */
    override async getMessages(): Promise<BaseMessage[]> {
        const found: BaseMessage[] = [];
        for await (const message of this.#client.messages(this.#owner)) found.push(toLangChain(message));
        return found;
    }

    /** Adds one message. When the promise resolves, the message is on disk. */
    override async addMessage(message: BaseMessage): Promise<void> {
        await this.addMessages([message]);
    }

    /** Adds messages atomically. After an error they can be added again. */
    override async addMessages(messages: BaseMessage[]): Promise<void> {
        if (messages.length === 0) return;
        const drafts = messages
            .map(fromLangChain)
            .map((message) => ({ same: JSON.stringify(message), messages: [message] }));
        await addIdempotently(this.#client, this.#owner, drafts);
    }

    /** Erases the session's messages. */
    override async clear(): Promise<void> {
        await this.#client.clear(this.#owner);
    }

    /** Returns the context for the model: the conversation within a budget, with facts and retrieved messages. */
    async context(
        request: Omit<BuildContextRequest, "sessionId" | "userId" | "namespace"> = {},
    ): Promise<BaseMessage[]> {
        const { messages } = await this.#client.buildContext({ ...this.#owner, ...request });
        return messages.map(toLangChain);
    }
}

/**
 * Converts a LangChain message to a message to store. Throws TypeError for values that cannot be stored, such as a
 * function in an artifact.
 */
export function fromLangChain(message: BaseMessage): MessageInput {
    const fields = fieldsOf(message);
    const role = roleOf(message);
    const [content, reasoning, calls] = [new Joined("content"), new Joined("reasoning"), new Calls()];
    const kept: Fields = { ...fields, content: keptContent(fields["content"], content, reasoning) };
    if (role === "assistant") kept["tool_calls"] = keptCalls(fields["tool_calls"], calls);
    return {
        id: fitting(message.id),
        role,
        content: content.text || (calls.calls.length > 0 ? "" : EMPTY),
        reasoning: reasoning.text,
        name: fitting(message.name),
        toolCalls: calls.calls,
        toolCallId: role === "tool" ? fitting(fields["tool_call_id"] as string | undefined) : undefined,
        metadata: { [KEY]: written({ class: classOf(message), fields: kept }) },
    };
}

/** Converts a stored message to a LangChain message. */
export function toLangChain(message: Message): BaseMessage {
    return restored(message) ?? translated(message);
}

/** Undefined if another program wrote the key. */
function restored(message: Message): BaseMessage | undefined {
    const text = message.metadata?.[KEY];
    if (typeof text !== "string") return undefined;
    try {
        const { class: made, fields } = keptOf(text, message);
        // Constructors change their arguments; this is the state of the message.
        return Object.assign(new made(fields as never), keptOf(text, message).fields);
    } catch {
        return undefined;
    }
}

function keptOf(text: string, message: Message): { class: MessageClass; fields: Fields } {
    const { class: name, fields } = read(text, message) as { class: string; fields: Fields };
    const made = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined;
    if (message.synthetic) fields["content"] = message.content;
    const { content, tool_calls: calls = [] } = fields;
    if (!made || !(typeof content === "string" || Array.isArray(content)) || !Array.isArray(calls)) {
        throw new TypeError("this is no message of LangChain");
    }
    return { class: made, fields: Array.isArray(content) ? { ...fields, content: content.filter(isThere) } : fields };
}

/** Reasoning that a context omits is omitted as a whole block. */
function isThere(block: unknown): boolean {
    const { type, ...rest } = block as Fields;
    if (type === "reasoning") return !("reasoning" in rest) || rest["reasoning"] !== undefined;
    return type !== "thinking" || !("thinking" in rest) || rest["thinking"] !== undefined;
}

function classOf(message: BaseMessage): string {
    const name = (message.constructor as unknown as { lc_name(): string }).lc_name();
    if (!Object.hasOwn(CLASSES, name)) throw new TypeError(`a ${name} is no message to store`);
    return name;
}

function roleOf(message: BaseMessage): Role {
    const type = message.type as string;
    return ROLES.get(type === "generic" ? String((message as ChatMessage).role).toLowerCase() : type) ?? "user";
}

/** The fields of the message, without those that LangChain's classes add. */
function fieldsOf(message: BaseMessage): Fields {
    const given = Object.entries(message).filter(([name]) => name !== "type" && !name.startsWith("lc_"));
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function keptContent(given: unknown, content: Joined, reasoning: Joined): unknown {
    if (typeof given === "string") return content.put(given);
    return Array.isArray(given) ? given.map((block) => keptBlock(block, content, reasoning)) : given;
}

function keptBlock(block: Fields, content: Joined, reasoning: Joined): unknown {
    const { type, text, reasoning: thought, thinking } = block;
    if (type === "text" && typeof text === "string") return { ...block, text: content.put(text) };
    if (type === "reasoning" && typeof thought === "string") return { ...block, reasoning: reasoning.put(thought) };
    if (type === "thinking" && typeof thinking === "string") return { ...block, thinking: reasoning.put(thinking) };
    return block;
}

function keptCalls(given: unknown, calls: Calls): unknown {
    if (!Array.isArray(given)) return given;
    return (given as Array<{ id?: string; name: string; args: unknown }>).map((call) => ({
        ...call,
        args: calls.put(call.id, call.name, call.args),
    }));
}

/** Converts a message of another program by the contract's own fields. */
function translated(message: Message): BaseMessage {
    const fields = {
        content: message.content,
        ...(message.id && { id: message.id }),
        ...(message.name && { name: message.name }),
        ...(message.reasoning && { additional_kwargs: { reasoning_content: message.reasoning } }),
    };
    switch (message.role) {
        case "system":
            return new SystemMessage(fields);
        case "assistant":
            return new AIMessage({ ...fields, ...translatedCalls(message) });
        case "tool":
            return new ToolMessage({ ...fields, tool_call_id: message.toolCallId });
        default:
            return new HumanMessage(fields);
    }
}

/** Arguments are stored as the model wrote them, valid JSON or not. */
function translatedCalls({ toolCalls }: Message): Pick<AIMessage, "tool_calls" | "invalid_tool_calls"> {
    const [valid, invalid]: [NonNullable<AIMessage["tool_calls"]>, NonNullable<AIMessage["invalid_tool_calls"]>] = [
        [],
        [],
    ];
    for (const { id, name, argumentsJson } of toolCalls) {
        try {
            valid.push({ id, name, args: JSON.parse(argumentsJson || "{}"), type: "tool_call" });
        } catch (error) {
            invalid.push({ id, name, args: argumentsJson, error: String(error), type: "invalid_tool_call" });
        }
    }
    return { tool_calls: valid, invalid_tool_calls: invalid };
}
