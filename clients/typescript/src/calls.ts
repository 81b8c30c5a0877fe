// Calls with deadlines, tokens, retries, pages and streams.

import { type ClientDuplexStream, Client as GrpcClient, type ServiceError } from "@grpc/grpc-js";
import type { Connection } from "./connection.js";
import { Cancelled, Closed, DeadlineExceeded, MemsidecarError, Unreachable } from "./errors.js";
import { failure } from "./failure.js";
import { type Checks, checkOptions, isSignal } from "./options.js";
import { isFields } from "./plain.js";
import { type Many, Replay, Source } from "./replay.js";
import { Attempts, checkDeadline } from "./retry.js";
import type { Rpc } from "./rpc.js";

/** Options of one call. An unknown option is a TypeError. */
export interface CallOptions {
    /** Cancels the call, which fails with Cancelled. */
    signal?: AbortSignal | undefined;
    /**
     * Timeout of the call, including retries, instead of the client's. 0: it fails with
     * DeadlineExceeded, and nothing is sent. Infinity, and more than 10^12: no deadline. A negative value or no
     * number is a RangeError.
     */
    deadlineMs?: number | undefined;
}

const CHECKS: Checks<CallOptions> = { signal: isSignal, deadlineMs: checkDeadline };

type Stream = ClientDuplexStream<Buffer, Buffer>;
/** The path of a call, and the client's names of its fields. */
type Way = Pick<Rpc<never, never>, "path" | "fieldHere">;

const HEALTH_CHECK: Way = { path: "/grpc.health.v1.Health/Check", fieldHere: (path) => path };
const NOTHING = Buffer.alloc(0);
const SERVING = Buffer.from([0x08, 0x01]);
const POLL_MS = 50;
// Node.js ignores a longer timer.
const MAX_TIMER_MS = 2 ** 31 - 1;
// Status codes of a sidecar that has not started yet, if they come without a reason.
const NOT_YET = new Set(["NOT_FOUND", "CANCELLED"]);

/** The error of the caller's own requests; passed on unchanged and not retried. */
class SourceFailed extends Error {}

/** A channel and the shared parts of its calls. */
export class Calls {
    readonly #connection: Connection;
    readonly #deadlineMs: number;
    readonly #attempts: number;
    readonly #channel: GrpcClient;
    /** Cancels each running call. */
    readonly #underWay = new Set<() => void>();
    #closed = false;

    constructor(connection: Connection, deadlineMs: number, attempts: number) {
        this.#connection = connection;
        this.#deadlineMs = deadlineMs;
        this.#attempts = attempts;
        this.#channel = new GrpcClient(connection.address, connection.credentials, connection.options);
    }

    close(): void {
        this.#closed = true;
        for (const end of [...this.#underWay]) end();
        this.#channel.close();
    }

    async waitUntilReady(options?: CallOptions): Promise<void> {
        const { signal, deadlineMs = this.#deadlineMs } = checked(options);
        const attempts = new Attempts(1, deadlineMs);
        for (;;) {
            try {
                const answer = await this.#send(HEALTH_CHECK, NOTHING, attempts.begin(), signal, true);
                if (SERVING.equals(answer)) return;
            } catch (error) {
                this.#checkWorthWaiting(error, deadlineMs, signal);
            }
            await this.#pause(POLL_MS, signal);
        }
    }

    async unary<Request, Answer>(rpc: Rpc<Request, Answer>, request: Request, options?: CallOptions): Promise<Answer> {
        const { signal, deadlineMs = this.#deadlineMs } = checked(options);
        const bytes = rpc.encode(request);
        const attempts = new Attempts(this.#attempts, deadlineMs, rpc.repeatable);
        for (;;) {
            try {
                return rpc.decode(await this.#send(rpc, bytes, attempts.begin(), signal));
            } catch (error) {
                await this.#pauseAfter(error, attempts, signal);
            }
        }
    }

    async *pages<Request, Items extends string, Item>(
        rpc: Rpc<Request, { nextPageToken: string } & Record<Items, Item[]>>,
        request: Omit<Request, "pageToken">,
        items: Items,
        options?: CallOptions,
    ): AsyncGenerator<Item, void, undefined> {
        for (let pageToken = ""; ; ) {
            const asked = isFields(request) ? { ...request, pageToken } : request;
            const page = await this.unary(rpc, asked as Request, options);
            yield* page[items];
            pageToken = page.nextPageToken;
            if (!pageToken) return;
        }
    }

    /** Retries until the first response. After that the caller resumes from the last cursor. */
    async *answers<Request, Answer>(
        rpc: Rpc<Request, Answer>,
        request: Request,
        options?: CallOptions,
    ): AsyncGenerator<Answer, void, undefined> {
        const { signal, deadlineMs = Number.POSITIVE_INFINITY } = checked(options);
        const bytes = rpc.encode(request);
        const attempts = new Attempts(this.#attempts, deadlineMs);
        for (let answered = false; ; ) {
            try {
                for await (const found of this.#streamed(rpc, [bytes], attempts.begin(), signal)) {
                    const answer = rpc.decode(found);
                    answered = true;
                    yield answer;
                }
                return;
            } catch (error) {
                if (answered) throw error;
                await this.#pauseAfter(error, attempts, signal);
            }
        }
    }

    /** Resumes an interrupted stream with the unacknowledged messages. */
    async *replayed<Request, Answer>(
        rpc: Rpc<Request, Answer>,
        requests: Many<Request>,
        options?: CallOptions,
    ): AsyncGenerator<Answer, void, undefined> {
        const { signal, deadlineMs = Number.POSITIVE_INFINITY } = checked(options);
        const attempts = new Attempts(this.#attempts, deadlineMs);
        const source = new Source(requests, rpc.encode);
        const replay = new Replay(source);
        try {
            for (;;) {
                try {
                    const sent = replay.unanswered();
                    for await (const found of this.#streamed(rpc, sent, attempts.begin(), signal)) {
                        const answer = rpc.decode(found);
                        replay.answered();
                        attempts.progressed();
                        yield answer;
                    }
                    if (replay.complete) return;
                    throw this.#brokenOff();
                } catch (error) {
                    await this.#pauseAfter(error, attempts, signal);
                }
            }
        } finally {
            void source.close();
        }
    }

    /** Sends a stream once: only the caller can resume it. */
    async *exchanged<Request, Answer>(
        rpc: Rpc<Request, Answer>,
        requests: Many<Request>,
        options?: CallOptions,
    ): AsyncGenerator<Answer, void, undefined> {
        const { signal, deadlineMs = Number.POSITIVE_INFINITY } = checked(options);
        const deadline = new Attempts(1, deadlineMs).begin();
        const source = new Source(requests, rpc.encode);
        try {
            for await (const answer of this.#streamed(rpc, source, deadline, signal)) yield rpc.decode(answer);
        } catch (error) {
            throw error instanceof SourceFailed ? error.cause : error;
        } finally {
            void source.close();
        }
    }

    /** Makes one attempt and converts gRPC's errors. */
    #send(
        way: Way,
        request: Buffer,
        deadline: number,
        signal: AbortSignal | undefined,
        waitForReady = false,
    ): Promise<Buffer> {
        return new Promise((resolve, reject) => {
            this.#checkWanted(signal);
            checkLeft(deadline);
            const call = this.#channel.makeUnaryRequest(
                way.path,
                asItIs,
                asItIs,
                request,
                this.#connection.metadata(waitForReady),
                { deadline },
                (error, answer) => {
                    leave();
                    if (error) reject(this.#failure(error, way, signal));
                    else resolve(answer ?? NOTHING);
                },
            );
            const leave = this.#whenUnwanted(signal, () => call.cancel());
        });
    }

    /** One attempt of a stream. A caller that stops reading ends it. */
    async *#streamed(
        way: Way,
        requests: Many<Buffer>,
        deadline: number,
        signal: AbortSignal | undefined,
    ): AsyncGenerator<Buffer, void, undefined> {
        this.#checkWanted(signal);
        checkLeft(deadline);
        const metadata = this.#connection.metadata();
        const stream: Stream = this.#channel.makeBidiStreamRequest(way.path, asItIs, asItIs, metadata, { deadline });
        const leave = this.#whenUnwanted(signal, () => stream.cancel());
        let failed: SourceFailed | undefined;
        pump(requests, stream).catch((cause) => {
            failed = new SourceFailed("the requests failed", { cause });
            stream.cancel();
        });
        // Without a listener, an error after the last read would end the process.
        stream.on("error", () => {});
        try {
            yield* stream as AsyncIterable<Buffer>;
        } catch (error) {
            throw failed ?? this.#failure(error as ServiceError, way, signal);
        } finally {
            leave();
            stream.cancel();
        }
        // The sidecar may end the stream before the requests end.
        if (failed) throw failed;
    }

    /** Waits before the next attempt. Throws if there is no further attempt. */
    async #pauseAfter(error: unknown, attempts: Attempts, signal: AbortSignal | undefined): Promise<void> {
        if (error instanceof SourceFailed) throw error.cause;
        if (!(error instanceof MemsidecarError) || signal?.aborted) throw error;
        await this.#pause(attempts.waitAfter(error), signal);
    }

    #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
        return new Promise((resolve, reject) => {
            this.#checkWanted(signal);
            const timer = setTimeout(
                () => {
                    leave();
                    resolve();
                },
                Math.min(ms, MAX_TIMER_MS),
            );
            const leave = this.#whenUnwanted(signal, () => {
                clearTimeout(timer);
                leave();
                reject(this.#whyUnwanted(signal));
            });
        });
    }

    /** Calls `end` once when the caller cancels or the client is closed, unless the result is called first. */
    #whenUnwanted(signal: AbortSignal | undefined, end: () => void): () => void {
        this.#underWay.add(end);
        signal?.addEventListener("abort", end, { once: true });
        return () => {
            this.#underWay.delete(end);
            signal?.removeEventListener("abort", end);
        };
    }

    #checkWanted(signal: AbortSignal | undefined): void {
        const why = this.#whyUnwanted(signal);
        if (why) throw why;
    }

    #whyUnwanted(signal: AbortSignal | undefined): MemsidecarError | undefined {
        if (this.#closed) return new Closed();
        if (!signal?.aborted) return undefined;
        return new Cancelled("the caller gave the call up", "CANCELLED", undefined, { cause: signal.reason });
    }

    #failure(error: ServiceError, way: Way, signal: AbortSignal | undefined): MemsidecarError {
        return this.#whyUnwanted(signal) ?? failure(error, this.#connection, way.fieldHere);
    }

    /** Treats a stream that ended with OK too early as broken. */
    #brokenOff(): MemsidecarError {
        const words = `${this.#connection.address} ended the stream before everything was answered`;
        return new Unreachable(words, "UNAVAILABLE");
    }

    /** Throws if another check cannot succeed, or the deadline has passed. */
    #checkWorthWaiting(error: unknown, deadlineMs: number, signal: AbortSignal | undefined): void {
        if (error instanceof DeadlineExceeded) {
            const words = `${this.#connection.address} was not ready within ${deadlineMs / 1000} seconds`;
            throw new DeadlineExceeded(words, error.code, undefined, { cause: error });
        }
        if (!(error instanceof MemsidecarError) || signal?.aborted || this.#closed) throw error;
        if (error.code !== "UNAVAILABLE" && (error.reason !== "" || !NOT_YET.has(error.code))) throw error;
    }
}

function checked(options: CallOptions = {}): CallOptions {
    checkOptions(options, CHECKS);
    return options;
}

/** Throws before an attempt if the deadline has passed: gRPC might send the request. */
function checkLeft(deadline: number): void {
    if (deadline <= Date.now()) throw new DeadlineExceeded("no time is left for the call", "DEADLINE_EXCEEDED");
}

function asItIs(bytes: Buffer): Buffer {
    return bytes;
}

/** Writes as fast as the sidecar reads, and closes the stream after the last request. */
async function pump(requests: Many<Buffer>, stream: Stream): Promise<void> {
    let over = false;
    const ended = new Promise<void>((resolve) => {
        stream.once("status", () => {
            over = true;
            resolve();
        });
    });
    for await (const request of requests) {
        if (over) return;
        if (!stream.write(request)) {
            await Promise.race([ended, new Promise((resolve) => stream.once("drain", resolve))]);
        }
    }
    stream.end();
}
