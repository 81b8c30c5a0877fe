// The token of a client, from its settings, a file or the environment.

import { readFileSync, statSync } from "node:fs";

/** Returns the current token. */
export type TokenSource = () => string;

// The characters that a header can hold unchanged.
const GOOD = /^[!-~]+$/;

/** Throws if both are given, the file cannot be read, or there is no valid token. */
export function tokenSource(token: string | undefined, file: string | undefined): TokenSource | undefined {
    if (token && file) throw new TypeError("give a token or a tokenFile, not both");
    if (file) return tokenFile(file);
    if (!token) return undefined;
    const known = checked(token, "this is");
    return () => known;
}

/**
 * A file that is read again when it changes, so that a token can be rotated under a running agent. While the file is
 * away or holds no token, which happens for a moment when it is replaced, the last token stays.
 */
function tokenFile(path: string): TokenSource {
    let seen = stampOf(path);
    let token = readToken(path);
    return () => {
        try {
            const stamp = stampOf(path);
            if (stamp !== seen) {
                token = readToken(path);
                seen = stamp;
            }
        } catch {
            // The file is checked again before the next call.
        }
        return token;
    };
}

function readToken(path: string): string {
    return checked(readFileSync(path, "utf8"), `${path} holds`);
}

/** Returns the token without white space around it. The error does not show the text, which may be a token. */
function checked(text: string, where: string): string {
    const token = text.trim();
    if (!GOOD.test(token)) throw new TypeError(`${where} no token: one has only letters, digits and signs of ASCII`);
    return token;
}

/** Identifies a state of a file. */
function stampOf(path: string): string {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
}
