package dev.memsidecar.examples;

import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.springai.MemsidecarChatMemoryRepository;
import java.time.Duration;
import java.util.List;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.annotation.Tool;

/**
 * An agent of Spring AI whose memory is a sidecar: messages survive a restart. The model is fake; replace
 * {@link FakeModel} by yours.
 */
public final class SpringAiAgent {
    private SpringAiAgent() {}

    /** The tools of the model. */
    static final class Weather {
        @Tool(description = "The weather of a city")
        String weather(String city) {
            return "21 degrees and sunny in " + city;
        }
    }

    /** Calls the weather tool for Lisbon, then answers with the weather and the number of its input messages. */
    private static final class FakeModel implements ChatModel {
        @Override
        public ChatResponse call(Prompt prompt) {
            List<Message> shown = prompt.getInstructions();
            AssistantMessage answer = shown.get(shown.size() - 1) instanceof ToolResponseMessage message
                    ? new AssistantMessage(
                            "It is " + message.getResponses().get(0).responseData() + ". I was shown " + shown.size()
                                    + " messages.")
                    : AssistantMessage.builder()
                            .content("")
                            .toolCalls(List.of(new AssistantMessage.ToolCall(
                                    MemsidecarClient.newId(), "function", "weather", "{\"city\": \"Lisbon\"}")))
                            .build();
            return new ChatResponse(List.of(new Generation(answer)));
        }

        @Override
        public ChatOptions getOptions() {
            return ToolCallingChatOptions.builder().build();
        }
    }

    /**
     * Runs two conversations, as two processes would.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        String conversationId = "spring-ai-" + MemsidecarClient.newId();
        say(conversationId, "How is the weather in Lisbon?");
        say(conversationId, "And now?");
    }

    private static void say(String conversationId, String question) {
        try (MemsidecarClient client = MemsidecarClient.create()) {
            client.waitUntilReady(Duration.ofSeconds(10));
            System.out.println("user:  " + question);
            System.out.println("agent: " + ask(client, conversationId, question));
        }
    }

    private static String ask(MemsidecarClient client, String conversationId, String question) {
        ChatMemory memory = MessageWindowChatMemory.builder()
                .chatMemoryRepository(new MemsidecarChatMemoryRepository(client))
                .build();
        return ChatClient.create(new FakeModel())
                .prompt()
                .system("You answer questions about the weather.")
                .user(question)
                .tools(new Weather())
                // After the advisor that calls tools, so that the memory stores the calls and their results.
                .advisors(MessageChatMemoryAdvisor.builder(memory)
                        .order(ToolCallingAdvisor.DEFAULT_ORDER + 1)
                        .build())
                .advisors(advisors -> advisors.param(ChatMemory.CONVERSATION_ID, conversationId))
                .call()
                .content();
    }
}
