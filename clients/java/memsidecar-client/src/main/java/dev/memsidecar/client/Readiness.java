package dev.memsidecar.client;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Asks gRPC's health service until it says that the sidecar serves. That takes too little of it to be worth stubs. */
final class Readiness {
    private static final long POLL_NANOS = 50_000_000;
    private static final byte[] ALL_SERVICES = {};
    private static final byte[] SERVING = {8, 1};
    private static final Set<Status.Code> NOT_YET = EnumSet.of(Status.Code.NOT_FOUND, Status.Code.CANCELLED);

    private static final MethodDescriptor<byte[], byte[]> CHECK = MethodDescriptor.newBuilder(new Bytes(), new Bytes())
            .setType(MethodDescriptor.MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/Check")
            .build();

    private final AsyncCalls calls;
    private final Duration timeout;
    private final Deadline deadline;
    private final Context caller = Context.current();
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private volatile CompletableFuture<byte[]> looking = new CompletableFuture<>();

    Readiness(AsyncCalls calls, Duration timeout) {
        this.calls = new AsyncCalls(calls.connection(), 1);
        this.timeout = timeout;
        this.deadline = Nanos.deadline(timeout);
    }

    CompletableFuture<Void> begin() {
        ready.whenComplete((nothing, error) -> looking.cancel(true));
        look();
        return ready;
    }

    private void look() {
        if (ready.isDone()) {
            return;
        }
        Duration remaining = Duration.ofNanos(deadline.timeRemaining(TimeUnit.NANOSECONDS));
        CompletableFuture<byte[]> now = calls.call(CHECK, ALL_SERVICES, remaining);
        looking = now;
        now.whenComplete((answer, error) -> {
            if (error == null && Arrays.equals(answer, SERVING)) {
                ready.complete(null);
            } else if (error == null || isWorthWaiting(error)) {
                calls.connection().pause(POLL_NANOS).thenRunAsync(this::look);
            } else {
                ready.completeExceptionally(withAddress(error));
            }
        });
    }

    private boolean isWorthWaiting(Throwable error) {
        if (!(error instanceof MemsidecarException found) || found instanceof ClosedException || caller.isCancelled()) {
            return false;
        }
        boolean away = found.code() == Status.Code.UNAVAILABLE;
        return away || (found.reason().isEmpty() && NOT_YET.contains(found.code()));
    }

    private Throwable withAddress(Throwable error) {
        if (!(error instanceof DeadlineExceededException)) {
            return error;
        }
        String message = "the sidecar at " + calls.connection().address() + " was not ready within "
                + Nanos.of(timeout) / 1_000_000 / 1000.0 + " seconds";
        return new DeadlineExceededException(Status.Code.DEADLINE_EXCEEDED, message, ErrorDetails.NONE, error);
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        }
    }
}
