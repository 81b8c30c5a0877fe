/**
 * Conversations of the Vercel AI SDK in memsidecar. Messages are returned unchanged: parts, tool calls and results,
 * files, reasoning and provider options.
 *
 * @packageDocumentation
 */

import type { ModelMessage, SystemModelMessage, UIMessage } from "ai";
import type { Client } from "../client.js";
import type { BuildContextRequest, BuildContextResponse, JsonObject, Message, MessageInput } from "../gen/types.js";
import { newId } from "../ids.js";
import { type Checks, isClient, isString, knownOptions } from "../options.js";
import { Calls, EMPTY, fitting, isJson, Joined, Pointer, read, written } from "./extra-fields.js";
import { addIdempotently } from "./idempotent-add.js";

const KEY = "ai_sdk";

type Fields = Record<string, unknown>;
type Part = Fields & { type: string };
type ProviderOptions = NonNullable<SystemModelMessage["providerOptions"]>;

/** Identifies a conversation. */
export interface Owner {
    /** The session; the first message creates it. */
    sessionId: string;
    /** The owner of the session. */
    userId?: string | undefined;
    /** The namespace of the session; "default" by default. */
    namespace?: string | undefined;
}

const CHECKS: Checks<Owner> = { sessionId: isString, userId: isString, namespace: isString };

/** A prompt for generateText and streamText. System messages between others are the sidecar's or your own. */
export interface Prompt {
    /** The start of the context: one text, or the messages if one has provider options. */
    system?: string | SystemModelMessage[];
    /** The other messages, in order. */
    messages: ModelMessage[];
    /** The content retrieved for a turn is in a system message directly before it. */
    allowSystemInMessages: true;
}

/**
 * What generateText and streamText give. From version 7 of the SDK on, `responseMessages` are those of all steps, and
 * `response` is that of the last one; before, all are in `response`.
 */
export interface Responded {
    readonly responseMessages?: readonly ModelMessage[] | PromiseLike<readonly ModelMessage[]>;
    readonly response: Response | PromiseLike<Response>;
}

interface Response {
    readonly messages: readonly ModelMessage[];
}

/**
 * One session.
 *
 * ```js
 * await conversation.add({ role: "user", content: question });
 * const result = await generateText({ model, tools, ...(await conversation.prompt()) });
 * await conversation.addResponse(result);
 * ```
 */
export class Conversation {
    readonly #client: Client;
    readonly #owner: Owner;

    /** Does not close the client. Throws TypeError without a client or a session. */
    constructor(client: Client, owner: Owner) {
        isClient(client, "client");
        this.#client = client;
        this.#owner = knownOptions(owner, CHECKS, "sessionId");
    }

    /**
     * Adds messages, all or nothing; when this resolves, they are on disk. After an error the same messages can be added
     * again, and none is stored twice; but for that, a message is another one each time that it is added.
     */
    async add(...messages: ModelMessage[]): Promise<void> {
        if (messages.length === 0) return;
        const drafts = messages.map((item) => ({ same: written(item), messages: fromModelMessages([item]) }));
        await addIdempotently(this.#client, this.#owner, drafts);
    }

    /** Adds all steps of a result of generateText or streamText. After an error it can be added again. */
    async addResponse(result: Responded): Promise<void> {
        await this.add(...((await result.responseMessages) ?? (await result.response).messages));
    }

    /** Returns the messages of the session's window, oldest first, without pruned ones. */
    async messages(): Promise<ModelMessage[]> {
        return toModelMessages(await this.#stored());
    }

    /** Returns the messages as initial messages of useChat. */
    async uiMessages(): Promise<UIMessage[]> {
        return toUIMessages(await this.#stored());
    }

    /**
     * Returns the context for the model: the conversation within a budget, with facts and retrieved messages. The
     * sidecar makes one message of the session's system messages, which has the provider options of all of them.
     */
    async prompt(request: Omit<BuildContextRequest, keyof Owner> = {}): Promise<Prompt> {
        const [context, options] = await Promise.all([
            this.#client.buildContext({ ...this.#owner, ...request }),
            request.systemPrompt ? undefined : this.#systemOptions(),
        ]);
        return promptOf(context, options);
    }

    /** Erases the session's messages. */
    async clear(): Promise<void> {
        await this.#client.clear(this.#owner);
    }

    /** Merges provider options; the newer value of a provider wins. */
    async #systemOptions(): Promise<ProviderOptions> {
        const { messages } = await this.#client.getByRole({ ...this.#owner, role: "system" });
        return Object.assign({}, ...toModelMessages(messages).map((message) => message.providerOptions));
    }

    async #stored(): Promise<Message[]> {
        const found: Message[] = [];
        for await (const message of this.#client.messages(this.#owner)) found.push(message);
        return found;
    }
}

/** Converts a context to a prompt for generateText and streamText; `options` apply to its first system message. */
export function promptOf(context: BuildContextResponse, options: ProviderOptions = {}): Prompt {
    const found = toModelMessages(context.messages);
    const leading = found.findIndex((message) => message.role !== "system");
    const messages = leading < 0 ? [] : found.slice(leading);
    const system = found.slice(0, found.length - messages.length) as SystemModelMessage[];
    if (system[0] && Object.keys(options).length > 0) {
        system[0].providerOptions = { ...system[0].providerOptions, ...options };
    }
    return { ...(system.length > 0 && { system: systemOf(system) }), messages, allowSystemInMessages: true };
}

/** Provider options belong to one message, such as caching. */
function systemOf(messages: SystemModelMessage[]): string | SystemModelMessage[] {
    if (messages.some((message) => message.providerOptions)) return messages;
    return messages.map((message) => message.content).join("\n\n");
}

// -- to the sidecar

/** Converts messages of the AI SDK to messages to store. A tool message with several results becomes several. */
export function fromModelMessages(messages: readonly ModelMessage[]): MessageInput[] {
    return messages.flatMap((message) =>
        message.role === "tool" ? storedResults(message as unknown as Fields) : [stored(message)],
    );
}

function stored(message: Exclude<ModelMessage, { role: "tool" }>): MessageInput {
    const [content, reasoning, calls] = [new Joined("content"), new Joined("reasoning"), new Calls()];
    const given = message.content as string | Part[];
    const kept =
        typeof given === "string"
            ? content.put(given)
            : given.map((part) => keptPart(part, content, reasoning, message.role === "assistant" ? calls : undefined));
    return {
        role: message.role,
        content: content.text || (calls.calls.length > 0 ? "" : EMPTY),
        reasoning: reasoning.text,
        toolCalls: calls.calls,
        metadata: metadataOf({ message: { ...message, content: kept } }),
    };
}

function keptPart(part: Part, content: Joined, reasoning: Joined, calls: Calls | undefined): Fields {
    if (part.type === "text") return { ...part, text: content.put(part["text"] as string) };
    if (part.type === "reasoning") return { ...part, text: reasoning.put(part["text"] as string) };
    if (part.type !== "tool-call" || !calls) return part;
    return { ...part, input: calls.put(part["toolCallId"] as string, part["toolName"] as string, part["input"]) };
}

/**
 * One message for each part, because a message of the contract has one result. `group` marks the parts of a message.
 */
function storedResults({ content, ...message }: Fields): MessageInput[] {
    const [group, parts] = [newId(), content as Part[]];
    if (parts.length === 0) return [{ role: "tool", content: EMPTY, metadata: metadataOf({ group, message }) }];
    return parts.map((part) => {
        const text = new Joined("content");
        const kept = part.type === "tool-result" ? { ...part, output: keptOutput(part["output"] as Part, text) } : part;
        return {
            role: "tool",
            content: text.text || EMPTY,
            toolCallId: fitting(part["toolCallId"] as string | undefined),
            name: fitting(part["toolName"] as string | undefined),
            metadata: metadataOf({ group, message, part: kept }),
        };
    });
}

/** The text that the model sees of a result is the message's content. */
function keptOutput(output: Part, content: Joined): Fields {
    const { type, value, reason } = output;
    if ((type === "text" || type === "error-text") && typeof value === "string") {
        return { ...output, value: content.put(value) };
    }
    if ((type === "json" || type === "error-json") && isJson(value)) {
        content.put(JSON.stringify(value));
        return { ...output, value: new Pointer("json") };
    }
    if (type === "content" && Array.isArray(value)) {
        return { ...output, value: (value as Part[]).map((part) => keptPart(part, content, content, undefined)) };
    }
    if (typeof reason === "string") return { ...output, reason: content.put(reason) };
    return output;
}

function metadataOf(kept: Kept): JsonObject {
    return { [KEY]: written(kept) };
}

// -- from the sidecar

interface Kept {
    /** Common to the parts of one tool message. */
    group?: string;
    /** The message; for a tool message, without its content. */
    message: object;
    /** The part of a tool message. */
    part?: Fields;
}

/** Converts stored messages to messages of the AI SDK. */
export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
    const found: ModelMessage[] = [];
    let open = "";
    for (const message of messages) {
        const kept = keptOf(message);
        const last = found.at(-1);
        if (kept?.group && kept.group === open && last?.role === "tool") {
            if (kept.part) (last.content as unknown[]).push(kept.part);
            continue;
        }
        open = kept?.group ?? "";
        found.push(kept ? restored(kept) : translated(message, messages));
    }
    return found;
}

/** Undefined if another program wrote the key. */
function keptOf(message: Message): Kept | undefined {
    const text = message.metadata?.[KEY];
    if (typeof text !== "string") return undefined;
    try {
        const kept = read(text, message);
        if (!isKept(kept)) return undefined;
        if (message.synthetic && kept.part) kept.part["output"] = { type: "text", value: message.content };
        return kept;
    } catch {
        return undefined;
    }
}

function isKept(kept: unknown): kept is Kept {
    const { group, message, part } = (kept ?? {}) as Fields;
    const { role, content } = (message ?? {}) as Fields;
    if (group !== undefined)
        return typeof group === "string" && role === "tool" && (part === undefined || isPart(part));
    if (typeof content === "string") return role === "system" || role === "user" || role === "assistant";
    return (role === "user" || role === "assistant") && Array.isArray(content) && content.every(isPart);
}

/** Reasoning that a context omits has no text. */
function isPart(part: unknown): boolean {
    const { type, text, output } = (part ?? {}) as Fields;
    if (type === "text") return typeof text === "string";
    if (type === "tool-result") return typeof ((output ?? {}) as Fields)["type"] === "string";
    return typeof type === "string";
}

function restored({ group, message, part }: Kept): ModelMessage {
    if (group) return { ...message, content: part ? [part] : [] } as unknown as ModelMessage;
    const { content } = message as { content: string | Part[] };
    if (typeof content === "string") return message as ModelMessage;
    // Reasoning that a context omits is omitted as a whole part.
    const there = content.filter((one) => one.type !== "reasoning" || one["text"] !== undefined);
    return { ...message, content: there } as ModelMessage;
}

/** Converts a message of another program by the contract's own fields. */
function translated(message: Message, all: readonly Message[]): ModelMessage {
    const { role, content } = message;
    if (role === "assistant") return { role, content: translatedParts(message) };
    if (role !== "tool") return { role: role === "system" ? "system" : "user", content };
    const calls = all.flatMap((item) => item.toolCalls);
    const toolName = message.name || calls.findLast((call) => call.id === message.toolCallId)?.name || "unknown";
    const output = { type: "text" as const, value: content };
    return { role, content: [{ type: "tool-result", toolCallId: message.toolCallId, toolName, output }] };
}

function translatedParts({
    content,
    reasoning,
    toolCalls,
}: Message): Extract<ModelMessage, { role: "assistant" }>["content"] {
    if (!reasoning && toolCalls.length === 0) return content;
    return [
        ...(reasoning ? [{ type: "reasoning" as const, text: reasoning }] : []),
        ...(content ? [{ type: "text" as const, text: content }] : []),
        ...toolCalls.map(({ id, name, argumentsJson }) => ({
            type: "tool-call" as const,
            toolCallId: id,
            toolName: name,
            input: inputOf(argumentsJson),
        })),
    ];
}

/** As the model wrote it, valid JSON or not. */
function inputOf(argumentsJson: string): unknown {
    try {
        return JSON.parse(argumentsJson || "{}");
    } catch {
        return argumentsJson;
    }
}

// -- for showing

/**
 * Stored messages for a user interface: one message for each that was said, with the calls of tools and their results.
 */
export function toUIMessages(messages: readonly Message[]): UIMessage[] {
    const found: UIMessage[] = [];
    const tools = new Map<string, Fields>();
    for (const message of messages) {
        const [item] = toModelMessages([message]);
        if (!item) continue;
        const parts: Part[] =
            typeof item.content === "string" ? [{ type: "text", text: item.content }] : (item.content as Part[]);
        if (item.role === "tool") {
            for (const part of parts) showResult(part, tools);
            continue;
        }
        const last = found.at(-1);
        const shown = parts.map((part) => shownPart(part, tools)).filter((part) => part !== undefined);
        const step = item.role === "assistant" ? [{ type: "step-start" }, ...shown] : shown;
        if (item.role === "assistant" && last?.role === "assistant") last.parts.push(...(step as UIMessage["parts"]));
        else found.push({ id: message.id || newId(), role: item.role, parts: step as UIMessage["parts"] });
    }
    return found;
}

function shownPart(part: Part, tools: Map<string, Fields>): Fields | undefined {
    switch (part.type) {
        case "text":
        case "reasoning":
            return { type: part.type, text: part["text"], state: "done" };
        case "image":
        case "file":
            return shownFile(part);
        case "tool-call": {
            const { toolCallId, toolName, input } = part;
            const shown = { type: `tool-${toolName}`, toolCallId, state: "input-available", input };
            tools.set(toolCallId as string, shown);
            return shown;
        }
        default:
            // A tool of the provider has its result within the message.
            showResult(part, tools);
            return undefined;
    }
}

function shownFile(part: Part): Fields | undefined {
    const data = part["data"] ?? part["image"];
    const known = typeof data === "string" || data instanceof URL || data instanceof Uint8Array;
    if (!known && !(data instanceof ArrayBuffer)) return undefined;
    const mediaType = (part["mediaType"] as string | undefined) ?? "image/*";
    const link = data instanceof URL || (typeof data === "string" && /^(https?|data):/.test(data));
    const url = link ? String(data) : `data:${mediaType};base64,${base64Of(data)}`;
    return { type: "file", mediaType, url, ...(part["filename"] !== undefined && { filename: part["filename"] }) };
}

function base64Of(data: unknown): string {
    return typeof data === "string" ? data : Buffer.from(data as Uint8Array).toString("base64");
}

function showResult(part: Part, tools: Map<string, Fields>): void {
    const shown = part.type === "tool-result" ? tools.get(part["toolCallId"] as string) : undefined;
    if (!shown) return;
    const { type, value, reason } = part["output"] as Part;
    if (type === "execution-denied") {
        Object.assign(shown, { state: "output-error", errorText: (reason as string | undefined) ?? "denied" });
    } else if (type.startsWith("error-")) {
        Object.assign(shown, {
            state: "output-error",
            errorText: type === "error-text" ? value : JSON.stringify(value),
        });
    } else {
        Object.assign(shown, { state: "output-available", output: value });
    }
}
