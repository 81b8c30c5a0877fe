package dev.memsidecar.conversion;

import com.google.protobuf.Struct;
import dev.memsidecar.conversion.Exchanges.Call;
import dev.memsidecar.conversion.Exchanges.Step;
import dev.memsidecar.v1.BuildContextResponse;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Messages of Anthropic's Messages API, as maps. */
public final class AnthropicMessages {
    /** The first user message, which the API requires. */
    private static final String BEGINNING = "(The conversation begins.)";

    private static final List<String> ROLES = List.of("user", "assistant", "system");
    /** Blocks of one role only. */
    private static final Map<String, String> OWNERS = Map.of(
            "tool_use", "assistant", "thinking", "assistant", "redacted_thinking", "assistant", "tool_result", "user");

    private AnthropicMessages() {}

    /**
     * Returns messages to add. Each tool result becomes a message of its own; {@code is_error} is in its metadata.
     * Thinking becomes the reasoning without its signature, redacted thinking is left out.
     *
     * @param messages a map for each message
     * @return without ids
     * @throws ConversionException for what is not of the format
     */
    public static List<Message> messagesFromAnthropic(List<?> messages) {
        return messagesFromAnthropic(messages, null);
    }

    /**
     * Returns messages to add, after the system prompt.
     *
     * @param messages a map for each message
     * @param system a text, a list of text blocks, or null; it becomes the first message
     * @return without ids
     * @throws ConversionException for what is not of the format
     */
    public static List<Message> messagesFromAnthropic(List<?> messages, Object system) {
        return messages(new Value(messages, "messages"), new Value(system, "system"));
    }

    /**
     * Returns {@code system} and {@code messages}, with a cache breakpoint after each stable part. The stable system
     * message becomes {@code system}. Retrieved memory, also a system message, becomes a text block of the newest user
     * message: not every model accepts system messages elsewhere, and {@code system} stays the same for the cache.
     *
     * @param context the response of BuildContext
     * @return both lists, under these keys
     */
    public static Map<String, Object> anthropicMessages(BuildContextResponse context) {
        List<Map<String, Object>> system = new ArrayList<>();
        List<Turn> turns = new ArrayList<>();
        Map<String, Object> lastStable = null;
        for (Step step : Exchanges.steps(context)) {
            List<Map<String, Object>> text = step.text().isBlank() ? List.of() : List.of(textBlock(step.text()));
            if (step.role() == Role.ROLE_SYSTEM && step.stable()) {
                system.addAll(text);
                continue;
            }
            append(turns, step.role() == Role.ROLE_ASSISTANT ? "assistant" : "user", text);
            append(
                    turns,
                    "assistant",
                    step.calls().stream().map(AnthropicMessages::use).toList());
            // All results of parallel calls are in one message, before any text.
            append(
                    turns,
                    "user",
                    step.calls().stream().map(AnthropicMessages::result).toList());
            if (step.stable() && !turns.isEmpty()) {
                lastStable = last(last(turns).blocks);
            }
        }
        if (!system.isEmpty()) {
            last(system).put("cache_control", OpenAiMessages.map("type", "ephemeral"));
        }
        if (lastStable != null) {
            lastStable.put("cache_control", OpenAiMessages.map("type", "ephemeral"));
        }
        if (!turns.isEmpty() && !turns.get(0).role.equals("user")) {
            turns.add(0, new Turn("user", List.of(textBlock(BEGINNING))));
        }
        return OpenAiMessages.map(
                "system", system, "messages", turns.stream().map(Turn::message).toList());
    }

    static List<Message> messages(Value messages, Value system) {
        List<Message> converted = new ArrayList<>();
        String text = system.isNull() ? "" : text(system);
        if (!text.isEmpty()) {
            converted.add(message(Role.ROLE_SYSTEM, text));
        }
        messages.items().map(AnthropicMessages::converted).forEach(converted::addAll);
        return List.copyOf(converted);
    }

    private record Turn(String role, List<Map<String, Object>> blocks) {
        Map<String, Object> message() {
            return OpenAiMessages.map("role", role, "content", blocks);
        }
    }

    /** Appends blocks; roles must alternate, so blocks of the same role join the last message. */
    private static void append(List<Turn> turns, String role, List<Map<String, Object>> blocks) {
        if (blocks.isEmpty()) {
            return;
        }
        if (turns.isEmpty() || !last(turns).role.equals(role)) {
            turns.add(new Turn(role, new ArrayList<>()));
        }
        last(turns).blocks.addAll(blocks);
    }

    private static <T> T last(List<T> list) {
        return list.get(list.size() - 1);
    }

    private static Map<String, Object> textBlock(String text) {
        return OpenAiMessages.map("type", "text", "text", text);
    }

    private static Map<String, Object> use(Call call) {
        Map<String, Object> input = Json.object(call.arguments, "arguments");
        return OpenAiMessages.map("type", "tool_use", "id", call.id, "name", call.name, "input", input);
    }

    private static Map<String, Object> result(Call call) {
        Map<String, Object> block =
                OpenAiMessages.map("type", "tool_result", "tool_use_id", call.id, "content", call.result);
        if (call.isError) {
            block.put("is_error", true);
        }
        return block;
    }

    private static List<Message> converted(Value value) {
        String name = value.field("role").oneOf(ROLES);
        Value content = value.field("content");
        Role role = switch (name) {
            case "assistant" -> Role.ROLE_ASSISTANT;
            case "system" -> Role.ROLE_SYSTEM;
            default -> Role.ROLE_USER;
        };
        if (!content.isList()) {
            return List.of(message(role, Piece.orEmpty(text(content))));
        }
        return role == Role.ROLE_ASSISTANT ? List.of(assistant(content)) : resultsAndTexts(content, role, name);
    }

    private static Message message(Role role, String content) {
        return Message.newBuilder().setRole(role).setContent(content).build();
    }

    private static Message assistant(Value content) {
        Message.Builder message = Message.newBuilder().setRole(Role.ROLE_ASSISTANT);
        List<Piece> pieces = new ArrayList<>();
        List<Piece> thoughts = new ArrayList<>();
        List<Value> calls = new ArrayList<>();
        for (Value block : content.items().toList()) {
            String kind = kind(block, "assistant");
            switch (kind) {
                case "tool_use" -> calls.add(block);
                case "thinking" ->
                    thoughts.add(Piece.text(block.field("thinking").text()));
                case "redacted_thinking" -> {}
                default -> pieces.add(piece(block, kind));
            }
        }
        calls.stream().map(AnthropicMessages::toolCall).forEach(message::addToolCalls);
        Value.checkDistinct(calls);
        String text = Piece.joined(pieces, true);
        return message.setContent(message.getToolCallsCount() == 0 ? Piece.orEmpty(text) : text)
                .setReasoning(Piece.joined(thoughts, false))
                .build();
    }

    /** Returns the messages in the order of the blocks; texts between results are one message. */
    private static List<Message> resultsAndTexts(Value content, Role role, String name) {
        List<Message> messages = new ArrayList<>();
        List<Piece> pieces = new ArrayList<>();
        for (Value block : content.items().toList()) {
            String kind = kind(block, name);
            if (kind.equals("tool_result")) {
                flush(pieces, role, messages);
                messages.add(toolResult(block));
            } else {
                pieces.add(piece(block, kind));
            }
        }
        flush(pieces, role, messages);
        return messages.isEmpty() ? List.of(message(role, Piece.orEmpty(""))) : messages;
    }

    private static void flush(List<Piece> pieces, Role role, List<Message> messages) {
        String text = Piece.joined(pieces, false);
        if (!text.isEmpty()) {
            messages.add(message(role, text));
        }
        pieces.clear();
    }

    private static Message toolResult(Value block) {
        Value content = block.field("content");
        Value isError = block.field("is_error");
        if (!isError.isNull() && !(isError.value() instanceof Boolean)) {
            throw isError.wrong("a boolean");
        }
        Message.Builder message = Message.newBuilder()
                .setRole(Role.ROLE_TOOL)
                .setToolCallId(block.field("tool_use_id").filledText())
                .setContent(Piece.orEmpty(content.isNull() ? "" : text(content)));
        if (Boolean.TRUE.equals(isError.value())) {
            com.google.protobuf.Value marked =
                    com.google.protobuf.Value.newBuilder().setBoolValue(true).build();
            message.setMetadata(Struct.newBuilder().putFields(Exchanges.IS_ERROR, marked));
        }
        return message.build();
    }

    private static ToolCall toolCall(Value block) {
        Value input = block.field("input");
        if (!input.isNull() && !input.isObject()) {
            throw input.wrong("an object");
        }
        return ToolCall.newBuilder()
                .setId(block.field("id").filledText())
                .setName(block.field("name").filledText())
                .setArgumentsJson(input.isNull() ? "{}" : Json.write(input))
                .build();
    }

    /** Returns the text of a content without tools. */
    private static String text(Value content) {
        if (content.isList()) {
            return Piece.joined(
                    content.items().map(block -> piece(block, kind(block, ""))).toList(), false);
        }
        if (content.isText()) {
            return content.text();
        }
        throw content.wrong("a text or a list of blocks");
    }

    private static String kind(Value block, String role) {
        String kind = block.field("type").filledText();
        String owner = OWNERS.getOrDefault(kind, role);
        if (!owner.equals(role)) {
            throw block.field("type").error("\"" + kind + "\" is only for the role " + owner);
        }
        return kind;
    }

    private static Piece piece(Value block, String kind) {
        return kind.equals("text") ? Piece.text(block.field("text").text()) : Piece.placeholder(kind);
    }
}
