package dev.memsidecar.conversion;

import dev.memsidecar.v1.BuildContextResponse;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Brings the messages of a context into the order that providers require. The sidecar keeps messages in the order of
 * their arrival. Providers are stricter: results directly follow the message with the calls, each call has one result,
 * and ids do not repeat. So a late result moves up to its call, a call without a result gets {@link #NO_RESULT}, a
 * result without a call becomes a user message, and an id that is repeated, too long or contains special characters is
 * replaced, in call and result alike.
 */
final class Exchanges {
    /** The metadata key of a tool result that is an error; only Anthropic's format has a field for it. */
    static final String IS_ERROR = "is_error";

    private static final String NO_RESULT = "[no result was recorded]";
    private static final int MAX_ID_CHARS = 40;
    private static final int MAX_NAME_CHARS = 64;

    private final Map<String, Deque<Call>> open = new HashMap<>();
    private final Set<String> ids = new HashSet<>();

    private Exchanges() {}

    static final class Call {
        final String id;
        final String name;
        final String arguments;
        String result = NO_RESULT;
        boolean isError;

        Call(String id, String name, String arguments) {
            this.id = id;
            this.name = name;
            this.arguments = arguments;
        }
    }

    /** One message with its calls. {@code stable}: it belongs to the prefix that stays the same in the next turn. */
    record Step(Role role, String text, boolean stable, List<Call> calls) {}

    static List<Step> steps(BuildContextResponse context) {
        Exchanges exchanges = new Exchanges();
        List<Step> steps = new ArrayList<>();
        for (int position = 0; position < context.getMessagesCount(); position++) {
            Message message = context.getMessages(position);
            boolean stable = position < context.getStablePrefixCount();
            if (message.getRole() != Role.ROLE_TOOL) {
                List<Call> calls = message.getToolCallsList().stream()
                        .map(exchanges::opened)
                        .toList();
                steps.add(new Step(role(message), text(message), stable, calls));
            } else if (!exchanges.answered(message)) {
                steps.add(new Step(Role.ROLE_USER, "Result of a tool: " + message.getContent(), stable, List.of()));
            }
        }
        return steps;
    }

    private Call opened(ToolCall given) {
        String name = plain(given.getName(), MAX_NAME_CHARS);
        String arguments = given.getArgumentsJson();
        Call call = new Call(
                uniqueId(given.getId()), name.isEmpty() ? "tool" : name, arguments.isBlank() ? "{}" : arguments);
        open.computeIfAbsent(given.getId(), id -> new ArrayDeque<>()).push(call);
        return call;
    }

    private boolean answered(Message message) {
        Call call =
                open.getOrDefault(message.getToolCallId(), new ArrayDeque<>()).poll();
        if (call == null) {
            return false;
        }
        call.result = message.getContent();
        call.isError = message.getMetadata().containsFields(IS_ERROR)
                && message.getMetadata().getFieldsOrThrow(IS_ERROR).getBoolValue();
        return true;
    }

    private String uniqueId(String id) {
        String plain = plain(id, MAX_ID_CHARS);
        String base = plain.isEmpty() ? "call" : plain;
        String unique = base;
        for (int number = 2; !ids.add(unique); number++) {
            String suffix = "_" + number;
            unique = base.substring(0, Math.min(base.length(), MAX_ID_CHARS - suffix.length())) + suffix;
        }
        return unique;
    }

    /** A role that a later contract adds is sent as the user's. */
    private static Role role(Message message) {
        return switch (message.getRole()) {
            case ROLE_SYSTEM, ROLE_ASSISTANT -> message.getRole();
            default -> Role.ROLE_USER;
        };
    }

    /** The text with the speaker's name, because most providers have no field for it. */
    private static String text(Message message) {
        boolean isNamed = !message.getName().isEmpty() && role(message) == Role.ROLE_USER;
        return isNamed ? message.getName() + ": " + message.getContent() : message.getContent();
    }

    /** The text in the characters that all providers accept. */
    private static String plain(String text, int maxChars) {
        String plain = text.replaceAll("[^a-zA-Z0-9_-]", "_");
        return plain.substring(0, Math.min(plain.length(), maxChars));
    }
}
