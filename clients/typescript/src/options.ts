// Options are checked like requests: an unknown option would be ignored silently.

import { isFields, wrong } from "./plain.js";

/** Throws for an invalid value. */
export type Check = (value: unknown, name: string) => void;

/** A check for each option. */
export type Checks<Options> = { readonly [name in keyof Required<Options>]: Check };

/** Checks options. Throws TypeError for an unknown option, and the error of a check. Undefined means absent. */
export function checkOptions<Options extends object>(given: Options, checks: Checks<Options>): void {
    if (!isFields(given)) throw wrong(given, "options", `an object of ${namesIn(checks)}`);
    for (const [name, value] of Object.entries(given)) {
        if (!Object.hasOwn(checks, name)) {
            throw new TypeError(`there is no option ${JSON.stringify(name)}: there are ${namesIn(checks)}`);
        }
        if (value !== undefined) checks[name as keyof Options](value, name);
    }
}

/**
 * Returns the known options, without others: an application may pass an object with more properties. Throws
 * TypeError for a missing required option, and the error of a check.
 */
export function knownOptions<Options extends object>(
    given: Options,
    checks: Checks<Options>,
    ...required: (keyof Options)[]
): Options {
    if (!isFields(given)) throw wrong(given, "options", `an object of ${namesIn(checks)}`);
    const known: Partial<Options> = {};
    for (const name of Object.keys(checks) as (keyof Options & string)[]) {
        const value = given[name];
        if (value !== undefined || required.includes(name)) checks[name](value, name);
        known[name] = value;
    }
    return known as Options;
}

function namesIn(checks: object): string {
    return Object.keys(checks).join(", ");
}

export const isString: Check = (value, name) => {
    if (typeof value !== "string") throw wrong(value, name, "a string");
};

export const isBoolean: Check = (value, name) => {
    if (typeof value !== "boolean") throw wrong(value, name, "a boolean");
};

export const isNumber: Check = (value, name) => {
    if (typeof value !== "number") throw wrong(value, name, "a number");
};

/** Checks the shape, not the class: a client may be wrapped or of another copy of this package. */
export const isClient: Check = (value, name) => {
    if (!isFields(value)) throw wrong(value, name, "a Client");
};

/** Checks the shape: not every AbortSignal is of Node.js' class. */
export const isSignal: Check = (value, name) => {
    const { addEventListener } = Object(value) as Partial<AbortSignal>;
    if (typeof addEventListener !== "function") throw wrong(value, name, "an AbortSignal");
};
