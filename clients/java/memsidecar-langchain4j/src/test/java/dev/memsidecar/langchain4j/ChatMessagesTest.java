package dev.memsidecar.langchain4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.ImageContent;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.memsidecar.chatmemory.Payload;
import dev.memsidecar.client.Messages;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ChatMessagesTest {
    private static final ToolExecutionRequest CALL =
            call("c1").arguments("{\"city\": \"Lisbon\"}").build();

    private static ToolExecutionRequest.Builder call(String id) {
        return ToolExecutionRequest.builder().id(id).name("weather");
    }

    /** Messages that the contract's fields represent completely. */
    static Stream<ChatMessage> plain() {
        return Stream.of(
                SystemMessage.from("Be kind."),
                UserMessage.from("Hello."),
                UserMessage.from("ana", "Hello."),
                AiMessage.from("Hello, Ana."),
                AiMessage.from(CALL, call("c2").arguments("").build()),
                AiMessage.builder()
                        .text("Let me see.")
                        .thinking("The user wants to know the weather.")
                        .toolExecutionRequests(List.of(CALL))
                        .build(),
                ToolExecutionResultMessage.from("c1", "weather", "sunny"),
                ToolExecutionResultMessage.from(null, "weather", "sunny"));
    }

    static Stream<ChatMessage> withMore() {
        return Stream.of(
                UserMessage.from(
                        TextContent.from("What is this?"),
                        ImageContent.from("https://example.com/cat.png"),
                        TextContent.from("And\nthis?"),
                        ImageContent.from("aGVsbG8=", "image/png")),
                UserMessage.from(ImageContent.from("https://example.com/cat.png")),
                UserMessage.from(TextContent.from("one"), TextContent.from(""), TextContent.from("three")),
                UserMessage.from(""),
                UserMessage.builder()
                        .addContent(TextContent.from("Hello."))
                        .attributes(Map.of("a", 1, "b", List.of("x"), "c", 0.5, "d", Map.of("e", true)))
                        .build(),
                AiMessage.from(""),
                AiMessage.builder()
                        .text("")
                        .toolExecutionRequests(List.of(CALL))
                        .build(),
                AiMessage.builder().thinking("Nothing to say.").build(),
                AiMessage.builder()
                        .text("Hello.")
                        .thinking("Long.")
                        .attributes(Map.of("signature", "s"))
                        .build(),
                AiMessage.from(call(null).arguments("{}").build(), call(null).build()),
                ToolExecutionResultMessage.from("c1", "weather", ""),
                ToolExecutionResultMessage.builder()
                        .id("c1")
                        .toolName("weather")
                        .text("no such city")
                        .isError(true)
                        .build(),
                ToolExecutionResultMessage.builder()
                        .id("c1")
                        .toolName("camera")
                        .contents(List.of(TextContent.from("a cat"), ImageContent.from("https://example.com/cat.png")))
                        .build(),
                CustomMessage.from(Map.of("role", "critic")));
    }

    static Stream<ChatMessage> all() {
        return Stream.concat(plain(), withMore());
    }

    @ParameterizedTest
    @MethodSource("all")
    void aMessageComesBackAsItWas(ChatMessage message) {
        Message written = ChatMessages.written(message);
        ChatMessage read = ChatMessages.read(written);
        assertEquals(message, read);
        assertEquals(written, ChatMessages.written(read));
        assertFalse(written.getContent().isEmpty() && written.getToolCallsCount() == 0, "something must be said");
    }

    /** Values of other programs under the adapter's key. */
    static Stream<String> foreign() {
        return Stream.of(
                "",
                "no JSON",
                "null",
                "[]",
                "{}",
                "{\"text\": null}",
                "{\"text\": \"another\"}",
                "{\"part\": \"x\", \"parts\": 0}",
                "{\"metadata\": 5}",
                "{\"metadata\": {\"a\": {\"$long\": \"x\"}}}",
                "{\"media\": [{\"mimeType\": 1}]}",
                "{\"toolCalls\": [{}, {}, {}]}",
                "{\"toolCalls\": 5}",
                "{\"type\": \"USER\", \"contents\": [{\"type\": \"TEXT\", \"text\": \"999\"}]}",
                "{\"type\": \"USER\", \"contents\": [{\"type\": \"TEXT\", \"text\": \"abc\"}]}",
                "{\"type\": \"USER\", \"contents\": []}",
                "{\"type\": \"AI\", \"text\": \"2\", \"toolExecutionRequests\": []}",
                "{\"type\": \"AI\", \"toolExecutionRequests\": [{\"name\": \"x\", \"arguments\": \"\"}]}",
                "{\"type\": \"SYSTEM\", \"text\": \"Obey.\"}",
                "{\"type\": \"CUSTOM\", \"attributes\": {}}");
    }

    @ParameterizedTest
    @MethodSource("foreign")
    void whatIsNotOursIsReadFromTheFields(String payload) {
        for (Message plain : List.of(
                Messages.system("Hello."),
                Messages.user("Hello."),
                Messages.assistant("Hello."),
                Messages.assistant(
                        "",
                        List.of(ToolCall.newBuilder().setId("c").setName("n").build())),
                Messages.tool(ToolCall.newBuilder().setId("c").setName("n").build(), "Hello."))) {
            Message.Builder strange = plain.toBuilder();
            Payload.set(strange, payload);
            assertEquals(ChatMessages.read(plain), ChatMessages.read(strange.build()));
        }
    }

    @Test
    void aValueThatIsNoTextIsNotOurs() {
        Message strange = Messages.user("Hello.").toBuilder()
                .setMetadata(Struct.newBuilder()
                        .putFields(
                                "chat_message",
                                Value.newBuilder().setNumberValue(5).build()))
                .build();
        assertEquals(UserMessage.from("Hello."), ChatMessages.read(strange));
    }

    @Test
    void whatOthersSayWithoutWordsIsReadAllTheSame() {
        for (Role role : List.of(Role.ROLE_SYSTEM, Role.ROLE_USER, Role.ROLE_ASSISTANT, Role.ROLE_TOOL)) {
            Message blank = Message.newBuilder()
                    .setRole(role)
                    .setContent(" \n")
                    .setName(" ")
                    .build();
            assertNotNull(ChatMessages.read(blank));
            assertEquals(1, ChatMessages.handedBack(List.of(blank)).size());
        }
    }

    @ParameterizedTest
    @MethodSource("plain")
    void aPlainMessageHasNothingBesideItsFields(ChatMessage message) {
        assertEquals(false, Payload.of(ChatMessages.written(message)).isPresent());
    }
}
