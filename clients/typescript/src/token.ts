// The token that a client sends, from wherever it was told to take it.

import { readFileSync, statSync } from "node:fs";

/** What to show at the moment. */
export type TokenSource = () => string;

/** Throws where both are given, or the file is not there or holds none. */
export function tokenSource(token: string | undefined, file: string | undefined): TokenSource | undefined {
    if (token && file) throw new TypeError("give a token or a tokenFile, not both");
    if (file) return tokenFile(file);
    const known = token?.trim();
    return known ? () => known : undefined;
}

/**
 * A file that is read again when it changes, so that a token can be rotated under a running agent. While the file is
 * away or empty, which happens for a moment when it is replaced, the last token stays.
 */
function tokenFile(path: string): TokenSource {
    let seen = stampOf(path);
    let token = readToken(path);
    if (!token) throw new TypeError(`${path} holds no token`);
    return () => {
        const stamp = unlessAway(() => stampOf(path)) ?? seen;
        if (stamp !== seen) {
            token = unlessAway(() => readToken(path)) || token;
            seen = stamp;
        }
        return token;
    };
}

function readToken(path: string): string {
    return readFileSync(path, "utf8").trim();
}

/** Tells one state of a file from another. */
function stampOf(path: string): string {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
}

function unlessAway<Found>(look: () => Found): Found | undefined {
    try {
        return look();
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
    }
}
