// The requests of a stream, with a buffer of unacknowledged requests to resume an interrupted stream.

import { wrong } from "./plain.js";

/** Requests as a synchronous or asynchronous iterable. */
export type Many<Item> = Iterable<Item> | AsyncIterable<Item>;

/**
 * A caller's requests, encoded. It holds the caller's own iterator and none around it: a generator between would wait
 * together with the caller's, and could not tell it that the stream is over.
 */
export class Source<Request> implements AsyncIterableIterator<Buffer, undefined> {
    readonly #requests: Iterator<Request> | AsyncIterator<Request>;
    readonly #encode: (request: Request) => Buffer;
    #over = false;

    constructor(requests: Many<Request>, encode: (request: Request) => Buffer) {
        this.#requests = iteratorOf(requests);
        this.#encode = encode;
    }

    [Symbol.asyncIterator](): this {
        return this;
    }

    async next(): Promise<IteratorResult<Buffer, undefined>> {
        const found = await this.#next();
        if (found.done) return { done: true, value: undefined };
        return { done: false, value: this.#encode(await found.value) };
    }

    /** Stop: no caller reads the responses. A waiting source is notified, not awaited. */
    async close(): Promise<void> {
        if (this.#over) return;
        this.#over = true;
        try {
            await this.#requests.return?.();
        } catch {
            // The stream has ended before the request.
        }
    }

    /** A source that has ended or failed is not read again. */
    async #next(): Promise<IteratorResult<Request>> {
        if (this.#over) return { done: true, value: undefined };
        try {
            const found = await this.#requests.next();
            this.#over ||= found.done === true;
            return found;
        } catch (error) {
            this.#over = true;
            throw error;
        }
    }
}

/** Buffers requests from the source until they are acknowledged, in order. */
export class Replay {
    readonly #source: AsyncIterator<Buffer>;
    readonly #kept: Buffer[] = [];
    #answered = 0;
    #taking: Promise<boolean> | undefined;
    #ended = false;

    constructor(source: AsyncIterator<Buffer>) {
        this.#source = source;
    }

    /** Whether the source has ended, and all of it is answered. */
    get complete(): boolean {
        return this.#ended && this.#kept.length === 0;
    }

    /** The oldest request is acknowledged. */
    answered(): void {
        this.#kept.shift();
        this.#answered += 1;
    }

    /** Yields requests from the oldest unacknowledged one to the end of the source. */
    async *unanswered(): AsyncGenerator<Buffer, void, undefined> {
        for (let place = this.#answered; ; place += 1) {
            while (place - this.#answered >= this.#kept.length) {
                if (!(await this.#taken())) return;
            }
            const request = this.#kept[place - this.#answered];
            if (request === undefined) return;
            yield request;
        }
    }

    /**
     * Takes one more; false at the end. A stream that broke may still wait for the source when the next stream begins:
     * both wait for the same request, and what one has taken the other finds. The source's end and its error are found
     * by every stream from then on: the first stream that saw them may no longer be read.
     */
    #taken(): Promise<boolean> {
        this.#taking ??= this.#take();
        return this.#taking;
    }

    async #take(): Promise<boolean> {
        const { done, value } = await this.#source.next();
        if (done) {
            this.#ended = true;
            return false;
        }
        this.#kept.push(value);
        this.#taking = undefined;
        return true;
    }
}

function iteratorOf<Item>(items: Many<Item>): Iterator<Item> | AsyncIterator<Item> {
    const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = Object(items) as Partial<
        AsyncIterable<Item> & Iterable<Item>
    >;
    const iterator = later?.call(items) ?? now?.call(items);
    if (!iterator) throw wrong(items, "requests", "a list or an async iterable");
    return iterator;
}
