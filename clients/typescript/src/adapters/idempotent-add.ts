// Messages keep their generated ids after an error: only the response may have been lost.

import { createHash } from "node:crypto";
import type { Client } from "../client.js";
import type { AddBatchRequest, MessageInput } from "../gen/types.js";
import { newId } from "../ids.js";

/** One message of a framework. */
export interface Draft {
    /** The key that identifies the message in a retry, also as another object. */
    readonly same: string;
    /** The messages to store; missing ids are generated. */
    readonly messages: MessageInput[];
}

type Owner = Pick<AddBatchRequest, "namespace" | "userId" | "sessionId">;

interface FailedAdd {
    readonly session: string;
    readonly ids: readonly string[];
    /** The number of adds that had started when this one failed. */
    readonly failed: number;
}

const MAX_FAILED_ADDS = 10_000;
// Per client, because frameworks create a history for each turn.
const memories = new WeakMap<Client, Memory>();

/**
 * Adds messages, all or nothing. Those that an add which failed had among its own keep the ids that they got, until an
 * add to the same session succeeds; so the same turn can be added again, and no message of it is stored twice.
 */
export async function addIdempotently(client: Client, owner: Owner, drafts: readonly Draft[]): Promise<void> {
    const memory = memories.get(client) ?? new Memory();
    memories.set(client, memory);
    const session = JSON.stringify([owner.namespace || "default", owner.sessionId]);
    const begun = memory.begin();
    const ids = new Map<string, readonly string[]>();
    const messages = keyed(session, drafts).flatMap(([key, draft]) => {
        const given = memory.idsOf(key) ?? draft.messages.map(newId);
        ids.set(key, given);
        return draft.messages.map((message, at) => ({ ...message, id: message.id ?? given[at] }));
    });
    try {
        await client.addBatch({ ...owner, messages });
    } catch (error) {
        memory.failed(session, ids);
        throw error;
    }
    memory.succeeded(session, begun);
}

/** Equal messages in one batch are different messages. */
function keyed(session: string, drafts: readonly Draft[]): [string, Draft][] {
    const seen = new Map<string, number>();
    return drafts.map((draft) => {
        const sum = createHash("sha256").update(`${session}\n${draft.same}`).digest("base64");
        const times = seen.get(sum) ?? 0;
        seen.set(sum, times + 1);
        return [`${sum} ${times}`, draft];
    });
}

class Memory {
    readonly #failedAdds = new Map<string, FailedAdd>();
    #begun = 0;

    /** Returns the number of a new add. */
    begin(): number {
        this.#begun += 1;
        return this.#begun;
    }

    idsOf(key: string): readonly string[] | undefined {
        return this.#failedAdds.get(key)?.ids;
    }

    failed(session: string, ids: ReadonlyMap<string, readonly string[]>): void {
        for (const [key, given] of ids) {
            this.#failedAdds.delete(key);
            this.#failedAdds.set(key, { session, ids: given, failed: this.#begun });
        }
        for (const key of this.#failedAdds.keys()) {
            if (this.#failedAdds.size <= MAX_FAILED_ADDS) return;
            this.#failedAdds.delete(key);
        }
    }

    /** Drops earlier failures of the session: an equal message after a success is a new one. */
    succeeded(session: string, begun: number): void {
        for (const [key, one] of this.#failedAdds) {
            if (one.session === session && one.failed < begun) this.#failedAdds.delete(key);
        }
    }
}
