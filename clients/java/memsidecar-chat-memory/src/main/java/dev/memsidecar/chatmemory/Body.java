package dev.memsidecar.chatmemory;

import com.google.protobuf.Value;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.List;

/** The parts of a message that adapters compare: its fields, and the payload of the adapter. */
record Body(
        Role role,
        String content,
        String name,
        List<ToolCall> toolCalls,
        String toolCallId,
        String reasoning,
        Value payload) {

    static Body of(Message message) {
        return new Body(
                message.getRole(),
                message.getContent(),
                message.getName(),
                message.getToolCallsList(),
                message.getToolCallId(),
                message.getReasoning(),
                message.getMetadata().getFieldsOrDefault(Payload.KEY, Value.getDefaultInstance()));
    }

    static List<Body> all(List<Message> messages) {
        return messages.stream().map(Body::of).toList();
    }

    boolean isSystem() {
        return role == Role.ROLE_SYSTEM;
    }
}
