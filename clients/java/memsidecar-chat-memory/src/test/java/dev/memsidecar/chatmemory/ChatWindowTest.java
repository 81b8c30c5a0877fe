package dev.memsidecar.chatmemory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.client.Messages;
import dev.memsidecar.client.UnreachableException;
import dev.memsidecar.testing.Sidecar;
import dev.memsidecar.v1.GetAllRequest;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.ToolCall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ChatWindowTest {
    private static Sidecar sidecar;
    private static MemsidecarClient memory;
    private static ChatWindow windows;
    private String session;

    @BeforeAll
    static void open() {
        sidecar = Sidecar.start();
        memory = MemsidecarClient.builder().address(sidecar.address()).build();
        windows = new ChatWindow(memory, "", stored -> stored);
    }

    @AfterAll
    static void close() {
        memory.close();
        sidecar.close();
    }

    @BeforeEach
    void name(TestInfo test) {
        session = test.getTestMethod().orElseThrow().getName();
    }

    private void shallBe(Message... wanted) {
        windows.replace("", session, List.of(wanted));
        windows.replace("", session, List.of(wanted));
        assertEquals(contents(Stream.of(wanted)), contents(windows.read("", session).stream()));
    }

    private List<String> stored(boolean includePruned) {
        return contents(
                memory
                        .messages(GetAllRequest.newBuilder()
                                .setSessionId(session)
                                .setIncludePruned(includePruned)
                                .build())
                        .stream());
    }

    private static List<String> contents(Stream<Message> messages) {
        return messages.map(Message::getContent).toList();
    }

    private static Message user(String content) {
        return Messages.user(content);
    }

    @Test
    void whatSlidesOutIsPrunedAndNothingIsStoredTwice() {
        Message system = Messages.system("Be kind.");
        shallBe(system, user("1"));
        shallBe(system, user("1"), user("2"), user("3"));
        shallBe(system, user("3"), user("4"));
        shallBe(system, user("4"), user("4"));
        assertEquals(List.of("Be kind.", "4", "4"), stored(false));
        assertEquals(List.of("Be kind.", "1", "2", "3", "4", "4"), stored(true));
    }

    @Test
    void aSystemMessageIsReplacedWhereverItStands() {
        shallBe(Messages.system("old"), user("1"));
        shallBe(user("1"), Messages.system("new"));
        shallBe(Messages.system("newest"), user("1"), user("2"));
        assertEquals(List.of("old", "1", "new", "newest", "2"), stored(true));
    }

    @Test
    void theMiddleMayChange() {
        shallBe(user("1"), user("2"), user("3"), user("4"));
        shallBe(user("1"), user("4"));
        shallBe(user("summary of 1"), user("4"), user("5"));
        shallBe(user("4"));
        shallBe();
        shallBe(user("6"));
        assertEquals(List.of("1", "2", "3", "4", "summary of 1", "5", "6"), stored(true));
    }

    @Test
    void aCallLeavesWithItsResults() {
        ToolCall call = ToolCall.newBuilder().setId("c").setName("weather").build();
        Message asked = Messages.assistant("", List.of(call));
        shallBe(user("1"), asked, Messages.tool(call, "sunny"), Messages.assistant("It is sunny."));
        shallBe(Messages.assistant("It is sunny."), user("2"));
        assertEquals(List.of("It is sunny.", "2"), stored(false));
    }

    @Test
    void whatOthersAppendBelongsToIt() {
        shallBe(user("1"), user("2"));
        shallBe(user("2"));
        memory.add("", session, user("from elsewhere"));
        assertEquals(List.of("2", "from elsewhere"), contents(windows.read("", session).stream()));
        shallBe(user("2"), user("from elsewhere"), user("3"));
    }

    @Test
    void whatIsClearedIsGoneAndBeginsAnew() {
        shallBe(user("1"), user("2"));
        windows.clear("", session);
        assertEquals(List.of(), windows.read("", session));
        assertEquals(false, windows.sessionIds().contains(session));
        shallBe(user("1"));
        assertEquals(true, windows.sessionIds().contains(session));
        assertEquals(List.of("1"), stored(true));
    }

    /** Adds messages as frameworks do: reads the window and replaces it. */
    private void add(ChatWindow window, Message message) {
        List<Message> wanted = new ArrayList<>();
        window.read("", session).forEach(stored -> wanted.add(Messages.user(stored.getContent())));
        wanted.add(message);
        window.replace("", session, wanted.subList(Math.max(0, wanted.size() - 3), wanted.size()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"AddBatch", "Prune"})
    void whatIsAddedAgainAfterAnErrorIsThereOnce(String lost) throws IOException {
        session += lost;
        try (LossyRelay relay = new LossyRelay(sidecar.address());
                MemsidecarClient hasty = MemsidecarClient.builder()
                        .address(relay.address())
                        .attempts(1)
                        .build()) {
            ChatWindow window = new ChatWindow(hasty, "", stored -> stored);
            List.of("1", "2", "yes").forEach(said -> add(window, user(said)));
            relay.lose(lost);
            assertThrows(UnreachableException.class, () -> add(window, user("yes")));
            relay.lose("");
            add(window, user("yes"));
            assertEquals(List.of("2", "yes", "yes"), contents(window.read("", session).stream()));
            assertEquals(List.of("1", "2", "yes", "yes"), stored(true));
            add(window, user("yes"));
            assertEquals(List.of("1", "2", "yes", "yes", "yes"), stored(true));
        }
    }

    @Test
    void whatTheFrameworkDoesNotKeepOfOthersMakesNoOtherMessage() {
        ChatWindow window = new ChatWindow(
                memory,
                "",
                stored -> stored.stream()
                        .map(message -> Messages.user(message.getContent()))
                        .toList());
        memory.add(
                "",
                session,
                Messages.assistant("of another").toBuilder().setReasoning("so").build());
        add(window, user("1"));
        add(window, user("2"));
        assertEquals(List.of("of another", "1", "2"), stored(true));
    }

    @Test
    void concurrentWritersLoseNoMessage() {
        CompletableFuture<?>[] writers = IntStream.range(0, 4)
                .mapToObj(number -> CompletableFuture.runAsync(
                        () -> windows.replace("", session, List.of(user("of " + number), user("and " + number)))))
                .toArray(CompletableFuture<?>[]::new);
        CompletableFuture.allOf(writers).join();
        assertEquals(8, stored(true).size());
        assertEquals(2, windows.read("", session).size());
    }
}
