package dev.memsidecar.langchain4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.memory.ChatMemory;
import dev.langchain4j.memory.chat.MessageWindowChatMemory;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.service.AiServices;
import dev.langchain4j.service.MemoryId;
import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.testing.Sidecar;
import dev.memsidecar.v1.GetAllRequest;
import dev.memsidecar.v1.Message;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** The store with LangChain4j's own memory and services; only the model is fake. */
@Timeout(60)
class MemsidecarChatMemoryStoreTest {
    private static Sidecar sidecar;
    private MemsidecarClient client;
    private MemsidecarChatMemoryStore store;
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
        store = new MemsidecarChatMemoryStore(client, "tests", memoryId -> "ana");
    }

    @AfterEach
    void close() {
        client.close();
    }

    private ChatMemory memory(int maxMessages) {
        return MessageWindowChatMemory.builder()
                .id(session)
                .maxMessages(maxMessages)
                .chatMemoryStore(store)
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
                .map(Message::getContent)
                .toList();
    }

    interface Assistant {
        @dev.langchain4j.service.SystemMessage("You answer questions about the weather.")
        String chat(@MemoryId String memoryId, @dev.langchain4j.service.UserMessage String question);
    }

    static final class Weather {
        @Tool
        String weather(@P("the city") String city) {
            return "sunny in " + city;
        }
    }

    /** Calls the weather tool for the first city, then answers; records its input. */
    static final class FakeModel implements ChatModel {
        private final List<List<ChatMessage>> shown = new ArrayList<>();

        @Override
        public ChatResponse doChat(ChatRequest request) {
            shown.add(request.messages());
            ChatMessage newest = request.messages().get(request.messages().size() - 1);
            AiMessage answer = newest instanceof ToolExecutionResultMessage result
                    ? AiMessage.from("It is " + result.text() + ".")
                    : AiMessage.from(ToolExecutionRequest.builder()
                            .id("call-" + shown.size())
                            .name("weather")
                            .arguments("{\"city\": \"Lisbon\"}")
                            .build());
            return ChatResponse.builder().aiMessage(answer).build();
        }
    }

    private Assistant assistant(ChatModel model) {
        return AiServices.builder(Assistant.class)
                .chatModel(model)
                .tools(new Weather())
                .chatMemoryProvider(memoryId -> memory(20))
                .build();
    }

    @Test
    void anAgentWithToolsGoesOnAfterARestart() {
        FakeModel model = new FakeModel();
        assertEquals("It is sunny in Lisbon.", assistant(model).chat(session, "How is Lisbon?"));
        close();
        client = MemsidecarClient.builder().address(sidecar.address()).build();
        store = new MemsidecarChatMemoryStore(client, "tests", memoryId -> "ana");
        assertEquals("It is sunny in Lisbon.", assistant(model).chat(session, "And now?"));

        assertEquals(
                List.of(
                        "You answer questions about the weather.",
                        "How is Lisbon?",
                        "",
                        "sunny in Lisbon",
                        "It is sunny in Lisbon.",
                        "And now?",
                        "",
                        "sunny in Lisbon",
                        "It is sunny in Lisbon."),
                stored(true));
        List<ChatMessage> window = store.getMessages(session);
        assertEquals(model.shown.get(3), window.subList(0, window.size() - 1));
    }

    @Test
    void whatIsEvictedIsPrunedAndNotLost() {
        ChatMemory memory = memory(3);
        memory.add(SystemMessage.from("Be kind."));
        for (int number = 1; number <= 6; number++) {
            memory.add(UserMessage.from("question " + number));
        }
        assertEquals(
                List.of(SystemMessage.from("Be kind."), UserMessage.from("question 5"), UserMessage.from("question 6")),
                memory.messages());
        assertEquals(List.of("Be kind.", "question 5", "question 6"), stored(false));
        assertEquals(7, stored(true).size());
    }

    @Test
    void anExchangeIsEvictedAsAWhole() {
        ChatMemory memory = memory(4);
        ToolExecutionRequest call = ToolExecutionRequest.builder()
                .id("c")
                .name("weather")
                .arguments("{}")
                .build();
        memory.add(UserMessage.from("one"));
        memory.add(AiMessage.from(call));
        memory.add(ToolExecutionResultMessage.from(call, "sunny"));
        memory.add(AiMessage.from("It is sunny."));
        memory.add(UserMessage.from("two"));
        memory.add(UserMessage.from("three"));
        List<ChatMessage> left =
                List.of(AiMessage.from("It is sunny."), UserMessage.from("two"), UserMessage.from("three"));
        assertEquals(left, memory.messages());
        assertEquals(List.of("It is sunny.", "two", "three"), stored(false));
    }

    @Test
    void aNewSystemMessageTakesThePlaceOfTheOld() {
        ChatMemory memory = memory(10);
        memory.add(SystemMessage.from("Be kind."));
        memory.add(UserMessage.from("hello"));
        memory.add(SystemMessage.from("Be brief."));
        memory.add(SystemMessage.from("Be brief."));
        memory.add(UserMessage.from("hello again"));
        List<ChatMessage> expected =
                List.of(UserMessage.from("hello"), SystemMessage.from("Be brief."), UserMessage.from("hello again"));
        assertEquals(expected, memory.messages());
        assertEquals(4, stored(true).size());
    }

    @Test
    void anUpdateThatIsRepeatedDoublesNothing() {
        List<ChatMessage> window = List.of(UserMessage.from("yes"), AiMessage.from("ok"), UserMessage.from("yes"));
        store.updateMessages(session, window);
        store.updateMessages(session, window);
        new MemsidecarChatMemoryStore(client, "tests", memoryId -> "ana").updateMessages(session, window);
        assertEquals(window, store.getMessages(session));
        assertEquals(List.of("yes", "ok", "yes"), stored(true));
    }

    @Test
    void severalContentsComeBack() {
        UserMessage message =
                UserMessage.from(TextContent.from("What is this?"), ImageContent.from("https://example.com/cat.png"));
        memory(10).add(message);
        assertEquals(List.of(message), memory(10).messages());
        assertEquals(List.of("What is this?"), stored(true));
    }

    @Test
    void whatIsDeletedIsGone() {
        ChatMemory memory = memory(10);
        memory.add(UserMessage.from("hello"));
        memory.clear();
        assertTrue(memory.messages().isEmpty());
        assertTrue(stored(true).isEmpty());
        memory.add(UserMessage.from("hello"));
        assertEquals(List.of(UserMessage.from("hello")), memory.messages());
    }
}
