// Driver of the scenario runner for the TypeScript client. Reads commands and writes results as JSON lines; see
// clients/scenarios/README.md.

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type DescMessage, type DescMethod, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Client, errors, MemsidecarError } from "memsidecar-client";
import { KnowledgeService } from "#dist/gen/memsidecar/v1/knowledge_pb.js";
import { MemoryService } from "#dist/gen/memsidecar/v1/memory_pb.js";
import { SessionService } from "#dist/gen/memsidecar/v1/session_pb.js";
import { messageOf, plainOf } from "#dist/plain.js";

type Fields = Record<string, unknown>;
type Answers = AsyncGenerator<object, void, undefined>;

interface Command {
    id: number;
    do: string;
    client: string;
    rpc: string;
    request: string;
    requests: string[];
    timeout_seconds: number;
    deadline_seconds?: number;
    cancel_after_seconds?: number;
    pause_seconds?: number;
    stop_after?: number;
    [setting: string]: unknown;
}

const METHODS = new Map<string, DescMethod>(
    [MemoryService, SessionService, KnowledgeService]
        .flatMap((service) => service.methods)
        .map((method) => [method.name, method]),
);
// Calls that take the fields of the one thing they are about.
const THINGS: Record<string, string> = {
    Add: "message",
    AddStream: "message",
    PutArtifact: "artifact",
    PutDocument: "document",
};

const clients = new Map<string, Client>();

function open(command: Command): object {
    try {
        clients.set(command.client, new Client(settingsOf(command)));
        return {};
    } catch (error) {
        return { refused: String(error) };
    }
}

/** Null removes a setting. */
function settingsOf(command: Command): object {
    const settings: Fields = {};
    for (const [name, value] of Object.entries(command)) {
        if (value === null || ["id", "do", "client"].includes(name)) continue;
        if (name === "deadline_seconds") settings["deadlineMs"] = Number(value) * 1000;
        else settings[name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())] = value;
    }
    return settings;
}

function close(command: Command): object {
    clientOf(command).close();
    clients.delete(command.client);
    return {};
}

async function ready(command: Command): Promise<object> {
    await clientOf(command).waitUntilReady({ deadlineMs: command.timeout_seconds * 1000 });
    return {};
}

async function call(command: Command): Promise<object> {
    const { cancel_after_seconds: seconds } = command;
    const controller = new AbortController();
    if (seconds !== undefined) setTimeout(() => controller.abort(), seconds * 1000);
    const answer = await methodNamed<Promise<object>>(command, methodOf(command).localName)(
        requestOf(command, command.request),
        { ...optionsOf(command), signal: controller.signal },
    );
    return { answer: packed(methodOf(command).output, answer) };
}

function iterate(command: Command): Promise<object> {
    const items = methodOf(command).output.fields.find((field) => field.fieldKind === "list" && field.message);
    if (!items?.message) throw new Error(`${command.rpc} has no pages`);
    const { pageToken: _, ...request } = requestOf(command, command.request) as Fields;
    const found = methodNamed<Answers>(command, items.localName)(request, optionsOf(command));
    return collected("items", items.message, found, command);
}

function stream(command: Command): Promise<object> {
    const { localName, output, methodKind } = methodOf(command);
    const sent = methodKind === "bidi_streaming" ? paced(command) : requestOf(command, command.requests[0] ?? "");
    const found = methodNamed<Answers>(command, localName)(sent, optionsOf(command));
    return collected("answers", output, found, command);
}

async function* paced(command: Command): AsyncGenerator<object> {
    for (const [number, request] of command.requests.entries()) {
        if (number > 0 && command.pause_seconds) await sleep(command.pause_seconds * 1000);
        yield requestOf(command, request);
    }
}

/** Collects responses until an error. */
async function collected(name: string, schema: DescMessage, answers: Answers, command: Command): Promise<object> {
    const found: string[] = [];
    try {
        for await (const response of answers) {
            found.push(packed(schema, response));
            if (found.length === command.stop_after) break;
        }
    } catch (error) {
        return { [name]: found, error: told(error, command) };
    }
    return { [name]: found };
}

function clientOf(command: Command): Client {
    const client = clients.get(command.client);
    if (!client) throw new Error(`there is no client ${command.client}`);
    return client;
}

function methodOf(command: Command): DescMethod {
    const method = METHODS.get(command.rpc);
    if (!method) throw new Error(`there is no RPC ${command.rpc}`);
    return method;
}

function methodNamed<Result>(command: Command, name: string): (request: object, options: object) => Result {
    const client = clientOf(command) as unknown as Record<string, (request: object, options: object) => Result>;
    return (request, options) => {
        const method = client[name];
        if (!method) throw new Error(`the client has no ${name}`);
        return method.call(client, request, options);
    };
}

function optionsOf(command: Command): object {
    return command.deadline_seconds === undefined ? {} : { deadlineMs: command.deadline_seconds * 1000 };
}

/** Returns the request as a caller writes it. */
function requestOf(command: Command, base64: string): object {
    const { input } = methodOf(command);
    const plain = plainOf(input, fromBinary(input, Buffer.from(base64, "base64"))) as Fields;
    const thing = THINGS[command.rpc];
    if (!thing) return plain;
    const { [thing]: about, ...outside } = plain;
    const { id, ...inside } = (about ?? {}) as Fields;
    return { ...outside, ...inside, [`${thing}Id`]: id };
}

function packed(schema: DescMessage, plain: object): string {
    return Buffer.from(toBinary(schema, messageOf(schema, plain))).toString("base64");
}

function told(error: unknown, command: Command): object {
    if (!(error instanceof MemsidecarError)) throw error;
    return {
        code: error.code,
        reason: error.reason,
        field: fieldThere(error.field, command),
        metadata: error.metadata,
        retry_after_seconds: error.retryAfterMs === undefined ? null : error.retryAfterMs / 1000,
        kind: error instanceof errors.Cancelled ? "Cancelled" : error.name,
        message: error.message,
    };
}

/** Maps the path of a field to the contract's names. */
function fieldThere(path: string, command: Command): string {
    const there = path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const thing = THINGS[command.rpc];
    if (!thing || path === "") return there;
    const outside = methodOf(command).input.fields.some(({ name }) => name === there.replace(/[.[].*/, ""));
    return outside ? there : `${thing}.${there === `${thing}_id` ? "id" : there}`;
}

const COMMANDS: Record<string, (command: Command) => object | Promise<object>> = {
    open,
    close,
    ready,
    call,
    iterate,
    stream,
};

async function answer(command: Command): Promise<object> {
    const doing = COMMANDS[command.do];
    if (!doing) throw new Error(`there is no ${command.do}`);
    try {
        return await doing(command);
    } catch (error) {
        return { error: told(error, command) };
    }
}

for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line) as Command;
    // Another error is a bug and ends the process.
    void answer(command).then((said) => console.log(JSON.stringify({ id: command.id, ...said })));
}
process.exit();
