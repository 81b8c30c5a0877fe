// A LangChain.js agent with a tool whose history is in memsidecar. Needs a sidecar, @langchain/core and zod.
//
//     npm run example:langchain                      # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600
//
// The model here is fake, so that the example runs offline; put any chat model of LangChain in its place.

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import { Client, newId } from "memsidecar-client";
import { MemsidecarChatMessageHistory } from "memsidecar-client/langchain";
import { z } from "zod";

const weather = tool(async ({ city }) => `21 degrees and sunny in ${city}`, {
    name: "weather",
    description: "The weather in a city",
    schema: z.object({ city: z.string() }),
});

/** Pretends to be a model: looks for a city in all that it is shown, asks for its weather, then tells it. */
class FakeModel extends BaseChatModel {
    override _llmType(): string {
        return "fake";
    }

    override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
        const message = this.#answer(messages);
        return { generations: [{ text: message.text, message }] };
    }

    #answer(messages: BaseMessage[]): AIMessage {
        const newest = messages.at(-1);
        if (newest instanceof ToolMessage) return new AIMessage(`It is ${newest.text}.`);
        const city = messages
            .map(({ text }) => /Porto|Lisbon/.exec(text)?.[0])
            .findLast((found) => found !== undefined);
        if (city === undefined) return new AIMessage("Where do you live?");
        return new AIMessage({
            content: "",
            tool_calls: [{ id: newId(), name: "weather", args: { city }, type: "tool_call" }],
        });
    }
}

const model = new FakeModel({});

/** Everything is stored as it happens, and the model sees what the sidecar thinks it should. */
async function turn(history: MemsidecarChatMessageHistory, question: string): Promise<string> {
    await history.addMessage(new HumanMessage(question));
    for (;;) {
        const context = await history.context({ systemPrompt: "You answer questions about the weather." });
        const answer = await model.invoke(context);
        const calls = answer.tool_calls ?? [];
        const results = await Promise.all(calls.map((call) => weather.invoke({ ...call, type: "tool_call" })));
        await history.addMessages([answer, ...results]);
        if (calls.length === 0) return answer.text;
    }
}

await using client = new Client();
await client.waitUntilReady();
const userId = `ana-${newId().slice(-6)}`;
for (const [session, question] of [
    ["monday", "What is the weather like?"],
    ["monday", "I live in Lisbon."],
    ["tuesday", "How is the weather where I live?"],
] as const) {
    const history = new MemsidecarChatMessageHistory({ client, userId, sessionId: `${userId}/${session}` });
    console.log(`${session.padEnd(8)} user:  ${question}`);
    console.log(`${"".padEnd(8)} agent: ${await turn(history, question)}`);
}
