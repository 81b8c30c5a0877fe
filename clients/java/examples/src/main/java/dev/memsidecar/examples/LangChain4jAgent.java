package dev.memsidecar.examples;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.langchain4j.service.SystemMessage;
import dev.langchain4j.service.UserMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.langchain4j.MemsidecarChatMemoryStore;
import java.time.Duration;
import java.util.List;

/**
 * An agent of LangChain4j whose memory is a sidecar: messages survive a restart. The model is fake; replace
 * {@link FakeModel} by yours.
 */
public final class LangChain4jAgent {
    private LangChain4jAgent() {}

    private interface Assistant {
        @SystemMessage("You answer questions about the weather.")
        String chat(@MemoryId String memoryId, @UserMessage String question);
    }

    /** The tools of the model. */
    static final class Weather {
        @Tool("The weather of a city")
        String weather(@P("the city") String city) {
            return "21 degrees and sunny in " + city;
        }
    }

    /** Calls the weather tool for Lisbon, then answers with the weather and the number of its input messages. */
    private static final class FakeModel implements ChatModel {
        @Override
        public ChatResponse doChat(ChatRequest request) {
            List<ChatMessage> shown = request.messages();
            ChatMessage newest = shown.get(shown.size() - 1);
            AiMessage answer = newest instanceof ToolExecutionResultMessage result
                    ? AiMessage.from("It is " + result.text() + ". I was shown " + shown.size() + " messages.")
                    : AiMessage.from(ToolExecutionRequest.builder()
                            .id(MemsidecarClient.newId())
                            .name("weather")
                            .arguments("{\"city\": \"Lisbon\"}")
                            .build());
            return ChatResponse.builder().aiMessage(answer).build();
        }
    }

    /**
     * Runs two conversations, as two processes would.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        String memoryId = "langchain4j-" + MemsidecarClient.newId();
        say(memoryId, "How is the weather in Lisbon?");
        say(memoryId, "And now?");
    }

    private static void say(String memoryId, String question) {
        try (MemsidecarClient client = MemsidecarClient.create()) {
            client.waitUntilReady(Duration.ofSeconds(10));
            System.out.println("user:  " + question);
            System.out.println(
                    "agent: " + assistant(new MemsidecarChatMemoryStore(client)).chat(memoryId, question));
        }
    }

    private static Assistant assistant(ChatMemoryStore store) {
        return AiServices.builder(Assistant.class)
                .chatModel(new FakeModel())
                .tools(new Weather())
                .chatMemoryProvider(memoryId -> MessageWindowChatMemory.builder()
                        .id(memoryId)
                        .maxMessages(20)
                        .chatMemoryStore(store)
                        .build())
                .build();
    }
}
