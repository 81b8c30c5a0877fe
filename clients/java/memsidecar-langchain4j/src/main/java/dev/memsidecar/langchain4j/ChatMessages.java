package dev.memsidecar.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.CustomMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.memsidecar.chatmemory.Payload;
import dev.memsidecar.client.Messages;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Converts between LangChain4j's messages and the contract's. Texts, thinking and tool calls use the contract's fields,
 * so that the sidecar can count, find and show them. Other fields are stored as LangChain4j's own JSON: a
 * {@link MessageTemplate}.
 */
final class ChatMessages {
    private static final String BETWEEN_TEXTS = "\n";
    private static final String BLANK = "[empty]";

    private ChatMessages() {}

    static Message written(ChatMessage message) {
        Message.Builder fields = fields(message);
        boolean silent = fields.getContent().isEmpty() && fields.getToolCallsCount() == 0;
        if (silent || !plain(fields.build()).equals(message)) {
            Payload.set(fields, MessageTemplate.of(message));
        }
        // The contract requires content. The template records that there was none.
        return (silent ? fields.setContent(standIn(message)) : fields).build();
    }

    static ChatMessage read(Message message) {
        return Payload.of(message)
                .flatMap(template -> MessageTemplate.filled(template, message))
                .filter(found -> saysTheSame(written(found), message))
                .orElseGet(() -> plain(message));
    }

    /** Converts stored messages as LangChain4j returns them after a read. */
    static List<Message> handedBack(List<Message> stored) {
        return stored.stream().map(message -> written(read(message))).toList();
    }

    /** The sidecar may have shortened a result, and other programs may use the key of the template. */
    private static boolean saysTheSame(Message found, Message stored) {
        return found.getRole() == stored.getRole()
                && found.getContent().equals(stored.getContent())
                && found.getName().equals(stored.getName())
                && found.getToolCallsList().equals(stored.getToolCallsList())
                && found.getToolCallId().equals(stored.getToolCallId())
                && found.getReasoning().equals(stored.getReasoning());
    }

    private static Message.Builder fields(ChatMessage message) {
        if (message instanceof SystemMessage system) {
            return Messages.system(system.text()).toBuilder();
        } else if (message instanceof UserMessage user) {
            return Messages.user(text(user.contents())).toBuilder().setName(orEmpty(user.name()));
        } else if (message instanceof AiMessage ai) {
            return Messages.assistant(orEmpty(ai.text()), calls(ai.toolExecutionRequests())).toBuilder()
                    .setReasoning(orEmpty(ai.thinking()));
        } else if (message instanceof ToolExecutionResultMessage result) {
            return Message.newBuilder()
                    .setRole(Role.ROLE_TOOL)
                    .setToolCallId(orEmpty(result.id()))
                    .setName(orEmpty(result.toolName()))
                    .setContent(text(result.contents()));
        } else if (message instanceof CustomMessage) {
            return Messages.user("").toBuilder();
        }
        throw new IllegalArgumentException("no message that is known: " + message.getClass());
    }

    /** Returns the message from the contract's fields alone. */
    private static ChatMessage plain(Message message) {
        return switch (message.getRole()) {
            // LangChain4j requires text here; other programs may have stored none.
            case ROLE_SYSTEM -> SystemMessage.from(message.getContent().isBlank() ? BLANK : message.getContent());
            case ROLE_ASSISTANT ->
                AiMessage.builder()
                        .text(orNull(message.getContent()))
                        .thinking(orNull(message.getReasoning()))
                        .toolExecutionRequests(requests(message))
                        .build();
            case ROLE_TOOL ->
                ToolExecutionResultMessage.builder()
                        .id(orNull(message.getToolCallId()))
                        .toolName(orNull(message.getName()))
                        .text(message.getContent())
                        .build();
            default ->
                UserMessage.builder()
                        .name(orNull(message.getName()))
                        .contents(List.of(TextContent.from(message.getContent())))
                        .build();
        };
    }

    /** Some providers send no ids; the contract requires one. */
    private static List<ToolCall> calls(List<ToolExecutionRequest> requests) {
        List<ToolCall> calls = new ArrayList<>();
        for (ToolExecutionRequest request : requests) {
            String id = orEmpty(request.id());
            calls.add(ToolCall.newBuilder()
                    .setId(id.isEmpty() ? "call-" + (calls.size() + 1) : id)
                    .setName(request.name())
                    .setArgumentsJson(orEmpty(request.arguments()))
                    .build());
        }
        return calls;
    }

    private static List<ToolExecutionRequest> requests(Message message) {
        return message.getToolCallsList().stream()
                .map(call -> ToolExecutionRequest.builder()
                        .id(call.getId())
                        .name(call.getName())
                        .arguments(call.getArgumentsJson())
                        .build())
                .toList();
    }

    private static String text(List<Content> contents) {
        return contents.stream()
                .filter(TextContent.class::isInstance)
                .map(content -> ((TextContent) content).text())
                .collect(Collectors.joining(BETWEEN_TEXTS));
    }

    /** Splits a joined text by the lengths of its parts; a shortened text has shorter parts. */
    static List<String> parted(String text, List<Integer> lengths) {
        List<String> parts = new ArrayList<>();
        int begin = 0;
        for (int length : lengths) {
            parts.add(text.substring(Math.min(begin, text.length()), Math.min(begin + length, text.length())));
            begin += length + BETWEEN_TEXTS.length();
        }
        return parts;
    }

    private static String standIn(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.contents().stream()
                    .map(content -> "[" + content.type().name().toLowerCase() + "]")
                    .collect(Collectors.joining(" "));
        }
        return "[" + message.type().name().toLowerCase() + "]";
    }

    static String orEmpty(String text) {
        return text == null ? "" : text;
    }

    private static String orNull(String text) {
        return text.isEmpty() ? null : text;
    }
}
