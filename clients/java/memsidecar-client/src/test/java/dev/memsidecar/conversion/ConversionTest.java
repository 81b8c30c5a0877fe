package dev.memsidecar.conversion;

import static dev.memsidecar.conversion.AnthropicMessages.anthropicMessages;
import static dev.memsidecar.conversion.AnthropicMessages.messagesFromAnthropic;
import static dev.memsidecar.conversion.OpenAiMessages.messagesFromOpenAi;
import static dev.memsidecar.conversion.OpenAiMessages.openAiInput;
import static dev.memsidecar.conversion.OpenAiMessages.openAiMessages;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.google.gson.JsonSyntaxException;
import com.google.gson.reflect.TypeToken;
import com.google.protobuf.Struct;
import com.google.protobuf.Value.Builder;
import dev.memsidecar.v1.BuildContextResponse;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The cases of clients/scenarios/conversion.json, which all clients run, and input that only Java can have. */
class ConversionTest {
    private static final Path TABLE = Path.of("..", "..", "scenarios", "conversion.json");
    /** Numbers are doubles, so that 1500 and 1500.0 are the same. */
    private static final Gson GSON = new GsonBuilder().serializeNulls().create();

    record Case(String name, Map<String, Object> fields) {
        Object get(String key) {
            return fields.get(key);
        }

        @SuppressWarnings("unchecked")
        List<Map<String, Object>> list(String key) {
            return (List<Map<String, Object>>) get(key);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Stream<Case> cases(String list) throws IOException {
        TypeToken<Map<String, Object>> type = new TypeToken<>() {};
        Map<String, Object> table = GSON.fromJson(Files.readString(TABLE), type);
        Case all = new Case(list, table);
        assertFalse(all.list(list).isEmpty());
        return all.list(list).stream().map(fields -> new Case((String) fields.get("name"), fields));
    }

    static Stream<Case> openAi() throws IOException {
        return cases("messages_from_openai");
    }

    static Stream<Case> anthropic() throws IOException {
        return cases("messages_from_anthropic");
    }

    static Stream<Case> contexts() throws IOException {
        return cases("contexts");
    }

    static Stream<Case> openAiRoundTrips() throws IOException {
        return cases("openai_round_trips");
    }

    static Stream<Case> anthropicRoundTrips() throws IOException {
        return cases("anthropic_round_trips");
    }

    @ParameterizedTest
    @MethodSource("openAi")
    void messagesOfOpenAiBecomeMessagesOrAnError(Case given) {
        verify(given, () -> OpenAiMessages.messages(new Value(given.get("messages"), "messages")));
    }

    @ParameterizedTest
    @MethodSource("anthropic")
    void messagesOfAnthropicBecomeMessagesOrAnError(Case given) {
        Value system = new Value(given.get("system"), "system");
        verify(given, () -> AnthropicMessages.messages(new Value(given.get("messages"), "messages"), system));
    }

    @ParameterizedTest
    @MethodSource("contexts")
    void aContextBecomesTheRequestsOfProviders(Case given) {
        int stable = ((Number) given.get("stable_prefix_count")).intValue();
        BuildContextResponse context = context(
                given.list("messages").stream().map(ConversionTest::message).toList(), stable);
        same(given.get("openai_messages"), openAiMessages(context));
        same(given.get("openai_input"), openAiInput(context));
        same(given.get("anthropic_messages"), anthropicMessages(context));
    }

    @ParameterizedTest
    @MethodSource("openAiRoundTrips")
    void messagesOfOpenAiReturnUnchanged(Case given) {
        same(given.get("messages"), openAiMessages(context(messagesFromOpenAi(given.list("messages")), 0)));
    }

    @ParameterizedTest
    @MethodSource("anthropicRoundTrips")
    void messagesOfAnthropicReturnUnchanged(Case given) {
        Map<String, Object> request = anthropicMessages(context(messagesFromAnthropic(given.list("messages")), 0));
        same(Map.of("system", List.of(), "messages", given.get("messages")), request);
    }

    @Test
    void inputOfACallThatIsNoJsonIsNamed() {
        Map<String, Object> circular = new HashMap<>();
        circular.put("self", circular);
        for (Map<String, ?> input : List.of(circular, Map.of("number", Double.NaN))) {
            Map<String, ?> block = Map.of("type", "tool_use", "id", "t1", "name", "put", "input", input);
            List<?> messages = List.of(Map.of("role", "assistant", "content", List.of(block)));
            ConversionException error = assertThrows(ConversionException.class, () -> messagesFromAnthropic(messages));
            assertEquals("messages[0].content[0].input", error.field());
        }
    }

    @Test
    void numbersOfArgumentsStayExact() {
        String arguments = "{\"id\":12345678901234567890}";
        Map<String, Object> request = anthropicMessages(context(List.of(called(arguments)), 0));
        assertEquals(true, new Gson().toJson(request).contains("12345678901234567890"));
    }

    @Test
    void argumentsNestedTooDeeplyAreSentAsText() {
        String deep = "[".repeat(100_000);
        for (String arguments : List.of(deep, deep + "]".repeat(100_000))) {
            Map<String, Object> request = anthropicMessages(context(List.of(called(arguments)), 0));
            Value blocks = new Value(((List<?>) request.get("messages")).get(1), "").field("content");
            Value input = blocks.items().findFirst().orElseThrow().field("input");
            assertEquals(Map.of("arguments", arguments), input.value());
        }
    }

    @Test
    void messagesThatAreNullAreNamed() {
        ConversionException error = assertThrows(ConversionException.class, () -> messagesFromOpenAi(null));
        assertEquals("messages: a list is required, not null", error.getMessage());
    }

    private static Message called(String arguments) {
        ToolCall call = ToolCall.newBuilder()
                .setId("c1")
                .setName("run")
                .setArgumentsJson(arguments)
                .build();
        return Message.newBuilder()
                .setRole(Role.ROLE_ASSISTANT)
                .addToolCalls(call)
                .build();
    }

    private static void verify(Case given, Supplier<List<Message>> convert) {
        if (given.get("error") == null) {
            List<Message> expected =
                    given.list("expected").stream().map(ConversionTest::message).toList();
            assertEquals(comparable(expected), comparable(convert.get()));
            return;
        }
        ConversionException error = assertThrows(ConversionException.class, convert::get);
        assertEquals(given.get("error"), Map.of("field", error.field(), "problem", error.problem()));
        assertEquals(error.field() + ": " + error.problem(), error.getMessage());
    }

    /** Returns messages with the arguments of calls in one form, if they are JSON. */
    private static List<Message> comparable(List<Message> messages) {
        return messages.stream().map(ConversionTest::comparable).toList();
    }

    private static Message comparable(Message message) {
        Message.Builder builder = message.toBuilder();
        for (ToolCall.Builder call : builder.getToolCallsBuilderList()) {
            call.setArgumentsJson(normal(call.getArgumentsJson()));
        }
        return builder.build();
    }

    private static String normal(String text) {
        try {
            JsonElement value = JsonParser.parseString(text);
            return GSON.toJson(GSON.fromJson(value, Object.class));
        } catch (JsonSyntaxException notJson) {
            return text;
        }
    }

    private static void same(Object expected, Object found) {
        assertEquals(
                GSON.fromJson(GSON.toJson(expected), Object.class), GSON.fromJson(GSON.toJson(found), Object.class));
    }

    private static BuildContextResponse context(List<Message> messages, int stable) {
        return BuildContextResponse.newBuilder()
                .addAllMessages(messages)
                .setStablePrefixCount(stable)
                .build();
    }

    /** Returns a message of the table. */
    private static Message message(Map<String, Object> fields) {
        Case given = new Case("", fields);
        Message.Builder message = Message.newBuilder()
                .setRole(Role.valueOf((String) given.get("role")))
                .setContent(text(given, "content"))
                .setName(text(given, "name"))
                .setReasoning(text(given, "reasoning"))
                .setToolCallId(text(given, "tool_call_id"))
                .setSynthetic(Boolean.TRUE.equals(given.get("synthetic")));
        if (given.get("tool_calls") != null) {
            for (Map<String, Object> call : given.list("tool_calls")) {
                Case called = new Case("", call);
                message.addToolCallsBuilder()
                        .setId(text(called, "id"))
                        .setName(text(called, "name"))
                        .setArgumentsJson(text(called, "arguments_json"));
            }
        }
        if (given.get("metadata") instanceof Map<?, ?> metadata) {
            Struct.Builder struct = message.getMetadataBuilder();
            metadata.forEach((key, value) -> struct.putFields((String) key, protobuf(value)));
        }
        return message.build();
    }

    private static com.google.protobuf.Value protobuf(Object value) {
        Builder builder = com.google.protobuf.Value.newBuilder();
        if (value instanceof Boolean flag) {
            builder.setBoolValue(flag);
        } else if (value instanceof Number number) {
            builder.setNumberValue(number.doubleValue());
        } else {
            builder.setStringValue((String) value);
        }
        return builder.build();
    }

    private static String text(Case given, String key) {
        return given.get(key) instanceof String text ? text : "";
    }
}
