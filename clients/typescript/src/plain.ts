// Between the plain values that callers see and the messages of protobuf. Plain means what JSON can say:
//
//   enumeration    its short name: "user" for ROLE_USER
//   64-bit number  number, and never a rounded one: what a number cannot hold exactly is a RangeError
//   Timestamp      RFC 3339 in UTC, with all its digits; a request also takes a Date
//   Struct         the object itself
//   oneof          its fields side by side, of which one is there

import type { DescEnum, DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { create, fromJson, ScalarType, toJson } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { TimestampSchema, timestampFromDate } from "@bufbuild/protobuf/wkt";

type Fields = Record<string, unknown>;
type ToPlain = (value: unknown) => unknown;
/** Throws for what is not of the field's type; `path` is where it stands in the request. */
type ToWire = (value: unknown, path: string) => unknown;

/** How one field is written and read; null where what is read is plain already. */
interface Way {
    readonly field: DescField;
    readonly toWire: ToWire;
    readonly toPlain: ToPlain | null;
}

const LONG = new Set<ScalarType | undefined>([ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64]);

const ways = new WeakMap<DescMessage, Map<string, Way>>();

/**
 * The message that plain fields stand for. Throws TypeError for a field that there is not, a wrong name or a value of
 * another type, and RangeError for a number that the field cannot hold. `path` is where the message stands.
 */
export function messageOf(schema: DescMessage, plain: object, path = ""): Message {
    if (!isFields(plain)) throw wrong(plain, path || schema.name, "an object");
    const message = create(schema);
    const known = waysOf(schema);
    for (const name of Object.keys(plain)) {
        const value = (plain as Fields)[name];
        if (value == null) continue;
        const way = known.get(name);
        if (!way) throw new TypeError(`${schema.name} has no field ${JSON.stringify(name)}`);
        put(message, way.field, way.toWire(value, path ? `${path}.${name}` : name));
    }
    return message;
}

/** The same for a call about one thing: what is no field of the request is one of the thing, whose id is named after it. */
export function messageAbout(schema: DescMessage, thing: string, plain: object): Message {
    const known = waysOf(schema);
    const [outside, inside]: [Fields, Fields] = [{}, {}];
    for (const [name, value] of Object.entries(plain)) {
        if (name === `${thing}Id`) inside["id"] = value;
        else if (known.has(name)) outside[name] = value;
        else inside[name] = value;
    }
    return messageOf(schema, { ...outside, [thing]: inside });
}

/** A message as plain fields. Those that can be absent, and are, are left out. */
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
    if (schema.typeName === TimestampSchema.typeName) return [timestampOf, textOf];
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
        return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, translate(value, `${path}.${key}`)]));
    };
}

function eachPlain(translate: ToPlain): ToPlain {
    return (items) => (items as unknown[]).map(translate);
}

function eachPlainValue(translate: ToPlain): ToPlain {
    return (map) => Object.fromEntries(Object.entries(map as Fields).map(([key, value]) => [key, translate(value)]));
}

function isFields(value: unknown): value is Fields {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(value: unknown, path: string, wanted: string): TypeError {
    const found = value === null ? "null" : Array.isArray(value) ? "a list" : `of the type ${typeof value}`;
    return new TypeError(`${path} is ${found}, and must be ${wanted}`);
}

/** Protobuf would write many a wrong value as if it were a good one: an object as "[object Object]". */
function scalarOf(type: ScalarType | undefined): ToWire {
    switch (type) {
        case ScalarType.STRING:
            return ofType("string");
        case ScalarType.BOOL:
            return ofType("boolean");
        case ScalarType.DOUBLE:
        case ScalarType.FLOAT:
            return ofType("number");
        case ScalarType.INT32:
            return shortOf;
        default:
            return (value) => value;
    }
}

function ofType(name: "string" | "boolean" | "number"): ToWire {
    return (value, path) => {
        if (typeof value !== name) throw wrong(value, path, `a ${name}`);
        return value;
    };
}

function shortOf(value: unknown, path: string): number {
    if (typeof value !== "number") throw wrong(value, path, "a number");
    if ((value | 0) !== value) throw new RangeError(`${path} is ${value}, and must be a whole number of 32 bits`);
    return value;
}

function put(message: Message, field: DescField, value: unknown): void {
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

/** A value that this client does not know yet is its number in digits, in both directions. */
function nameOf(schema: DescEnum): ToPlain {
    const names = new Map(schema.values.map((value) => [value.number, shortName(schema, value.name)]));
    return (number) => names.get(number as number) ?? String(number);
}

function numberOf(schema: DescEnum): ToWire {
    const numbers = new Map(schema.values.map((value) => [shortName(schema, value.name), value.number]));
    return (name) => {
        const number = numbers.get(name as string);
        if (number !== undefined) return number;
        if (typeof name === "string" && /^\d+$/.test(name)) return Number(name);
        throw new TypeError(`${JSON.stringify(name)} is none of ${[...numbers.keys()].slice(1).join(", ")}`);
    };
}

function shortName(schema: DescEnum, name: string): string {
    return name.slice(schema.sharedPrefix?.length ?? 0).toLowerCase();
}

/** What is undefined is left out, as JSON leaves it out. */
function jsonOf(value: unknown, path: string): unknown {
    const json: unknown = isFields(value) ? JSON.parse(JSON.stringify(value)) : value;
    if (!isFields(json)) throw wrong(json, path, "an object");
    return json;
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

function textOf(value: unknown): string {
    return toJson(TimestampSchema, value as Timestamp) as string;
}
