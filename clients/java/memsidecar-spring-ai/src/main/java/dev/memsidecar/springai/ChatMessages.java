package dev.memsidecar.springai;

import dev.memsidecar.chatmemory.Payload;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.ai.chat.messages.AbstractMessage;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.chat.messages.SystemMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage;
import org.springframework.ai.chat.messages.ToolResponseMessage.ToolResponse;
import org.springframework.ai.chat.messages.UserMessage;

/**
 * Converts between Spring AI's messages and the contract's. Texts and tool calls use the contract's fields, so that the
 * sidecar can count, find and show them. Other fields are stored as {@link Extras}. Several responses of tools in one
 * message are several messages of the contract.
 */
final class ChatMessages {
    private static final String FUNCTION = "function";

    private ChatMessages() {}

    static List<Message> written(List<org.springframework.ai.chat.messages.Message> messages) {
        List<Message> written = new ArrayList<>();
        for (org.springframework.ai.chat.messages.Message message : messages) {
            if (message instanceof ToolResponseMessage responses) {
                write(responses, written);
            } else {
                written.add(written(message));
            }
        }
        return written;
    }

    static List<org.springframework.ai.chat.messages.Message> read(List<Message> stored) {
        List<org.springframework.ai.chat.messages.Message> messages = new ArrayList<>();
        for (int place = 0; place < stored.size(); ) {
            Message first = stored.get(place);
            int parts = first.getRole() == Role.ROLE_TOOL ? partsFrom(stored, place) : 1;
            messages.add(
                    first.getRole() == Role.ROLE_TOOL ? responses(stored.subList(place, place + parts)) : read(first));
            place += parts;
        }
        return messages;
    }

    private static Message written(org.springframework.ai.chat.messages.Message message) {
        Extras extras = new Extras().putMetadata(own(message));
        Message.Builder fields = Message.newBuilder();
        if (message instanceof SystemMessage) {
            fields.setRole(Role.ROLE_SYSTEM);
        } else if (message instanceof UserMessage user) {
            fields.setRole(Role.ROLE_USER);
            extras.putMedia(user.getMedia());
        } else if (message instanceof AssistantMessage assistant) {
            fields.setRole(Role.ROLE_ASSISTANT).addAllToolCalls(calls(assistant, extras));
            extras.putMedia(assistant.getMedia());
        } else {
            throw new IllegalArgumentException("no message that is known: " + message.getClass());
        }
        return said(fields, message.getText(), extras);
    }

    /** The contract requires content, except for an assistant message with tool calls. */
    private static Message said(Message.Builder fields, String text, Extras extras) {
        boolean silent = (text == null || text.isEmpty()) && fields.getToolCallsCount() == 0;
        if (text == null || silent) {
            extras.putText(text);
        }
        fields.setContent(silent ? Extras.SILENT : text == null ? "" : text);
        if (!extras.isEmpty()) {
            Payload.set(fields, extras.json());
        }
        return fields.build();
    }

    private static org.springframework.ai.chat.messages.Message read(Message stored) {
        try {
            return read(stored, extras(stored));
        } catch (RuntimeException notOurs) {
            return read(stored, new Extras());
        }
    }

    private static org.springframework.ai.chat.messages.Message read(Message stored, Extras extras) {
        String text = extras.textOr(stored.getContent());
        return switch (stored.getRole()) {
            case ROLE_SYSTEM ->
                SystemMessage.builder().text(text).metadata(extras.metadata()).build();
            case ROLE_ASSISTANT ->
                AssistantMessage.builder()
                        .content(text)
                        .properties(extras.metadata())
                        .toolCalls(calls(stored, extras))
                        .media(extras.media())
                        .build();
            default ->
                UserMessage.builder()
                        .text(text)
                        .metadata(extras.metadata())
                        .media(extras.media())
                        .build();
        };
    }

    /** Some providers send no ids; the contract requires one. */
    private static List<ToolCall> calls(AssistantMessage message, Extras extras) {
        List<ToolCall> calls = new ArrayList<>();
        for (AssistantMessage.ToolCall call : message.getToolCalls()) {
            String id = Extras.orEmpty(call.id());
            calls.add(ToolCall.newBuilder()
                    .setId(id.isEmpty() ? "call-" + (calls.size() + 1) : id)
                    .setName(call.name())
                    .setArgumentsJson(Extras.orEmpty(call.arguments()))
                    .build());
        }
        if (!calls(calls).equals(message.getToolCalls())) {
            extras.putToolCalls(message.getToolCalls());
        }
        return calls;
    }

    private static List<AssistantMessage.ToolCall> calls(Message stored, Extras extras) {
        return extras.toolCallsOr(calls(stored.getToolCallsList()));
    }

    private static List<AssistantMessage.ToolCall> calls(List<ToolCall> calls) {
        return calls.stream()
                .map(call ->
                        new AssistantMessage.ToolCall(call.getId(), FUNCTION, call.getName(), call.getArgumentsJson()))
                .toList();
    }

    private static void write(ToolResponseMessage message, List<Message> written) {
        List<ToolResponse> responses = message.getResponses();
        int parts = Math.max(1, responses.size());
        for (int part = 0; part < parts; part++) {
            ToolResponse response = responses.isEmpty() ? null : responses.get(part);
            Extras extras = new Extras().putMetadata(part == 0 ? own(message) : Map.of());
            extras.putPart(part, responses.size());
            written.add(written(response, extras));
        }
    }

    private static Message written(ToolResponse response, Extras extras) {
        Message.Builder fields = Message.newBuilder().setRole(Role.ROLE_TOOL);
        if (response == null) {
            return said(fields, null, extras);
        }
        if (response.id() == null) {
            extras.putNull(Extras.ID);
        }
        if (response.name() == null) {
            extras.putNull(Extras.NAME);
        }
        fields.setToolCallId(Extras.orEmpty(response.id())).setName(Extras.orEmpty(response.name()));
        return said(fields, response.responseData(), extras);
    }

    /** Returns how many messages from here on form one message of Spring AI. Some may have been pruned. */
    private static int partsFrom(List<Message> stored, int place) {
        int parts = extras(stored.get(place)).parts();
        int end = place + 1;
        while (end < stored.size()
                && end - place < parts
                && stored.get(end).getRole() == Role.ROLE_TOOL
                && extras(stored.get(end)).part() > 0) {
            end++;
        }
        return end - place;
    }

    private static ToolResponseMessage responses(List<Message> parts) {
        Extras first = extras(parts.get(0));
        return ToolResponseMessage.builder()
                .responses(
                        first.parts() == 0
                                ? List.of()
                                : parts.stream().map(ChatMessages::response).toList())
                .metadata(first.metadata())
                .build();
    }

    private static ToolResponse response(Message stored) {
        Extras extras = extras(stored);
        return new ToolResponse(
                extras.orNull(Extras.ID, stored.getToolCallId()),
                extras.orNull(Extras.NAME, stored.getName()),
                extras.textOr(stored.getContent()));
    }

    /** Ignores metadata that Spring AI adds itself. */
    private static Map<String, Object> own(org.springframework.ai.chat.messages.Message message) {
        Map<String, Object> own = new TreeMap<>(message.getMetadata());
        own.remove(AbstractMessage.MESSAGE_TYPE);
        return own;
    }

    private static Extras extras(Message stored) {
        return Payload.of(stored).map(json -> Extras.parsed(json, stored)).orElseGet(Extras::new);
    }
}
