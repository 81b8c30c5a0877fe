package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.memsidecar.v1.AddStreamRequest;
import dev.memsidecar.v1.AddStreamResponse;
import dev.memsidecar.v1.CountRequest;
import dev.memsidecar.v1.CountResponse;
import dev.memsidecar.v1.GetAllRequest;
import dev.memsidecar.v1.GetAllResponse;
import dev.memsidecar.v1.MemoryServiceGrpc;
import dev.memsidecar.v1.ReportUsageRequest;
import dev.memsidecar.v1.ReportUsageResponse;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Faults that a real sidecar does not have, provoked by a fake server. */
@Timeout(60)
class FaultsTest {
    /** They log each part of an unwanted response. The reference is kept, else the level is lost. */
    private static final List<Logger> TALKATIVE = List.of(
            Logger.getLogger("io.grpc.internal.AbstractClientStream"),
            Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler"));

    private static final List<Duration> NOTHING_LEFT =
            List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofSeconds(Long.MIN_VALUE));

    private final FakeServer fake = new FakeServer();
    private Server server;
    private MemsidecarClient memory;

    @BeforeEach
    void open() throws IOException {
        server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .addService(fake)
                .build()
                .start();
        memory = builder().build();
    }

    @AfterEach
    void close() {
        memory.close();
        server.shutdownNow();
    }

    private MemsidecarClient.Builder builder() {
        return MemsidecarClient.builder().address("127.0.0.1:" + server.getPort());
    }

    private static AddStreamRequest said(String content) {
        return AddStreamRequest.newBuilder()
                .setSessionId("s")
                .setMessage(Messages.user(content))
                .build();
    }

    @Test
    void aConnectionThatIsClosedDuringACallIsUnreachable() {
        Status closed = Status.UNKNOWN.withDescription("channel closed").withCause(new ClosedChannelException());
        MemsidecarException error = new Exceptions("127.0.0.1:1", false).of(closed, new Metadata());
        assertInstanceOf(UnreachableException.class, error);
        assertEquals(Status.Code.UNAVAILABLE, error.code());
    }

    @Test
    void aStreamThatEndsWellTooEarlyGoesOn() {
        fake.answersOfStreams.addAll(List.of(1, 0, 9));
        List<AddStreamRequest> requests = List.of(said("one"), said("two"), said("three"));
        try (ResponseStream<AddStreamResponse> answers = memory.addStream(requests)) {
            assertEquals(3, answers.stream().count());
        }
        assertEquals(3, fake.streams.get());
        assertEquals(List.of("one", "two", "three"), fake.answered);
    }

    @Test
    void aBrokenTextEndsAStreamAndIsNotSent() {
        fake.answersOfStreams.addAll(List.of(9, 9));
        List<AddStreamRequest> requests = List.of(said("half \uD83C"), said("two"));
        Exception refused = assertThrows(
                IllegalArgumentException.class, () -> memory.addStream(requests).hasNext());
        assertTrue(refused.getMessage().startsWith("message.content is not"), refused.getMessage());
        CompletionException failed = assertThrows(
                CompletionException.class,
                () -> memory.async().addStream(requests).toList().join());
        assertInstanceOf(IllegalArgumentException.class, failed.getCause());
        assertEquals(List.of(), fake.answered);
    }

    @Test
    void aStreamThatAlwaysEndsTooEarlyFails() {
        fake.answersOfStreams.addAll(List.of(0, 0, 0));
        try (MemsidecarClient hasty = builder().attempts(2).build();
                ResponseStream<AddStreamResponse> answers = hasty.addStream(List.of(said("one")))) {
            assertThrows(UnreachableException.class, answers::hasNext);
        }
        assertEquals(2, fake.streams.get());
    }

    @Test
    void aSourceThatFailsBetweenAttemptsIsTheCallers() {
        fake.error = refusal(Status.UNAVAILABLE, "OVERLOADED", 30);
        assertThrows(SourceFailed.class, () -> memory.addStream(failingSoon()).hasNext());
        CompletionException failed = assertThrows(
                CompletionException.class,
                () -> memory.async().addStream(failingSoon()).toList().join());
        assertInstanceOf(SourceFailed.class, failed.getCause());
    }

    /** One request, and an error while the client waits to send it again. */
    private static Iterable<AddStreamRequest> failingSoon() {
        Iterator<AddStreamRequest> first = List.of(said("one")).iterator();
        return () -> new Iterator<>() {
            @Override
            public boolean hasNext() {
                return true;
            }

            @Override
            public AddStreamRequest next() {
                if (first.hasNext()) {
                    return first.next();
                }
                sleep();
                throw new SourceFailed();
            }
        };
    }

    private static void sleep() {
        try {
            Thread.sleep(500);
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void whatHasNoIdIsSentAgainOnlyIfItWasRefused() {
        ReportUsageRequest usage = ReportUsageRequest.getDefaultInstance();
        fake.error = Status.UNAVAILABLE.asRuntimeException();
        assertThrows(UnreachableException.class, () -> memory.reportUsage(usage));
        assertThrows(
                CompletionException.class,
                () -> memory.async().reportUsage(usage).join());
        fake.error = Status.INTERNAL.asRuntimeException();
        assertThrows(MemsidecarException.class, () -> memory.reportUsage(usage));
        assertEquals(3, fake.reports.get());

        fake.error = refusal(Status.UNAVAILABLE, "OVERLOADED", 0);
        assertThrows(OverloadedException.class, () -> memory.reportUsage(usage));
        assertEquals(7, fake.reports.get());
    }

    @Test
    void anAnswerThatCannotBeReadIsAnErrorOfOurs() {
        try (MemsidecarClient hasty = builder().attempts(1).build()) {
            GetAllRequest all = GetAllRequest.getDefaultInstance();
            MemsidecarException garbage = assertThrows(MemsidecarException.class, () -> hasty.getAll(all));
            assertEquals(Status.Code.INTERNAL, garbage.code());
            CompletionException failed = assertThrows(
                    CompletionException.class, () -> hasty.async().getAll(all).join());
            assertEquals(Status.Code.INTERNAL, ((MemsidecarException) failed.getCause()).code());
        }
    }

    @Test
    void anAnswerBeyondTheLimitOfGrpcIsTooLarge() {
        TALKATIVE.forEach(logger -> logger.setLevel(Level.SEVERE));
        fake.countBytes = 5_000_000;
        TooLargeException error =
                assertThrows(TooLargeException.class, () -> memory.count(CountRequest.getDefaultInstance()));
        assertEquals("", error.reason());
    }

    @Test
    void aDeadlineBeyondAllClocksIsFarAway() {
        for (Duration far : List.of(Duration.ofSeconds(Long.MAX_VALUE), Duration.ofNanos(Long.MAX_VALUE))) {
            CountRequest request = CountRequest.getDefaultInstance();
            memory.withDeadline(far).count(request);
            memory.withDeadline(far).async().count(request).join();
            fake.answersOfStreams.add(1);
            assertTrue(memory.withDeadline(far).addStream(List.of(said("one"))).hasNext());
            assertThrows(MemsidecarException.class, () -> memory.waitUntilReady(far));
        }
    }

    @Test
    void theDeadlineOfAClientIsMoreThanNothing() {
        for (Duration none : NOTHING_LEFT) {
            String why = assertThrows(
                            IllegalArgumentException.class, () -> builder().deadline(none))
                    .getMessage();
            assertTrue(why.contains("deadline must be more than 0") && why.contains(none.toString()), why);
        }
    }

    @Test
    void aCallWithoutTimeIsOverAndNotSent() {
        CountRequest request = CountRequest.getDefaultInstance();
        memory.count(request);
        for (Duration none : NOTHING_LEFT) {
            MemsidecarClient late = memory.withDeadline(none);
            List<Executable> over = List.of(
                    () -> late.count(request),
                    () -> late.messages(GetAllRequest.getDefaultInstance()).stream()
                            .count(),
                    () -> late.addStream(List.of(said("one"))).hasNext(),
                    () -> late.waitUntilReady(none));
            over.forEach(call -> assertThrows(DeadlineExceededException.class, call));
            AsyncMemsidecarClient lateAsync = memory.async().withDeadline(none);
            List<CompletableFuture<?>> failed = List.of(
                    late.async().count(request),
                    lateAsync.count(request),
                    lateAsync.messages(GetAllRequest.getDefaultInstance()).toList(),
                    lateAsync.addStream(List.of(said("one"))).toList(),
                    lateAsync.waitUntilReady(none));
            for (CompletableFuture<?> future : failed) {
                assertInstanceOf(
                        DeadlineExceededException.class,
                        assertThrows(CompletionException.class, future::join).getCause());
            }
        }
        assertEquals(List.of(true), fake.deadlines);
        assertEquals(0, fake.streams.get());
    }

    @Test
    void aDeadlineCanBeLeftOut() {
        CountRequest request = CountRequest.getDefaultInstance();
        try (MemsidecarClient patient = builder().noDeadline().build()) {
            Stream.of(memory.withoutDeadline(), patient).forEach(client -> {
                client.count(request);
                client.async().count(request).join();
            });
        }
        memory.async().withoutDeadline().count(request).join();
        assertEquals(List.of(false, false, false, false, false), fake.deadlines);
        memory.count(request);
        assertEquals(true, fake.deadlines.get(5));
    }

    @Test
    void aHugeRetryDelayIsReportedUnchanged() {
        fake.error = refusal(Status.UNAVAILABLE, "OVERLOADED", Long.MAX_VALUE);
        OverloadedException overloaded = assertThrows(
                OverloadedException.class, () -> memory.reportUsage(ReportUsageRequest.getDefaultInstance()));
        assertTrue(overloaded.retryAfter().orElseThrow().toDays() > 365);
    }

    private static StatusRuntimeException refusal(Status status, String reason, long retryAfterSeconds) {
        com.google.rpc.Status details = com.google.rpc.Status.newBuilder()
                .addDetails(Any.pack(ErrorInfo.newBuilder()
                        .setDomain("memsidecar.dev")
                        .setReason(reason)
                        .build()))
                .addDetails(Any.pack(RetryInfo.newBuilder()
                        .setRetryDelay(com.google.protobuf.Duration.newBuilder()
                                .setSeconds(retryAfterSeconds)
                                .setNanos(999_999_999))
                        .build()))
                .build();
        Metadata trailers = new Metadata();
        trailers.put(
                Metadata.Key.of(
                        "grpc-status-details-bin",
                        ProtoUtils.metadataMarshaller(com.google.rpc.Status.getDefaultInstance())),
                details);
        return status.asRuntimeException(trailers);
    }

    private static final class SourceFailed extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** Fails with {@code error} if it is set. */
    private static final class FakeServer extends MemoryServiceGrpc.MemoryServiceImplBase {
        private volatile StatusRuntimeException error;
        private volatile int countBytes;
        private final AtomicInteger reports = new AtomicInteger();
        private final List<Boolean> deadlines = new CopyOnWriteArrayList<>();

        /** The number of requests that each stream answers before it ends. */
        private final List<Integer> answersOfStreams = new ArrayList<>();

        private final AtomicInteger streams = new AtomicInteger();
        private final List<String> answered = new CopyOnWriteArrayList<>();

        @Override
        public void count(CountRequest request, StreamObserver<CountResponse> answers) {
            deadlines.add(Context.current().getDeadline() != null);
            answers.onNext(CountResponse.newBuilder()
                    .setUnknownFields(bytes(1_000, new byte[countBytes]))
                    .build());
            answers.onCompleted();
        }

        /** Sends a text field that is not valid UTF-8. */
        @Override
        public void getAll(GetAllRequest request, StreamObserver<GetAllResponse> answers) {
            byte[] garbage = {(byte) 0xff, (byte) 0xfe};
            answers.onNext(GetAllResponse.newBuilder()
                    .setUnknownFields(bytes(GetAllResponse.NEXT_PAGE_TOKEN_FIELD_NUMBER, garbage))
                    .build());
            answers.onCompleted();
        }

        private static UnknownFieldSet bytes(int field, byte[] content) {
            UnknownFieldSet.Field value = UnknownFieldSet.Field.newBuilder()
                    .addLengthDelimited(ByteString.copyFrom(content))
                    .build();
            return UnknownFieldSet.newBuilder().addField(field, value).build();
        }

        @Override
        public void reportUsage(ReportUsageRequest request, StreamObserver<ReportUsageResponse> answers) {
            reports.incrementAndGet();
            answers.onError(error);
        }

        @Override
        public StreamObserver<AddStreamRequest> addStream(StreamObserver<AddStreamResponse> answers) {
            int stream = streams.getAndIncrement();
            return new StreamObserver<>() {
                private int left = error != null ? 0 : answersOfStreams.get(stream);
                private boolean over;

                @Override
                public void onNext(AddStreamRequest request) {
                    if (over) {
                        return;
                    }
                    if (left-- > 0) {
                        answered.add(request.getMessage().getContent());
                        answers.onNext(AddStreamResponse.getDefaultInstance());
                        return;
                    }
                    end();
                }

                private void end() {
                    over = true;
                    if (error == null) {
                        answers.onCompleted();
                    } else {
                        answers.onError(error);
                    }
                }

                @Override
                public void onError(Throwable broken) {
                    over = true;
                }

                @Override
                public void onCompleted() {
                    if (!over) {
                        end();
                    }
                }
            };
        }
    }
}
