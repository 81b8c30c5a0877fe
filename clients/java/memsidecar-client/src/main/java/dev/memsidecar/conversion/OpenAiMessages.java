package dev.memsidecar.conversion;

import dev.memsidecar.conversion.Exchanges.Call;
import dev.memsidecar.conversion.Exchanges.Step;
import dev.memsidecar.v1.BuildContextResponse;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Messages of OpenAI's chat completions and input items of its Responses API, as maps. */
public final class OpenAiMessages {
    private static final List<String> ROLES = List.of("system", "developer", "user", "assistant", "tool");
    /** Parts that are text, and the key of their text. */
    private static final Map<String, String> TEXTS =
            Map.of("text", "text", "input_text", "text", "output_text", "text", "refusal", "refusal");

    private OpenAiMessages() {}

    /**
     * Returns messages to add, one for each message of chat completions. {@code developer} is stored as system. The
     * text of {@code reasoning_content} or {@code reasoning} becomes the reasoning. The deprecated role
     * {@code function} and {@code function_call} are errors.
     *
     * @param messages a map for each message
     * @return without ids
     * @throws ConversionException for what is not of the format
     */
    public static List<Message> messagesFromOpenAi(List<?> messages) {
        return messages(new Value(messages, "messages"));
    }

    /**
     * Returns {@code messages} of chat completions.
     *
     * @param context the response of BuildContext
     * @return a map for each message
     */
    public static List<Map<String, Object>> openAiMessages(BuildContextResponse context) {
        List<Map<String, Object>> messages = new ArrayList<>();
        for (Step step : Exchanges.steps(context)) {
            Map<String, Object> message = map("role", name(step.role()), "content", step.text());
            messages.add(message);
            if (!step.calls().isEmpty()) {
                message.put("content", step.text().isEmpty() ? null : step.text());
                message.put(
                        "tool_calls",
                        step.calls().stream().map(OpenAiMessages::call).toList());
            }
            for (Call call : step.calls()) {
                messages.add(map("role", "tool", "tool_call_id", call.id, "content", call.result));
            }
        }
        return messages;
    }

    /**
     * Returns {@code input} of the Responses API, in which calls and results are separate items.
     *
     * @param context the response of BuildContext
     * @return a map for each item
     */
    public static List<Map<String, Object>> openAiInput(BuildContextResponse context) {
        List<Map<String, Object>> items = new ArrayList<>();
        for (Step step : Exchanges.steps(context)) {
            if (!step.text().isEmpty()) {
                items.add(map("role", name(step.role()), "content", step.text()));
            }
            for (Call call : step.calls()) {
                items.add(map(
                        "type", "function_call", "call_id", call.id, "name", call.name, "arguments", call.arguments));
            }
            for (Call call : step.calls()) {
                items.add(map("type", "function_call_output", "call_id", call.id, "output", call.result));
            }
        }
        return items;
    }

    static List<Message> messages(Value messages) {
        return messages.items().map(OpenAiMessages::message).toList();
    }

    private static Map<String, Object> call(Call call) {
        return map("id", call.id, "type", "function", "function", map("name", call.name, "arguments", call.arguments));
    }

    private static String name(Role role) {
        return switch (role) {
            case ROLE_SYSTEM -> "system";
            case ROLE_ASSISTANT -> "assistant";
            default -> "user";
        };
    }

    /** Returns a map that can be changed, in the order of the arguments: keys and values in turn. */
    static Map<String, Object> map(Object... entries) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int place = 0; place < entries.length; place += 2) {
            map.put((String) entries[place], entries[place + 1]);
        }
        return map;
    }

    private static Message message(Value value) {
        Role role = switch (value.field("role").oneOf(ROLES)) {
            case "user" -> Role.ROLE_USER;
            case "assistant" -> Role.ROLE_ASSISTANT;
            case "tool" -> Role.ROLE_TOOL;
            default -> Role.ROLE_SYSTEM;
        };
        Message.Builder message = Message.newBuilder()
                .setRole(role)
                .setName(value.field("name").optionalText())
                .setContent(content(value.field("content"), role));
        if (role == Role.ROLE_ASSISTANT) {
            fillAssistant(message, value);
        } else {
            rejectCalls(value.field("tool_calls"));
        }
        if (role == Role.ROLE_TOOL) {
            message.setToolCallId(value.field("tool_call_id").filledText());
        }
        if (message.getToolCallsCount() == 0) {
            message.setContent(Piece.orEmpty(message.getContent()));
        }
        return message.build();
    }

    private static void rejectCalls(Value calls) {
        boolean isEmpty =
                calls.isNull() || calls.isList() && calls.items().findAny().isEmpty();
        if (!isEmpty) {
            throw calls.error("only an assistant message has tool calls");
        }
    }

    private static String content(Value value, Role role) {
        boolean model = role == Role.ROLE_ASSISTANT;
        if (value.isList()) {
            return Piece.joined(value.items().map(OpenAiMessages::piece).toList(), model);
        }
        if (value.isText() || value.isNull() && model) {
            return value.optionalText();
        }
        throw value.wrong("a text or a list of parts");
    }

    private static Piece piece(Value part) {
        String kind = part.field("type").filledText();
        String key = TEXTS.get(kind);
        return key == null
                ? Piece.placeholder(kind)
                : Piece.text(part.field(key).text());
    }

    private static void fillAssistant(Message.Builder message, Value value) {
        if (!value.field("function_call").isNull()) {
            throw value.field("function_call").error("function_call is not supported; use tool_calls");
        }
        if (message.getContent().isEmpty()) {
            message.setContent(refusalOrAudio(value));
        }
        Stream.of("reasoning_content", "reasoning")
                .map(value::field)
                .filter(thought -> thought.isText() && !thought.text().isEmpty())
                .findFirst()
                .ifPresent(thought -> message.setReasoning(thought.text()));
        if (!value.field("tool_calls").isNull()) {
            List<Value> calls = value.field("tool_calls").items().toList();
            calls.stream().map(OpenAiMessages::toolCall).forEach(message::addToolCalls);
            Value.checkDistinct(calls);
        }
    }

    /** Returns what an answer without content says. */
    private static String refusalOrAudio(Value value) {
        String refusal = value.field("refusal").optionalText();
        Value audio = value.field("audio");
        if (!refusal.isEmpty() || audio.isNull()) {
            return refusal;
        }
        String transcript = audio.field("transcript").optionalText();
        return transcript.isEmpty() ? Piece.placeholder("audio").text() : transcript;
    }

    private static ToolCall toolCall(Value value) {
        String id = value.field("id").filledText();
        Value type = value.field("type");
        String kind = type.isNull() ? "function" : type.oneOf(List.of("function", "custom"));
        Value called = value.field(kind);
        String arguments =
                called.field(kind.equals("custom") ? "input" : "arguments").optionalText();
        return ToolCall.newBuilder()
                .setId(id)
                .setName(called.field("name").filledText())
                .setArgumentsJson(arguments)
                .build();
    }
}
