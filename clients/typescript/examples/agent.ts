// An agent with a memory: asks a model, lets it call a tool, answers, and remembers. Needs a sidecar and nothing else.
//
//     npm run example                                # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600
//
// The model here is fake, so that the example runs offline; `askModel` is where yours goes.

import { type BuildContextResponse, Client, type MessageInput, newId, type ToolCall } from "memsidecar-client";

const MODEL = "gpt-4o";
const SYSTEM_PROMPT = "You answer questions about the weather.";
const TOOLS = ["weather", "remember_home"].map((name) => ({ name, parameters: { city: "string" } }));
const WEATHER = new Map([
    ["Lisbon", "21 degrees and sunny"],
    ["Porto", "17 degrees and rain"],
]);

/** An answer of a provider: a text or tool calls, and the charged tokens. */
interface Answer {
    text: string;
    calls: ToolCall[];
    chargedTokens: number;
}

/** Pretends to be a model: looks for a city in all that it is shown, asks for its weather, then tells it. */
function askModel(context: BuildContextResponse): Answer {
    const tokens = context.messages.reduce((sum, message) => sum + message.tokens, 0);
    const answer = { text: "", calls: [], chargedTokens: tokens || context.totalTokens };
    const newest = context.messages.at(-1);
    if (newest?.role === "tool") return { ...answer, text: `It is ${newest.content}.` };
    const shown = context.messages.map((message) => message.content).reverse();
    const city = shown.flatMap((text) => [...WEATHER.keys()].filter((name) => text.includes(name)))[0];
    if (city === undefined) return { ...answer, text: "Where do you live?" };
    const wanted = newest?.content.includes(city) ? ["remember_home", "weather"] : ["weather"];
    const argumentsJson = JSON.stringify({ city });
    return { ...answer, calls: wanted.map((name) => ({ id: newId(), name, argumentsJson })) };
}

class Agent {
    readonly #memory: Client;
    readonly #owner: { userId: string; sessionId: string };

    constructor(memory: Client, userId: string, sessionId: string) {
        this.#memory = memory;
        this.#owner = { userId, sessionId };
    }

    /** Stores each message at once, so no message is lost if the agent ends. */
    async turn(question: string): Promise<string> {
        await this.#say({ role: "user", content: question });
        for (;;) {
            const { text, calls } = await this.#think();
            await this.#say({ role: "assistant", content: text, toolCalls: calls });
            if (calls.length === 0) return text;
            for (const call of calls) {
                const content = await this.#useTool(call);
                await this.#say({ role: "tool", content, toolCallId: call.id, name: call.name });
            }
        }
    }

    async #think(): Promise<Answer> {
        const context = await this.#memory.buildContext({
            ...this.#owner,
            model: MODEL,
            maxTokens: 4_000,
            reserveOutputTokens: 500,
            systemPrompt: SYSTEM_PROMPT,
            toolSchemasJson: JSON.stringify(TOOLS),
        });
        const answer = askModel(context);
        await this.#memory.reportUsage({
            model: MODEL,
            estimatedTokens: context.totalTokens - reserved(context),
            actualTokens: answer.chargedTokens,
        });
        return answer;
    }

    async #useTool(call: ToolCall): Promise<string> {
        const { city } = JSON.parse(call.argumentsJson) as { city: string };
        if (call.name === "weather") return WEATHER.get(city) ?? "unknown";
        await this.#memory.putFacts({ ...this.#owner, facts: [{ type: "user_profile", key: "home", value: city }] });
        return "remembered";
    }

    async #say(message: Omit<MessageInput, "id">): Promise<void> {
        await this.#memory.add({ ...this.#owner, ...message });
    }
}

/** Kept free for the answer, so it was not sent. */
function reserved(context: BuildContextResponse): number {
    const sections = context.receipt?.sections.filter((section) => section.section === "output_reserve") ?? [];
    return sections.reduce((sum, section) => sum + section.usedTokens, 0);
}

await using memory = new Client();
await memory.waitUntilReady();
const user = `ana-${newId().slice(-6)}`;
for (const [session, question] of [
    ["monday", "What is the weather like?"],
    ["monday", "I live in Lisbon."],
    ["tuesday", "How is the weather where I live?"],
] as const) {
    console.log(`${session.padEnd(8)} user:  ${question}`);
    console.log(`${"".padEnd(8)} agent: ${await new Agent(memory, user, `${user}/${session}`).turn(question)}`);
}
