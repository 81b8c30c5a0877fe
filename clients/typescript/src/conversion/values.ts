// JSON values with the path that an error names, and the text of a content in parts.

/** The content of a message without any text: the sidecar stores no empty one, except with tool calls. */
export const EMPTY = "[empty]";
/** The metadata key of a tool result that is an error; only Anthropic's format has a field for it. */
export const IS_ERROR = "is_error";

/** Input that is not of the format. Nothing was converted. */
export class ConversionError extends TypeError {
    override readonly name: string = "ConversionError";
    /** The path of the wrong value, as in "messages[3].tool_calls[0].function.name". */
    readonly field: string;
    /** For people; it may change. */
    readonly problem: string;

    /** @internal */
    constructor(field: string, problem: string, options?: ErrorOptions) {
        super(`${field}: ${problem}`, options);
        this.field = field;
        this.problem = problem;
    }
}

/** A value of the input. Absent fields are null. */
export class Value {
    readonly value: unknown;
    readonly path: string;

    constructor(value: unknown, path: string) {
        this.value = value ?? null;
        this.path = path;
    }

    get isNull(): boolean {
        return this.value === null;
    }

    get isText(): boolean {
        return typeof this.value === "string";
    }

    get isList(): boolean {
        return Array.isArray(this.value);
    }

    get isObject(): boolean {
        return typeof this.value === "object" && !this.isNull && !this.isList;
    }

    field(name: string): Value {
        if (!this.isObject) throw this.wrong("an object");
        return new Value(Reflect.get(this.value as object, name), `${this.path}.${name}`);
    }

    items(): Value[] {
        if (!Array.isArray(this.value)) throw this.wrong("a list");
        return Array.from(this.value, (item, at) => new Value(item, `${this.path}[${at}]`));
    }

    text(): string {
        if (typeof this.value !== "string") throw this.wrong("a text");
        return this.value;
    }

    optionalText(): string {
        return this.isNull ? "" : this.text();
    }

    /** A text that the contract requires, as ids and names of tools. */
    filledText(): string {
        const text = this.text();
        if (text === "") throw this.error("a text is required, not an empty one");
        return text;
    }

    oneOf<Name extends string>(names: readonly Name[]): Name {
        const text = this.text();
        const found = names.find((name) => name === text);
        if (found === undefined) throw this.error(`"${text}" is none of ${names.join(", ")}`);
        return found;
    }

    json(): string {
        try {
            return JSON.stringify(this.value, finite);
        } catch (cause) {
            throw new ConversionError(this.path, `is not JSON: ${cause}`, { cause });
        }
    }

    error(problem: string): ConversionError {
        return new ConversionError(this.path, problem);
    }

    wrong(required: string): ConversionError {
        return this.error(`${required} is required, not ${this.#kind()}`);
    }

    #kind(): string {
        if (this.isNull) return "null";
        if (this.isList) return "a list";
        switch (typeof this.value) {
            case "string":
                return "a text";
            case "number":
            case "bigint":
                return "a number";
            case "object":
                return "an object";
            default:
                return `a ${typeof this.value}`;
        }
    }
}

/** Throws if two calls of a message have the same id: a result would belong to either. */
export function checkDistinct(calls: readonly Value[]): void {
    const seen = new Set<unknown>();
    for (const id of calls.map((call) => call.field("id"))) {
        if (seen.has(id.value)) throw id.error(`"${id.value}" is the id of an earlier call of the message`);
        seen.add(id.value);
    }
}

/** The text of one part. A part that cannot be stored, as an image, has its type as a placeholder: "[image]". */
export interface Piece {
    readonly text: string;
    readonly isPlaceholder: boolean;
}

export function textPiece(text: string): Piece {
    return { text, isPlaceholder: false };
}

export function placeholder(kind: string): Piece {
    return { text: `[${kind}]`, isPlaceholder: true };
}

/** Puts each piece on its own line. Texts of a model are joined: it splits them at citations. */
export function joined(pieces: Iterable<Piece>, model: boolean): string {
    let text = "";
    let afterText = false;
    for (const piece of pieces) {
        if (piece.text === "") continue;
        const continues = model && !piece.isPlaceholder && afterText;
        text += text === "" || continues ? piece.text : `\n${piece.text}`;
        afterText = !piece.isPlaceholder;
    }
    return text;
}

/** Returns the value. JSON has no infinity: 1e999 would become one, and an infinity null. */
function finite(_key: string, value: unknown): unknown {
    if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError(`${value} is not JSON`);
    return value;
}

/** Returns the JSON object in a text; any other text becomes the value of the key `otherwise`. */
export function objectOf(text: string, otherwise: string): Record<string, unknown> {
    let value: unknown = text;
    try {
        value = JSON.parse(text, finite);
    } catch {
        // Models write other texts, too.
    }
    return new Value(value, "").isObject ? (value as Record<string, unknown>) : { [otherwise]: value };
}
