// The fields of a framework's message that the contract lacks, stored as text in the message's metadata and restored on
// read. Text, because metadata is limited in depth and to JSON. Values that the contract's own fields hold are stored
// as pointers.

import { isDeepStrictEqual } from "node:util";
import type { Message, ToolCall } from "../gen/types.js";

/** Placeholder for an empty content that the contract rejects. */
export const EMPTY = "(empty)";
const MAX_POINTER_BYTES = 256;
// The key that marks an encoded value.
const MARK = "$";

type Place = "content" | "reasoning" | "arguments" | "json";

/** The position of a value in the stored message: a span of a text, or the number of a tool call. */
export class Pointer {
    readonly place: Place;
    readonly at: number;
    readonly length: number;

    constructor(place: Place, at = 0, length = 0) {
        this.place = place;
        this.at = at;
        this.length = length;
    }
}

/** Several texts joined to one field, one line each. */
export class Joined {
    readonly #place: Place;
    readonly #texts: string[] = [];
    #length = 0;

    constructor(place: "content" | "reasoning") {
        this.#place = place;
    }

    /** Appends a text and returns a pointer to it, or the text itself if the field cannot hold it unchanged. */
    put(text: string): Pointer | string {
        if (text === "") return text;
        const at = this.#length === 0 ? 0 : this.#length + 1;
        const held = text.toWellFormed();
        this.#texts.push(held);
        this.#length = at + held.length;
        return held === text ? new Pointer(this.#place, at, text.length) : text;
    }

    get text(): string {
        return this.#texts.join("\n");
    }
}

/** The tool calls of a message. Arguments are text, and become pointers if that is lossless. */
export class Calls {
    readonly calls: ToolCall[] = [];

    put(id: string | undefined, name: string, given: unknown): unknown {
        const argumentsJson = JSON.stringify(given) ?? "";
        const at = this.calls.length;
        this.calls.push({ id: fitting(id) ?? `call-${at}`, name: fitting(name) ?? "unnamed", argumentsJson });
        return isJson(given) ? new Pointer("arguments", at) : given;
    }
}

/** Whether a value survives a round trip through JSON. */
export function isJson(value: unknown): boolean {
    const text = JSON.stringify(value);
    return text !== undefined && isDeepStrictEqual(JSON.parse(text), value);
}

/** Returns a valid id or name, else undefined. */
export function fitting(text: string | undefined): string | undefined {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what the contract excludes
    const wrong = !text || /[\u0000-\u001f\u007f-\u009f]/.test(text) || !text.isWellFormed();
    return wrong || Buffer.byteLength(text) > MAX_POINTER_BYTES ? undefined : text;
}

/** Throws TypeError for a value that cannot be stored: a function, a Map, a Promise. */
export function written(value: unknown): string {
    return JSON.stringify(noted(value));
}

/** Restores a value with its pointers. Reasoning that a context omits is undefined. */
export function read(text: string, message: Message): unknown {
    return unnoted(JSON.parse(text), message);
}

function noted(value: unknown): unknown {
    switch (typeof value) {
        case "string":
        case "boolean":
            return value;
        case "number":
            return Number.isFinite(value) && !Object.is(value, -0)
                ? value
                : note("number", Object.is(value, -0) ? "-0" : `${value}`);
        case "bigint":
            return note("bigint", `${value}`);
        case "undefined":
            return note("undefined");
        case "object":
            return value === null ? null : notedObject(value);
        default:
            throw new TypeError(`a ${typeof value} cannot be kept in a message`);
    }
}

function notedObject(value: object): unknown {
    if (Array.isArray(value)) return value.map(noted);
    if (value instanceof Pointer) return { [MARK]: value.place, at: value.at, length: value.length };
    if (Buffer.isBuffer(value)) return note("Buffer", value.toString("base64"));
    if (value instanceof Uint8Array) return note("Uint8Array", Buffer.from(value).toString("base64"));
    if (value instanceof ArrayBuffer) return note("ArrayBuffer", Buffer.from(value).toString("base64"));
    if (value instanceof URL) return note("URL", value.href);
    if (value instanceof Date) return note("Date", value.toISOString());
    if (Object.prototype.toString.call(value) !== "[object Object]") {
        throw new TypeError(`a ${value.constructor.name} cannot be kept in a message`);
    }
    const fields = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, noted(item)]));
    return MARK in fields ? note("object", fields) : fields;
}

function note(kind: string, value?: unknown): object {
    return { [MARK]: kind, value };
}

function unnoted(value: unknown, message: Message): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => unnoted(item, message));
    if (MARK in value) return meant(value as Note, message);
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, unnoted(item, message)]));
}

interface Note {
    readonly [MARK]: string;
    readonly value?: unknown;
    readonly at: number;
    readonly length: number;
}

function meant({ [MARK]: kind, value, at, length }: Note, message: Message): unknown {
    switch (kind) {
        case "content":
            return message.content.slice(at, at + length);
        case "reasoning":
            return message.reasoning === "" ? undefined : message.reasoning.slice(at, at + length);
        case "arguments":
            return JSON.parse(message.toolCalls[at]?.argumentsJson ?? "null");
        case "json":
            // A shortened result is no longer JSON.
            return message.synthetic ? message.content : JSON.parse(message.content);
        case "number":
            return Number(value);
        case "bigint":
            return BigInt(value as string);
        case "Buffer":
            return Buffer.from(value as string, "base64");
        case "Uint8Array":
            return Uint8Array.from(Buffer.from(value as string, "base64"));
        case "ArrayBuffer":
            return Uint8Array.from(Buffer.from(value as string, "base64")).buffer;
        case "URL":
            return new URL(value as string);
        case "Date":
            return new Date(value as string);
        case "object":
            return Object.fromEntries(
                Object.entries(value as object).map(([name, item]) => [name, unnoted(item, message)]),
            );
        default:
            return undefined;
    }
}
