package dev.memsidecar.chatmemory;

import com.google.protobuf.Value;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.List;

/** What makes two messages the same for an adapter: what was said, and what the adapter wrote down beside it. */
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
