package dev.memsidecar.client;

import dev.memsidecar.v1.MemoryServiceGrpc;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Applies the retry policy to one call. Each wait has a jitter of 20 %: a sidecar restarts within their sum. Further
 * attempts use the last wait.
 */
final class Attempts {
    static final int DEFAULT = 4;

    private static final double[] WAITS_NANOS = {0.4e9, 1.2e9, 3.6e9};
    private static final double JITTER = 0.2;

    /** Status codes of a broken transport, if they come without a reason of the sidecar. */
    private static final Set<Status.Code> BROKEN =
            EnumSet.of(Status.Code.INTERNAL, Status.Code.UNKNOWN, Status.Code.CANCELLED);

    /** The RPC without an idempotency key, which counts each time. */
    private static final String COUNTED =
            MemoryServiceGrpc.getReportUsageMethod().getFullMethodName();

    private final int limit;
    private final Deadline deadline;
    private final boolean counted;
    private final Context caller = Context.current();
    private int made;

    /** Has no deadline if {@code timeout} is null. */
    Attempts(int limit, Duration timeout, MethodDescriptor<?, ?> method) {
        this.limit = limit;
        this.deadline = timeout == null ? null : Nanos.deadline(timeout);
        this.counted = method.getFullMethodName().equals(COUNTED);
    }

    /** Returns the deadline of an attempt that starts now; null for none. */
    Deadline begin() {
        made++;
        return deadline;
    }

    /** Reset the attempts: after a response, a further failure is a new one. */
    void progressed() {
        made = 1;
    }

    /** The gRPC context of the caller: later attempts run on another thread in the same context. */
    Context caller() {
        return caller;
    }

    /** Returns the nanoseconds to wait before the next attempt. Throws the error if there is no further attempt. */
    long waitAfter(MemsidecarException error) {
        long wait = wait(error);
        boolean tooLate = deadline != null && wait >= deadline.timeRemaining(TimeUnit.NANOSECONDS);
        if (!worthAnother(error) || made >= limit || tooLate) {
            throw error;
        }
        return wait;
    }

    /** Returns the delay of RetryInfo plus jitter, or the exponential backoff. */
    private long wait(MemsidecarException error) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return error.retryAfter()
                .map(told -> (long) (Nanos.of(told) * random.nextDouble(1, 1 + JITTER)))
                .orElseGet(() -> (long) (growing() * random.nextDouble(1 - JITTER, 1 + JITTER)));
    }

    private double growing() {
        return WAITS_NANOS[Math.min(made, WAITS_NANOS.length) - 1];
    }

    /**
     * Returns whether a retry can succeed. Messages have ids, so none is stored twice; a call without an idempotency
     * key is retried only if the sidecar rejected it.
     */
    private boolean worthAnother(MemsidecarException error) {
        if (error instanceof ClosedException || caller.isCancelled()) {
            return false;
        }
        boolean reasoned = !error.reason().isEmpty();
        if (counted && (!reasoned || error instanceof JournalUnavailableException)) {
            return false;
        }
        boolean away = error.code() == Status.Code.UNAVAILABLE;
        return away || !reasoned && BROKEN.contains(error.code());
    }
}
