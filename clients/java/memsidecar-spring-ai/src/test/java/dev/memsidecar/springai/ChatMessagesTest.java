package dev.memsidecar.springai;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.memsidecar.chatmemory.Payload;
import dev.memsidecar.client.Messages;
import dev.memsidecar.v1.Role;
import java.math.BigDecimal;
import java.net.URI;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.Message;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeTypeUtils;

class ChatMessagesTest {
    private static final ToolCall CALL = new ToolCall("c1", "function", "weather", "{\"city\": \"Lisbon\"}");
    private static final Map<String, Object> METADATA = Map.of(
            "finishReason",
            "STOP",
            "index",
            0,
            "created",
            1_700_000_000L,
            "big",
            5_000_000_000L,
            "score",
            0.25,
            "ratio",
            0.5f,
            "price",
            new BigDecimal("1.10"),
            "at",
            Instant.parse("2025-01-01T00:00:00Z"),
            "nested",
            Map.of("list", List.of(1, "two", true), "long", 7L));

    private static ToolResponseMessage responses(ToolResponse... responses) {
        return ToolResponseMessage.builder().responses(List.of(responses)).build();
    }

    /** Messages that the contract's fields represent completely. */
    static Stream<Message> plain() {
        return Stream.of(
                new SystemMessage("Be kind."),
                new UserMessage("Hello."),
                new AssistantMessage("Hello, Ana."),
                AssistantMessage.builder().content("").toolCalls(List.of(CALL)).build(),
                AssistantMessage.builder()
                        .content("Let me see.")
                        .toolCalls(List.of(CALL, new ToolCall("c2", "function", "time", "")))
                        .build(),
                responses(new ToolResponse("c1", "weather", "sunny")));
    }

    static Stream<Message> withMore() {
        return Stream.of(
                SystemMessage.builder()
                        .text("Be kind.")
                        .metadata(Map.of("version", 2))
                        .build(),
                new UserMessage(""),
                UserMessage.builder().text("Hello.").metadata(METADATA).build(),
                new AssistantMessage(null),
                new AssistantMessage(""),
                AssistantMessage.builder()
                        .content(null)
                        .toolCalls(List.of(CALL))
                        .properties(METADATA)
                        .build(),
                AssistantMessage.builder()
                        .content("")
                        .toolCalls(List.of(new ToolCall("", "custom", "weather", "{}")))
                        .build(),
                AssistantMessage.builder()
                        .content("")
                        .toolCalls(List.of(new ToolCall(null, "function", "weather", null), CALL))
                        .build(),
                responses(new ToolResponse("c1", "weather", "sunny"), new ToolResponse("c2", "time", "")),
                responses(),
                responses(new ToolResponse(null, null, null)),
                ToolResponseMessage.builder()
                        .responses(List.of(
                                new ToolResponse("c1", "weather", "sunny"), new ToolResponse("c2", "time", "noon")))
                        .metadata(METADATA)
                        .build());
    }

    static Stream<Message> all() {
        return Stream.concat(plain(), withMore());
    }

    @ParameterizedTest
    @MethodSource("all")
    void aMessageComesBackAsItWas(Message message) {
        List<dev.memsidecar.v1.Message> written = ChatMessages.written(List.of(message));
        List<Message> read = ChatMessages.read(written);
        assertEquals(List.of(message), read);
        assertEquals(written, ChatMessages.written(read));
        written.forEach(converted -> assertFalse(
                converted.getContent().isEmpty() && converted.getToolCallsCount() == 0, "something must be said"));
    }

    @ParameterizedTest
    @MethodSource("plain")
    void aPlainMessageHasNothingBesideItsFields(Message message) {
        ChatMessages.written(List.of(message))
                .forEach(converted -> assertEquals(false, Payload.of(converted).isPresent()));
    }

    /** Values of other programs under the adapter's key. */
    static Stream<String> foreign() {
        return Stream.of(
                "",
                "no JSON",
                "null",
                "[]",
                "{}",
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
        for (dev.memsidecar.v1.Message plain : List.of(
                Messages.system("Hello."),
                Messages.user("Hello."),
                Messages.assistant("Hello."),
                Messages.assistant(
                        "",
                        List.of(dev.memsidecar.v1.ToolCall.newBuilder()
                                .setId("c")
                                .setName("n")
                                .build())),
                Messages.tool(
                        dev.memsidecar.v1.ToolCall.newBuilder()
                                .setId("c")
                                .setName("n")
                                .build(),
                        "Hello."))) {
            dev.memsidecar.v1.Message.Builder strange = plain.toBuilder();
            Payload.set(strange, payload);
            assertEquals(ChatMessages.read(List.of(plain)), ChatMessages.read(List.of(strange.build())));
        }
    }

    @Test
    void whatOthersSayWithoutWordsIsReadAllTheSame() {
        for (Role role : List.of(Role.ROLE_SYSTEM, Role.ROLE_USER, Role.ROLE_ASSISTANT, Role.ROLE_TOOL)) {
            dev.memsidecar.v1.Message blank = dev.memsidecar.v1.Message.newBuilder()
                    .setRole(role)
                    .setContent(" \n")
                    .setName(" ")
                    .build();
            assertEquals(
                    1, ChatMessages.written(ChatMessages.read(List.of(blank))).size());
        }
    }

    @Test
    void responsesThatFollowEachOtherStayApart() {
        List<Message> messages = all().toList();
        assertEquals(messages, ChatMessages.read(ChatMessages.written(messages)));
    }

    @Test
    void mediaComeBackAsTheyWere() throws Exception {
        List<Media> given = List.of(
                new Media(MimeTypeUtils.IMAGE_PNG, URI.create("https://example.com/cat.png")),
                Media.builder()
                        .mimeType(MimeTypeUtils.IMAGE_JPEG)
                        .data(new byte[] {1, 2, 3})
                        .id("i")
                        .name("n")
                        .build(),
                Media.builder()
                        .mimeType(MimeTypeUtils.IMAGE_GIF)
                        .data(URI.create("https://example.com/dog.gif").toURL())
                        .build());
        UserMessage message =
                UserMessage.builder().text("What is this?").media(given).build();
        UserMessage read = (UserMessage)
                ChatMessages.read(ChatMessages.written(List.of(message))).get(0);
        assertEquals(message.getText(), read.getText());
        assertEquals(3, read.getMedia().size());
        for (int place = 0; place < 3; place++) {
            Media before = given.get(place);
            Media after = read.getMedia().get(place);
            assertEquals(before.getMimeType(), after.getMimeType());
            assertEquals(before.getId(), after.getId());
            assertEquals(before.getName(), after.getName());
            if (before.getData() instanceof byte[] bytes) {
                assertArrayEquals(bytes, after.getDataAsByteArray());
            } else {
                assertEquals(before.getData(), after.getData());
            }
        }
    }
}
