package dev.memsidecar.client;

import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.ToolCall;
import java.util.List;
import java.util.Objects;

/**
 * Factories of common messages. Other fields are set by the builder: {@code user("Hi").toBuilder()}. A null argument is
 * rejected with its name.
 */
public final class Messages {
    private Messages() {}

    /**
     * Instructions to the model.
     *
     * @param content the text
     * @return without an id
     */
    public static Message system(String content) {
        return said(Role.ROLE_SYSTEM, content).build();
    }

    /**
     * A message of the user, a person or a program.
     *
     * @param content the text
     * @return without an id
     */
    public static Message user(String content) {
        return said(Role.ROLE_USER, content).build();
    }

    /**
     * An answer of the model.
     *
     * @param content the text
     * @return without an id
     */
    public static Message assistant(String content) {
        return said(Role.ROLE_ASSISTANT, content).build();
    }

    /**
     * An answer of the model with its tool calls.
     *
     * @param content the text; may be empty
     * @param toolCalls several calls are parallel ones
     * @return without an id
     */
    public static Message assistant(String content, List<ToolCall> toolCalls) {
        return said(Role.ROLE_ASSISTANT, content)
                .addAllToolCalls(Objects.requireNonNull(toolCalls, "toolCalls"))
                .build();
    }

    /**
     * The result of a tool call.
     *
     * @param call the call of the model
     * @param content the result
     * @return without an id; named after the tool
     */
    public static Message tool(ToolCall call, String content) {
        Objects.requireNonNull(call, "call");
        return said(Role.ROLE_TOOL, content)
                .setToolCallId(call.getId())
                .setName(call.getName())
                .build();
    }

    /**
     * The same message with your own id, its idempotency key.
     *
     * @param message stays as it is
     * @param id unique in the session, as {@link MemsidecarClient#newId()} makes them
     * @return another one
     */
    public static Message withId(Message message, String id) {
        return Objects.requireNonNull(message, "message").toBuilder()
                .setId(Objects.requireNonNull(id, "id"))
                .build();
    }

    private static Message.Builder said(Role role, String content) {
        return Message.newBuilder().setRole(role).setContent(Objects.requireNonNull(content, "content"));
    }
}
