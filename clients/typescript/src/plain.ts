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
type Translation = (value: unknown) => unknown;

/** How one field is written and read; null where nothing has to be done. */
interface Way {
    readonly field: DescField;
    readonly toWire: Translation | null;
    readonly toPlain: Translation | null;
}

const LONG = new Set<ScalarType | undefined>([ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64]);

const ways = new WeakMap<DescMessage, Map<string, Way>>();

/** The message that plain fields stand for. Throws TypeError for a field that there is not, or a wrong name. */
export function messageOf(schema: DescMessage, plain: object): Message {
    const message = create(schema);
    const known = waysOf(schema);
    for (const name of Object.keys(plain)) {
        const value = (plain as Fields)[name];
        if (value == null) continue;
        const way = known.get(name);
        if (!way) throw new TypeError(`${schema.name} has no field ${JSON.stringify(name)}`);
        put(message, way.field, way.toWire ? way.toWire(value) : value);
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
            return { field, toWire: toWire && eachItem(toWire), toPlain: toPlain && eachItem(toPlain) };
        case "map":
            return { field, toWire: toWire && eachValue(toWire), toPlain: toPlain && eachValue(toPlain) };
        default:
            return { field, toWire, toPlain };
    }
}

function translations(field: DescField): [Translation | null, Translation | null] {
    if (field.enum) return [numberOf(field.enum), nameOf(field.enum)];
    if (LONG.has(field.scalar)) return [longOf, wholeOf];
    const schema = field.message;
    if (!schema) return [null, null];
    if (schema.typeName === "google.protobuf.Struct") return [jsonOf, null];
    if (schema.typeName === TimestampSchema.typeName) return [timestampOf, textOf];
    return [(value) => messageOf(schema, value as object), (value) => plainOf(schema, value as Message)];
}

function eachItem(translate: Translation): Translation {
    return (items) => Array.from(items as Iterable<unknown>, translate);
}

function eachValue(translate: Translation): Translation {
    return (map) => Object.fromEntries(Object.entries(map as Fields).map(([key, value]) => [key, translate(value)]));
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
function nameOf(schema: DescEnum): Translation {
    const names = new Map(schema.values.map((value) => [value.number, shortName(schema, value.name)]));
    return (number) => names.get(number as number) ?? String(number);
}

function numberOf(schema: DescEnum): Translation {
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
function jsonOf(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value));
}

function longOf(value: unknown): bigint {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no whole number that is held exactly`);
    return BigInt(value as number);
}

function wholeOf(value: unknown): number {
    const number = Number(value as bigint);
    if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is more than a number holds exactly`);
    return number;
}

function timestampOf(value: unknown): Timestamp {
    return value instanceof Date ? timestampFromDate(value) : fromJson(TimestampSchema, value as string);
}

function textOf(value: unknown): string {
    return toJson(TimestampSchema, value as Timestamp) as string;
}
