// An agent of the Vercel AI SDK with a tool whose memory is memsidecar. Needs a sidecar, ai and zod.
//
//     npm run example:ai-sdk                         # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600
//
// The model here is fake, so that the example runs offline; put any language model of the SDK in its place.

import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { Client, newId } from "memsidecar-client";
import { Conversation } from "memsidecar-client/ai-sdk";
import { z } from "zod";

const weather = tool({
    description: "The weather in a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `21 degrees and sunny in ${city}`,
});

type Generated = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;

function generated(content: Generated["content"], unified: "stop" | "tool-calls"): Generated {
    const usage = {
        inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 10, text: 10, reasoning: 0 },
    };
    return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
}

/** Pretends to be a model: looks for a city in all that it is shown, asks for its weather, then tells it. */
const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
        const shown = prompt.map((message) => JSON.stringify(message.content));
        const result = /\d+ degrees[^"]*/.exec(shown.at(-1) ?? "");
        if (result) return generated([{ type: "text", text: `It is ${result[0]}.` }], "stop");
        const city = shown.map((text) => /Porto|Lisbon/.exec(text)?.[0]).findLast((found) => found !== undefined);
        if (city === undefined) return generated([{ type: "text", text: "Where do you live?" }], "stop");
        const input = JSON.stringify({ city });
        return generated([{ type: "tool-call", toolCallId: newId(), toolName: "weather", input }], "tool-calls");
    },
});

async function turn(conversation: Conversation, question: string): Promise<string> {
    await conversation.add({ role: "user", content: question });
    const prompt = await conversation.prompt({ systemPrompt: "You answer questions about the weather." });
    const result = await generateText({ model, tools: { weather }, stopWhen: stepCountIs(5), ...prompt });
    await conversation.addResponse(result);
    return result.text;
}

await using client = new Client();
await client.waitUntilReady();
const userId = `ana-${newId().slice(-6)}`;
for (const [session, question] of [
    ["monday", "What is the weather like?"],
    ["monday", "I live in Lisbon."],
    ["tuesday", "How is the weather where I live?"],
] as const) {
    const conversation = new Conversation(client, { userId, sessionId: `${userId}/${session}` });
    console.log(`${session.padEnd(8)} user:  ${question}`);
    console.log(`${"".padEnd(8)} agent: ${await turn(conversation, question)}`);
}
