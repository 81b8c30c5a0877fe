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
 * One call's way through the one policy by which calls are sent again. Each wait is a fifth more or less: a sidecar
 * restarts within all of them. However many attempts, the last one stays.
 */
final class Attempts {
    static final int DEFAULT = 4;

    private static final double[] WAITS_NANOS = {0.4e9, 1.2e9, 3.6e9};
    private static final double JITTER = 0.2;

    /** Codes that a transport which broke is told by, where no reason says that the sidecar gave them. */
    private static final Set<Status.Code> BROKEN =
            EnumSet.of(Status.Code.INTERNAL, Status.Code.UNKNOWN, Status.Code.CANCELLED);

    /** Has no id, and changes something each time. */
    private static final String COUNTED =
            MemoryServiceGrpc.getReportUsageMethod().getFullMethodName();

    private final int most;
    private final Deadline deadline;
    private final boolean counted;
    private final Context caller = Context.current();
    private int made;

    /** Without a deadline where {@code timeout} is null. */
    Attempts(int most, Duration timeout, MethodDescriptor<?, ?> method) {
        this.most = most;
        this.deadline = timeout == null ? null : Nanos.deadline(timeout);
        this.counted = method.getFullMethodName().equals(COUNTED);
    }

    /** When the attempt that begins now must end; null: whenever it likes. */
    Deadline begin() {
        made++;
        return deadline;
    }

    /** Something was answered: whatever breaks now is another mishap, not the same again. */
    void progressed() {
        made = 1;
    }

    /** The gRPC context of whoever made the call: later attempts are made elsewhere, and belong to it as well. */
    Context caller() {
        return caller;
    }

    /** Nanoseconds to wait before the next attempt. Throws the error where there shall be none. */
    long waitAfter(MemsidecarException error) {
        long wait = wait(error);
        boolean tooLate = deadline != null && wait >= deadline.timeRemaining(TimeUnit.NANOSECONDS);
        if (!worthAnother(error) || made >= most || tooLate) {
            throw error;
        }
        return wait;
    }

    /** As long as the sidecar said, and a little more; else longer each time. */
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
     * Whether it was the moment or the way, and not the call. Messages carry ids, so none is stored twice; what has
     * none is sent again only where the sidecar itself says that it did nothing.
     */
    private boolean worthAnother(MemsidecarException error) {
        if (error instanceof ClosedException || caller.isCancelled()) {
            return false;
        }
        boolean refused = !error.reason().isEmpty();
        boolean away = error.code() == Status.Code.UNAVAILABLE;
        return refused || counted ? refused && away : away || BROKEN.contains(error.code());
    }
}
