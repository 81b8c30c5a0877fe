package dev.memsidecar.springai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.testing.Sidecar;
import dev.memsidecar.v1.GetAllRequest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.client.advisor.MessageChatMemoryAdvisor;
import org.springframework.ai.chat.client.advisor.ToolCallingAdvisor;
import org.springframework.ai.chat.memory.ChatMemory;
import org.springframework.ai.chat.memory.MessageWindowChatMemory;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.model.Generation;
import org.springframework.ai.chat.prompt.ChatOptions;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.annotation.Tool;

/** The repository with Spring AI's own memory and client; only the model is fake. */
@Timeout(60)
class MemsidecarChatMemoryRepositoryTest {
    private static Sidecar sidecar;
    private MemsidecarClient client;
    private MemsidecarChatMemoryRepository repository;
    private String session;

    @BeforeAll
    static void start() {
        sidecar = Sidecar.start();
    }

    @AfterAll
    static void stop() {
        sidecar.close();
    }

    @BeforeEach
    void open(TestInfo test) {
        session = test.getTestMethod().orElseThrow().getName();
        client = MemsidecarClient.builder().address(sidecar.address()).build();
        repository = new MemsidecarChatMemoryRepository(client, "tests", conversationId -> "ana");
    }

    @AfterEach
    void close() {
        client.close();
    }

    private ChatMemory memory(int maxMessages) {
        return MessageWindowChatMemory.builder()
                .chatMemoryRepository(repository)
                .maxMessages(maxMessages)
                .build();
    }

    private List<String> stored(boolean includePruned) {
        return client
                .messages(GetAllRequest.newBuilder()
                        .setNamespace("tests")
                        .setSessionId(session)
                        .setIncludePruned(includePruned)
                        .build())
                .stream()
                .map(dev.memsidecar.v1.Message::getContent)
                .toList();
    }

    static final class Weather {
        @Tool
        String weather(String city) {
            return "sunny in " + city;
        }
    }

    /** Calls the weather tool for two cities at once, then answers; records its input. */
    static final class FakeModel implements ChatModel {
        private final List<List<Message>> shown = new ArrayList<>();

        @Override
        public ChatResponse call(Prompt prompt) {
            shown.add(prompt.getInstructions());
            Message newest =
                    prompt.getInstructions().get(prompt.getInstructions().size() - 1);
            AssistantMessage answer = newest instanceof ToolResponseMessage
                    ? new AssistantMessage("It is sunny in both.")
                    : AssistantMessage.builder()
                            .content("")
                            .toolCalls(List.of(asked("a", "Lisbon"), asked("b", "Porto")))
                            .build();
            return new ChatResponse(List.of(new Generation(answer)));
        }

        private AssistantMessage.ToolCall asked(String id, String city) {
            return new AssistantMessage.ToolCall(
                    id + shown.size(), "function", "weather", "{\"city\": \"" + city + "\"}");
        }

        @Override
        public ChatOptions getOptions() {
            return ToolCallingChatOptions.builder().build();
        }
    }

    /** The memory is inside the tool loop, so that it stores the calls and their results. */
    private String ask(ChatModel model, String question) {
        MessageChatMemoryAdvisor remembering = MessageChatMemoryAdvisor.builder(memory(20))
                .order(ToolCallingAdvisor.DEFAULT_ORDER + 1)
                .build();
        return ChatClient.create(model)
                .prompt()
                .user(question)
                .tools(new Weather())
                .advisors(remembering)
                .advisors(advisors -> advisors.param(ChatMemory.CONVERSATION_ID, session))
                .call()
                .content();
    }

    @Test
    void anAgentWithToolsGoesOnAfterARestart() {
        FakeModel model = new FakeModel();
        assertEquals("It is sunny in both.", ask(model, "How is Portugal?"));
        close();
        client = MemsidecarClient.builder().address(sidecar.address()).build();
        repository = new MemsidecarChatMemoryRepository(client, "tests", conversationId -> "ana");
        assertEquals("It is sunny in both.", ask(model, "And now?"));

        List<String> turn = List.of("", "\"sunny in Lisbon\"", "\"sunny in Porto\"", "It is sunny in both.");
        List<String> expected = new ArrayList<>();
        expected.add("How is Portugal?");
        expected.addAll(turn);
        expected.add("And now?");
        expected.addAll(turn);
        assertEquals(expected, stored(true));
        List<Message> conversation = repository.findByConversationId(session);
        assertEquals(8, conversation.size());
        // The model saw exactly this, once. A client without a system prompt starts with an empty one.
        List<Message> shown = model.shown.get(3);
        assertEquals(conversation.subList(0, 7), shown.subList(1, shown.size()));
    }

    @Test
    void whatHasLeftTheWindowIsPrunedAndNotLost() {
        ChatMemory memory = memory(3);
        memory.add(session, new SystemMessage("Be kind."));
        for (int number = 1; number <= 4; number++) {
            memory.add(session, new UserMessage("question " + number));
            memory.add(session, new AssistantMessage("answer " + number));
        }
        List<Message> left =
                List.of(new SystemMessage("Be kind."), new UserMessage("question 4"), new AssistantMessage("answer 4"));
        assertEquals(left, memory.get(session));
        assertEquals(List.of("Be kind.", "question 4", "answer 4"), stored(false));
        assertEquals(9, stored(true).size());
    }

    @Test
    void aNewSystemMessageTakesThePlaceOfTheOld() {
        ChatMemory memory = memory(10);
        memory.add(session, List.of(new SystemMessage("Be kind."), new UserMessage("hello")));
        memory.add(session, new SystemMessage("Be brief."));
        assertEquals(List.of(new UserMessage("hello"), new SystemMessage("Be brief.")), memory.get(session));
    }

    @Test
    void whatIsSavedReplacesWhatWas() {
        repository.saveAll(session, List.of(new UserMessage("one"), new UserMessage("two")));
        repository.saveAll(session, List.of(new UserMessage("one"), new UserMessage("two")));
        repository.saveAll(session, List.of(new UserMessage("three")));
        assertEquals(List.of(new UserMessage("three")), repository.findByConversationId(session));
        assertEquals(List.of("one", "two", "three"), stored(true));
        repository.saveAll(session, List.of());
        assertEquals(List.of(), repository.findByConversationId(session));
    }

    @Test
    void conversationsAreFoundUntilTheyAreDeleted() {
        assertEquals(List.of(), repository.findByConversationId(session));
        assertFalse(repository.findConversationIds().contains(session));
        repository.saveAll(session, List.of(new UserMessage("hello")));
        assertTrue(repository.findConversationIds().contains(session));
        repository.deleteByConversationId(session);
        assertFalse(repository.findConversationIds().contains(session));
        assertEquals(List.of(), repository.findByConversationId(session));
        assertTrue(stored(true).isEmpty());
        repository.deleteByConversationId("never seen");
    }

    @Test
    void aConversationWithoutANameIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> repository.findByConversationId(""));
        assertThrows(IllegalArgumentException.class, () -> repository.saveAll(null, List.of()));
        assertThrows(IllegalArgumentException.class, () -> repository.saveAll(session, null));
        assertThrows(IllegalArgumentException.class, () -> repository.deleteByConversationId(" "));
    }
}
