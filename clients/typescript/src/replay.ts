// The requests of a stream that are not answered yet, so that a stream which breaks off can go on.

/** Keeps requests from when they are taken from the source until they are answered, which happens in their order. */
export class Replay {
    readonly #source: AsyncIterator<Buffer>;
    readonly #kept: Buffer[] = [];
    #answered = 0;
    #taking: Promise<boolean> | undefined;

    constructor(source: AsyncIterable<Buffer>) {
        this.#source = source[Symbol.asyncIterator]();
    }

    /** The oldest has been answered. */
    answered(): void {
        this.#kept.shift();
        this.#answered += 1;
    }

    /** From the oldest that is not answered on, to the source's end. */
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

    /** Nobody reads on. A source that still waits for something is told, and not waited for. */
    close(): void {
        this.#source.return?.().catch(() => {});
    }

    /**
     * Takes one more; false at the end. A stream that broke may still wait for the source when the next stream begins:
     * both wait for the same request, and what one has taken the other finds.
     */
    #taken(): Promise<boolean> {
        this.#taking ??= this.#take().finally(() => {
            this.#taking = undefined;
        });
        return this.#taking;
    }

    async #take(): Promise<boolean> {
        const { done, value } = await this.#source.next();
        if (done) return false;
        this.#kept.push(value);
        return true;
    }
}
