// Retries, tokens and addresses, where scenarios cannot test them.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, errors, MemsidecarError } from "memsidecar-client";
import { Conversation } from "memsidecar-client/ai-sdk";
import { MemsidecarChatMessageHistory } from "memsidecar-client/langchain";
import { connectionOf, staysHere } from "#dist/connection.js";
import { Attempts } from "#dist/retry.js";
import { tokenSource } from "#dist/token.js";

const away = new errors.Unreachable("unreachable", "UNAVAILABLE");

function overloaded(retryAfterMs: number): MemsidecarError {
    return new errors.Overloaded("overloaded", "UNAVAILABLE", {
        reason: "OVERLOADED",
        field: "",
        metadata: {},
        retryAfterMs,
    });
}

test("the backoff is 0.4, 1.2 and 3.6 seconds with a jitter of 20 %", () => {
    for (let round = 0; round < 200; round += 1) {
        const attempts = new Attempts(4, 60_000);
        for (const expected of [400, 1_200, 3_600]) {
            attempts.begin();
            const wait = attempts.waitAfter(away);
            assert.ok(wait >= expected * 0.8 && wait <= expected * 1.2, `${wait} is not about ${expected}`);
        }
        attempts.begin();
        assert.throws(() => attempts.waitAfter(away), away);
    }
});

test("the third wait is the longest", () => {
    const attempts = new Attempts(2_000, Number.POSITIVE_INFINITY);
    for (let made = 1; made < 2_000; made += 1) {
        attempts.begin();
        assert.ok(attempts.waitAfter(away) <= 3_600 * 1.2);
    }
});

test("a call without an idempotency key is retried only if the sidecar rejected it", () => {
    const attempts = new Attempts(4, 60_000, false);
    attempts.begin();
    attempts.waitAfter(overloaded(100));
    assert.throws(() => attempts.waitAfter(away), away);
    for (const code of ["INTERNAL", "UNKNOWN", "CANCELLED"] as const) {
        assert.throws(() => attempts.waitAfter(new MemsidecarError("broken", code)));
    }
});

test("a retry waits as long as RetryInfo says plus jitter, never beyond the deadline", () => {
    const attempts = new Attempts(4, 10_000);
    attempts.begin();
    const wait = attempts.waitAfter(overloaded(700));
    assert.ok(wait >= 700 && wait <= 840);
    assert.throws(() => attempts.waitAfter(overloaded(10_000)), errors.Overloaded);
    assert.equal(new Attempts(4, Number.POSITIVE_INFINITY).begin(), Number.POSITIVE_INFINITY);
});

test("only transient errors are retried", () => {
    const details = { reason: "INTERNAL", field: "", metadata: {}, retryAfterMs: undefined };
    const attempts = new Attempts(4, 10_000);
    attempts.begin();
    for (const code of ["INTERNAL", "UNKNOWN", "CANCELLED"] as const) {
        attempts.waitAfter(new MemsidecarError("broken", code));
        assert.throws(() => attempts.waitAfter(new MemsidecarError("a bug", code, details)));
    }
    assert.throws(() => attempts.waitAfter(new errors.Closed()), errors.Closed);
    assert.throws(() => attempts.waitAfter(new MemsidecarError("late", "DEADLINE_EXCEEDED")));
});

test("a token file is read again when it changes, and a missing file keeps the last token", () => {
    const folder = mkdtempSync(join(tmpdir(), "memsidecar-token-"));
    const [file, next] = [join(folder, "token"), join(folder, "next")];
    try {
        assert.throws(() => tokenSource(undefined, file), /ENOENT/);
        writeFileSync(file, "  first\n\n");
        const token = tokenSource(undefined, file);
        assert.equal(token?.(), "first");
        writeFileSync(next, "second\n");
        renameSync(next, file);
        assert.equal(token?.(), "second");
        rmSync(file);
        assert.equal(token?.(), "second");
        writeFileSync(file, "\n");
        assert.equal(token?.(), "second");
        assert.throws(() => tokenSource(undefined, file), /holds no token/);
        for (const wrong of ["two words", "two\nlines", "tök", "\u0000"]) {
            writeFileSync(file, wrong);
            assert.equal(token?.(), "second");
            assert.throws(() => tokenSource(undefined, file), showsNot(wrong));
        }
        rmSync(file);
        mkdirSync(file);
        assert.equal(token?.(), "second");
        rmSync(file, { recursive: true });
        writeFileSync(file, "third");
        assert.equal(token?.(), "third");
    } finally {
        rmSync(folder, { recursive: true });
    }
    assert.equal(tokenSource(" padded\n", undefined)?.(), "padded");
    assert.equal(tokenSource("", undefined), undefined);
    assert.throws(() => tokenSource("one", "two"), /not both/);
    for (const wrong of ["two words", "two\nlines", "tök", "\u0000"]) {
        assert.throws(() => new Client({ token: wrong }), showsNot(wrong));
    }
});

function showsNot(token: string): (error: unknown) => boolean {
    return (error) => error instanceof TypeError && /no token/.test(error.message) && !error.message.includes(token);
}

/** Runs something with these variables only. */
function withEnvironment(variables: Record<string, string>, run: () => void): void {
    const before = { ...process.env };
    for (const name of Object.keys(process.env)) if (name.startsWith("MEMSIDECAR_")) delete process.env[name];
    Object.assign(process.env, variables);
    try {
        run();
    } finally {
        process.env = before;
    }
}

test("the environment is parsed strictly, and blank variables are ignored", () => {
    const folder = mkdtempSync(join(tmpdir(), "memsidecar-token-"));
    const tokenFile = join(folder, "token");
    writeFileSync(tokenFile, "secret");
    try {
        withEnvironment({ MEMSIDECAR_TOKEN: "  ", MEMSIDECAR_TOKEN_FILE: tokenFile }, () => {
            assert.deepEqual(connectionOf({}).metadata().get("authorization"), ["Bearer secret"]);
        });
    } finally {
        rmSync(folder, { recursive: true });
    }
    for (const [said, tls] of [
        [" True\n", true],
        ["FALSE", false],
        ["  ", false],
        ["", false],
    ] as const) {
        withEnvironment({ MEMSIDECAR_TLS: said }, () => assert.equal(connectionOf({}).tls, tls, said));
    }
    for (const said of ["1", "yes", "perhaps"]) {
        withEnvironment({ MEMSIDECAR_TLS: said }, () => assert.throws(() => connectionOf({}), /true or false/));
    }
    withEnvironment({ MEMSIDECAR_TLS: "false", MEMSIDECAR_CA_FILE: "ca.pem" }, () => {
        assert.throws(() => connectionOf({}), /tls is false/);
    });
});

test("only loopback addresses and unix sockets are local", () => {
    for (const address of ["unix:/run/s", "localhost:1", "LOCALHOST:1", "127.0.0.1:1", "127.9.8.7:1", "[::1]:1"]) {
        assert.equal(staysHere(address), true, address);
    }
    for (const address of ["192.0.2.1:1", "memory.example:1", "[2001:db8::1]:1", "[::]:1", "127.0.0.1.example:1"]) {
        assert.equal(staysHere(address), false, address);
    }
    for (const address of [
        "",
        "localhost",
        "dns:localhost:1",
        "127.0.0.1:1,192.0.2.1:1",
        "http://localhost:1",
        "::1",
        "localhost:0",
        "localhost:65536",
        "localhost:http",
        " localhost:1",
        ":1",
        "[localhost]:1",
        "unix:",
        "unix://host/path",
    ]) {
        assert.throws(() => staysHere(address), /no address/, address);
    }
});

test("conflicting options are rejected", () => {
    assert.throws(() => new Client({ tls: false, caFile: "ca.pem" }), /tls is false/);
    assert.throws(() => new Client({ tls: true, keyFile: "key.pem" }), /belong together/);
    assert.throws(() => new Client({ caFile: "/nowhere/ca.pem" }), /ENOENT/);
    for (const name of ["package.json", "README.md"]) {
        const caFile = fileURLToPath(new URL(name, import.meta.resolve("memsidecar-client/package.json")));
        assert.throws(() => new Client({ caFile }), /holds no certificate/);
    }
    assert.throws(() => new Client({ attempts: 0 }), /attempts/);
    assert.throws(() => new Client({ deadlineMs: 0 }), /deadlineMs/);
});

test("an unknown option is rejected with a list of the options", async () => {
    const known =
        "address, token, tokenFile, tls, caFile, certificateFile, keyFile, allowTokenInClear, deadlineMs, attempts";
    const opened = (options: unknown, words: string) =>
        assert.throws(() => new Client(options as object), new TypeError(words));
    opened({ adress: "10.9.9.9:1" }, `there is no option "adress": there are ${known}`);
    opened({ adress: undefined }, `there is no option "adress": there are ${known}`);
    opened({ toString: "a" }, `there is no option "toString": there are ${known}`);
    opened("10.9.9.9:1", `options is of the type string, and must be an object of ${known}`);
    opened(null, `options is null, and must be an object of ${known}`);
    opened({ address: 7600 }, "address is of the type number, and must be a string");
    opened({ address: null }, "address is null, and must be a string");
    opened({ token: ["secret"] }, "token is a list, and must be a string");
    opened({ tls: "false" }, "tls is of the type string, and must be a boolean");
    opened({ allowTokenInClear: 1 }, "allowTokenInClear is of the type number, and must be a boolean");
    opened({ attempts: "4" }, "attempts is of the type string, and must be a number");
    new Client({ address: undefined, deadlineMs: undefined, attempts: undefined }).close();

    using client = new Client({ address: "127.0.0.1:1" });
    const called = async (options: unknown, words: string) => {
        const [request, given] = [{ sessionId: "s" }, options as object];
        for (const call of [
            client.count(request, given),
            client.waitUntilReady(given),
            client.messages(request, given).next(),
            client.export(request, given).next(),
            client.addStream([], given).next(),
            client.import([], given).next(),
        ]) {
            await assert.rejects(call, new TypeError(words));
        }
    };
    await called({ timeout: 5 }, 'there is no option "timeout": there are signal, deadlineMs');
    await called(1000, "options is of the type number, and must be an object of signal, deadlineMs");
    await called(null, "options is null, and must be an object of signal, deadlineMs");
    await called({ signal: new AbortController() }, "signal is of the type object, and must be an AbortSignal");
    await called({ signal: null }, "signal is null, and must be an AbortSignal");
});

test("the adapters accept the application's rows, and name missing fields", async () => {
    using client = new Client({ address: "127.0.0.1:1", attempts: 1 });
    const row = { sessionId: "s", userId: undefined, title: "Lisbon", createdAt: new Date(), owner: null };
    await assert.rejects(new Conversation(client, row).clear(), errors.Unreachable);
    await assert.rejects(new Conversation(client, row).messages(), errors.Unreachable);
    const history = new MemsidecarChatMessageHistory({ client, ...row });
    await assert.rejects(history.getMessages(), errors.Unreachable);

    const made = (options: unknown, words: string) => {
        const given = options as { client: Client; sessionId: string };
        assert.throws(() => new MemsidecarChatMessageHistory(given), new TypeError(words));
        if (Object(options).client) assert.throws(() => new Conversation(client, given), new TypeError(words));
    };
    made({ client, id: "s" }, "sessionId is of the type undefined, and must be a string");
    made({ client, sessionId: null }, "sessionId is null, and must be a string");
    made({ client, sessionId: "s", userId: 7 }, "userId is of the type number, and must be a string");
    made({ sessionId: "s" }, "client is of the type undefined, and must be a Client");
    made({ client: null, sessionId: "s" }, "client is null, and must be a Client");
    made(undefined, "options is of the type undefined, and must be an object of client, sessionId, userId, namespace");
    assert.throws(
        () => new Conversation(undefined as unknown as Client, row),
        new TypeError("client is of the type undefined, and must be a Client"),
    );
    assert.throws(
        () => new Conversation(client, "s" as unknown as typeof row),
        new TypeError("options is of the type string, and must be an object of sessionId, userId, namespace"),
    );
});

test("a signal and closing interrupt the wait before the next attempt", async () => {
    const client = new Client({ address: "127.0.0.1:1", deadlineMs: 60_000 });
    const controller = new AbortController();
    const given = client.count({ sessionId: "s" }, { signal: controller.signal });
    const other = client.count({ sessionId: "s" });
    setTimeout(() => controller.abort(new Error("enough")), 100);
    await assert.rejects(given, (error) => {
        assert.ok(error instanceof errors.Cancelled && !(error instanceof errors.Closed));
        return (error.cause as Error).message === "enough";
    });
    client.close();
    await assert.rejects(other, errors.Closed);
    await assert.rejects(client.count({ sessionId: "s" }), errors.Closed);
    await assert.rejects(client.waitUntilReady(), errors.Closed);
    client.close();
});
