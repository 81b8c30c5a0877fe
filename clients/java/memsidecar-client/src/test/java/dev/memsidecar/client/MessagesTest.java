package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.ToolCall;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class MessagesTest {
    private static final ToolCall CALL =
            ToolCall.newBuilder().setId("c1").setName("weather").build();

    @Test
    void whatIsNullIsNamed() {
        unnamed("content", () -> Messages.system(null));
        unnamed("content", () -> Messages.user(null));
        unnamed("content", () -> Messages.assistant(null));
        unnamed("toolCalls", () -> Messages.assistant("", null));
        unnamed("content", () -> Messages.tool(CALL, null));
        unnamed("call", () -> Messages.tool(null, ""));
        unnamed("message", () -> Messages.withId(null, "m1"));
        unnamed("id", () -> Messages.withId(Messages.user(""), null));
    }

    @Test
    void whatIsNullInAShortFormIsNamed() {
        try (MemsidecarClient memory =
                MemsidecarClient.builder().address("127.0.0.1:1").build()) {
            AsyncMemsidecarClient async = memory.async();
            Message said = Messages.user("");
            unnamed("userId", () -> memory.add(null, "s", said));
            unnamed("sessionId", () -> memory.add("", null, said));
            unnamed("message", () -> memory.add("", "s", null));
            unnamed("userId", () -> async.add(null, "s", said));
            unnamed("sessionId", () -> async.add("", null, said));
            unnamed("message", () -> async.add("", "s", null));
            unnamed("userId", () -> memory.buildContext(null, "s", ""));
            unnamed("sessionId", () -> memory.buildContext("", null, ""));
            unnamed("query", () -> memory.buildContext("", "s", null));
            unnamed("userId", () -> async.buildContext(null, "s", ""));
            unnamed("sessionId", () -> async.buildContext("", null, ""));
            unnamed("query", () -> async.buildContext("", "s", null));
            unnamed("request", () -> memory.count(null));
            unnamed("deadline", () -> memory.withDeadline(null));
        }
    }

    @Test
    void anIdIsAllThatChanges() {
        Message result = Messages.tool(CALL, "sunny");
        assertEquals(result.toBuilder().setId("m1").build(), Messages.withId(result, "m1"));
        assertEquals("", result.getId());
    }

    private static void unnamed(String name, Executable call) {
        assertEquals(name, assertThrows(NullPointerException.class, call).getMessage());
    }
}
