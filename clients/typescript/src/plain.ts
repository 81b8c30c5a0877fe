// Converts plain values to messages of protobuf and back. Plain values are values of JSON:
//
//   enumeration    its short name: "user" for ROLE_USER
//   64-bit number  number, and never a rounded one: what a number cannot hold exactly is a RangeError
//   Timestamp      RFC 3339 in UTC, with all its digits; a request also takes a Date
//   Struct         the object itself
//   oneof          its fields side by side, of which one is there
//
// Omitted and undefined fields of a request are not set; null is a value in a Struct only.

import type { DescEnum, DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { create, fromJson, ScalarType, toJson } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { TimestampSchema, timestampFromDate } from "@bufbuild/protobuf/wkt";

type Fields = Record<string, unknown>;
type ToPlain = (value: unknown) => unknown;
/** Throws for a value of a wrong type; `path` is its path in the request. */
type ToWire = (value: unknown, path: string) => unknown;

/** The conversions of one field; null if the read value is plain already. */
interface Way {
    readonly field: DescField;
    readonly toWire: ToWire;
    readonly toPlain: ToPlain | null;
}

const MAX_ENUM = 2 ** 31 - 1;
const LONG = new Set<ScalarType | undefined>([ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64]);

const ways = new WeakMap<DescMessage, Map<string, Way>>();

/**
 * Converts plain fields to a message. Throws TypeError for an unknown field, a wrong name, a value of another type or a
 * text that is not valid Unicode, and RangeError for a number that the field cannot hold, with the path. `path`
 * is the path of the message.
 */
export function messageOf(schema: DescMessage, plain: object, path = ""): Message {
    if (!isFields(plain)) throw wrong(plain, path || schema.name, "an object");
    const message = create(schema);
    const known = waysOf(schema);
    for (const name of Object.keys(plain)) {
        if (plain[name] === undefined) continue;
        const place = path ? `${path}.${name}` : name;
        put(message, known.get(name) ?? unknown(schema, name, path && `${place}: `), plain[name], place);
    }
    return message;
}

/**
 * The same for a call with one item: a field that the request lacks is one of the item, whose id is named after it.
 */
export function messageAbout(schema: DescMessage, thing: string, plain: object): Message {
    if (!isFields(plain)) throw wrong(plain, schema.name, "an object");
    const about = schema.field[thing];
    if (!about?.message) return unknown(schema, thing);
    const [message, within] = [create(schema), create(about.message)];
    const [outside, inside] = [waysOf(schema), waysOf(about.message)];
    set(message, about, within);
    for (const name of Object.keys(plain)) {
        if (plain[name] === undefined) continue;
        const inThing = name === thing || name === `${thing}Id` || !outside.has(name);
        const way = inThing ? inside.get(name === `${thing}Id` ? "id" : name) : outside.get(name);
        put(inThing ? within : message, way ?? unknown(schema, name), plain[name], name);
    }
    return message;
}

function unknown(schema: DescMessage, name: string, where = ""): never {
    throw new TypeError(`${where}${schema.name} has no field ${JSON.stringify(name)}`);
}

/** Converts a message to plain fields, without absent ones. */
export function plainOf(schema: DescMessage, message: Message): object {
    const plain: Fields = {};
    for (const [name, { field, toPlain }] of waysOf(schema)) {
        const value = get(message, field);
        if (value !== undefined) plain[name] = toPlain ? toPlain(value) : value;
    }
    return plain;
}

function waysOf(schema: DescMessage): Map<string, Way> {
    const kept = ways.get(schema);
    if (kept) return kept;
    const made = new Map(schema.fields.map((field) => [field.localName, wayOf(field)]));
    ways.set(schema, made);
    return made;
}

function wayOf(field: DescField): Way {
    const [toWire, toPlain] = translations(field);
    switch (field.fieldKind) {
        case "list":
            return { field, toWire: eachItem(toWire), toPlain: toPlain && eachPlain(toPlain) };
        case "map":
            return { field, toWire: eachValue(toWire), toPlain: toPlain && eachPlainValue(toPlain) };
        default:
            return { field, toWire, toPlain };
    }
}

function translations(field: DescField): [ToWire, ToPlain | null] {
    if (field.enum) return [numberOf(field.enum), nameOf(field.enum)];
    if (LONG.has(field.scalar)) return [longOf, wholeOf];
    const schema = field.message;
    if (!schema) return [scalarOf(field.scalar), null];
    if (schema.typeName === "google.protobuf.Struct") return [jsonOf, null];
    if (schema.typeName === TimestampSchema.typeName) return [timestampOf, rfc3339Of];
    return [(value, path) => messageOf(schema, value as object, path), (value) => plainOf(schema, value as Message)];
}

function eachItem(translate: ToWire): ToWire {
    return (items, path) => {
        if (typeof items !== "object" || items === null || !(Symbol.iterator in items)) {
            throw wrong(items, path, "a list");
        }
        return Array.from(items as Iterable<unknown>, (item, at) => translate(item, `${path}[${at}]`));
    };
}

function eachValue(translate: ToWire): ToWire {
    return (map, path) => {
        if (!isFields(map)) throw wrong(map, path, "an object");
        return Object.fromEntries(
            Object.entries(map).map(([key, value]) => [keyOf(key, path), translate(value, `${path}.${key}`)]),
        );
    };
}

function eachPlain(translate: ToPlain): ToPlain {
    return (items) => (items as unknown[]).map(translate);
}

function eachPlainValue(translate: ToPlain): ToPlain {
    return (map) => Object.fromEntries(Object.entries(map as Fields).map(([key, value]) => [key, translate(value)]));
}

export function isFields(value: unknown): value is Fields {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function wrong(value: unknown, path: string, wanted: string): TypeError {
    return new TypeError(`${path} is ${kindOf(value)}, and must be ${wanted}`);
}

export function kindOf(value: unknown): string {
    return value === null ? "null" : Array.isArray(value) ? "a list" : `of the type ${typeof value}`;
}

/** Checks a value: protobuf would encode some wrong values, such as an object as "[object Object]". */
function scalarOf(type: ScalarType | undefined): ToWire {
    switch (type) {
        case ScalarType.STRING:
            return textOf;
        case ScalarType.BOOL:
            return ofType("boolean");
        case ScalarType.DOUBLE:
            return ofType("number");
        case ScalarType.FLOAT:
            return floatOf;
        case ScalarType.INT32:
            return shortOf;
        default:
            return (value) => value;
    }
}

function ofType(name: "boolean" | "number"): ToWire {
    return (value, path) => {
        if (typeof value !== name) throw wrong(value, path, `a ${name}`);
        return value;
    };
}

/** Rejects an unpaired surrogate, such as in a text cut inside an emoji: it would be stored as U+FFFD. */
function textOf(value: unknown, path: string): string {
    if (typeof value !== "string") throw wrong(value, path, "a string");
    if (value.isWellFormed()) return value;
    const at = value.search(/\p{Surrogate}/u);
    throw new TypeError(`${path} is not valid Unicode: half of a character stands at ${at}`);
}

function keyOf(key: string, path: string): string {
    if (key.isWellFormed()) return key;
    throw new TypeError(`${path} has a key that is not valid Unicode: ${JSON.stringify(key)}`);
}

function floatOf(value: unknown, path: string): number {
    if (typeof value !== "number") throw wrong(value, path, "a number");
    if (Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
        throw new RangeError(`${path} is ${value}, which is more than 32 bits hold`);
    }
    return value;
}

function shortOf(value: unknown, path: string): number {
    if (typeof value !== "number") throw wrong(value, path, "a number");
    if ((value | 0) !== value) throw new RangeError(`${path} is ${value}, and must be a whole number of 32 bits`);
    return value;
}

function put(message: Message, { field, toWire }: Way, value: unknown, path: string): void {
    set(message, field, toWire(value, path));
}

function set(message: Message, field: DescField, value: unknown): void {
    const fields = message as unknown as Fields;
    if (field.oneof) fields[field.oneof.localName] = { case: field.localName, value };
    else fields[field.localName] = value;
}

function get(message: Message, field: DescField): unknown {
    const fields = message as unknown as Fields;
    if (!field.oneof) return fields[field.localName];
    const chosen = fields[field.oneof.localName] as { case: string | undefined; value?: unknown };
    return chosen.case === field.localName ? chosen.value : undefined;
}

/** An unknown value is represented by its number in digits, in both directions. */
function nameOf(schema: DescEnum): ToPlain {
    const names = new Map(schema.values.map((value) => [value.number, shortName(schema, value.name)]));
    return (number) => names.get(number as number) ?? String(number);
}

function numberOf(schema: DescEnum): ToWire {
    const numbers = new Map(schema.values.map((value) => [shortName(schema, value.name), value.number]));
    const wanted = `one of ${[...numbers.keys()].slice(1).join(", ")}`;
    return (name, path) => {
        if (typeof name !== "string") throw wrong(name, path, wanted);
        const number = numbers.get(name) ?? (/^\d{1,10}$/.test(name) ? Number(name) : MAX_ENUM + 1);
        if (number <= MAX_ENUM) return number;
        throw new TypeError(`${path} is ${JSON.stringify(name)}, and must be ${wanted}`);
    };
}

function shortName(schema: DescEnum, name: string): string {
    return name.slice(schema.sharedPrefix?.length ?? 0).toLowerCase();
}

/** Undefined values are omitted, as in JSON. */
function jsonOf(value: unknown, path: string): unknown {
    const json = isFields(value) ? copyOf(value, path) : value;
    if (!isFields(json)) throw wrong(json, path, "an object");
    checkTexts(json, path);
    return json;
}

function copyOf(value: object, path: string): unknown {
    try {
        return JSON.parse(JSON.stringify(value));
    } catch (cause) {
        throw new TypeError(`${path} is no JSON: ${cause}`, { cause });
    }
}

function checkTexts(json: unknown, path: string): void {
    if (typeof json === "string") textOf(json, path);
    if (typeof json !== "object" || json === null) return;
    if (Array.isArray(json)) {
        for (const [at, item] of json.entries()) checkTexts(item, `${path}[${at}]`);
    } else {
        for (const [key, value] of Object.entries(json)) checkTexts(value, `${path}.${keyOf(key, path)}`);
    }
}

function longOf(value: unknown, path: string): bigint {
    if (typeof value !== "number") throw wrong(value, path, "a number");
    if (!Number.isSafeInteger(value)) throw new RangeError(`${path} is ${value}, which is not held exactly`);
    return BigInt(value);
}

function wholeOf(value: unknown): number {
    const number = Number(value as bigint);
    if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is more than a number holds exactly`);
    return number;
}

function timestampOf(value: unknown, path: string): Timestamp {
    if (typeof value !== "string" && !(value instanceof Date)) throw wrong(value, path, "a Date or RFC 3339");
    try {
        return value instanceof Date ? timestampFromDate(value) : fromJson(TimestampSchema, value);
    } catch (cause) {
        throw new TypeError(`${path} is no time: ${value}`, { cause });
    }
}

function rfc3339Of(value: unknown): string {
    return toJson(TimestampSchema, value as Timestamp) as string;
}
