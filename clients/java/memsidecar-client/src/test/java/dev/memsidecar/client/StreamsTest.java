package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.memsidecar.testing.Sidecar;
import dev.memsidecar.v1.AddStreamRequest;
import dev.memsidecar.v1.AddStreamResponse;
import dev.memsidecar.v1.GetAllRequest;
import dev.memsidecar.v1.Message;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams whose requests wait for answers, or fail by themselves. The scenarios cover interrupted streams. */
@Timeout(60)
class StreamsTest {
    private static Sidecar sidecar;
    private static MemsidecarClient memory;

    @BeforeAll
    static void open() {
        sidecar = Sidecar.start();
        memory = MemsidecarClient.builder().address(sidecar.address()).build();
    }

    @AfterAll
    static void close() {
        memory.close();
        sidecar.close();
    }

    private static AddStreamRequest said(String session, String content) {
        return AddStreamRequest.newBuilder()
                .setSessionId(session)
                .setMessage(Messages.user(content))
                .build();
    }

    private static GetAllRequest all(String session) {
        return GetAllRequest.newBuilder().setSessionId(session).setPageSize(2).build();
    }

    @Test
    void aRequestMayWaitForTheAnswerBeforeIt() {
        BlockingQueue<Long> answered = new LinkedBlockingQueue<>();
        Iterable<AddStreamRequest> requests = () -> new Iterator<>() {
            private int given;

            @Override
            public boolean hasNext() {
                return given < 4;
            }

            @Override
            public AddStreamRequest next() {
                try {
                    return said("waits", given++ == 0 ? "first" : "after " + answered.poll(10, TimeUnit.SECONDS));
                } catch (InterruptedException interrupted) {
                    throw new AssertionError(interrupted);
                }
            }
        };
        try (ResponseStream<AddStreamResponse> answers = memory.addStream(requests)) {
            answers.forEachRemaining(answer -> answered.add(answer.getResult().getSequence()));
        }
        assertEquals(
                List.of("first", "after 1", "after 2", "after 3"),
                memory.messages(all("waits")).stream().map(Message::getContent).toList());
    }

    @Test
    void aPublisherMayWaitForTheAnswerBeforeIt() throws Exception {
        SubmissionPublisher<AddStreamRequest> requests = new SubmissionPublisher<>();
        CompletableFuture<Void> done = memory.async()
                .withDeadline(Duration.ofSeconds(20))
                .addStream(requests)
                .forEach(answer -> {
                    if (answer.getResult().getSequence() == 3) {
                        requests.close();
                    } else {
                        requests.submit(said("published", "and"));
                    }
                });
        requests.submit(said("published", "first"));
        done.get(30, TimeUnit.SECONDS);
        assertEquals(
                3,
                memory.async()
                        .messages(all("published"))
                        .toList()
                        .get(10, TimeUnit.SECONDS)
                        .size());
    }

    @Test
    void anErrorOfTheSourceIsTheCallers() {
        Iterable<AddStreamRequest> broken = () -> {
            throw new SourceFailed();
        };
        assertThrows(SourceFailed.class, () -> memory.addStream(broken).hasNext());
        ExecutionException failed = assertThrows(
                ExecutionException.class,
                () -> memory.async().addStream(broken).toList().get(10, TimeUnit.SECONDS));
        assertInstanceOf(SourceFailed.class, failed.getCause());
    }

    @Test
    void anInterruptGivesAStreamUpAndTheClientGoesOn() {
        Thread.currentThread().interrupt();
        ResponseStream<AddStreamResponse> answers = memory.addStream(List.of(said("interrupted", "hi")));
        assertThrows(CancelledException.class, answers::hasNext);
        assertEquals(true, Thread.interrupted());
        memory.add("", "interrupted", Messages.user("again"));
    }

    @Test
    void aClosedClientSaysSo() {
        MemsidecarClient closed =
                MemsidecarClient.builder().address(sidecar.address()).build();
        closed.close();
        assertThrows(ClosedException.class, () -> closed.add("", "s", Messages.user("hi")));
        assertThrows(
                ClosedException.class,
                () -> closed.addStream(List.of(said("s", "hi"))).hasNext());
        assertThrows(ClosedException.class, () -> closed.waitUntilReady(Duration.ofSeconds(5)));
    }

    private static final class SourceFailed extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
