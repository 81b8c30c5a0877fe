package dev.memsidecar.client;

import io.grpc.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Durations in nanoseconds. {@code Duration.ofSeconds(Long.MAX_VALUE)} means no limit. */
final class Nanos {
    private Nanos() {}

    /** Saturates at Long.MAX_VALUE. */
    static long of(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException beyond) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    /** Checks the deadline of a client. Throws IllegalArgumentException if it is not positive. */
    static Duration ahead(Duration deadline) {
        Objects.requireNonNull(deadline, "deadline");
        if (deadline.isZero() || deadline.isNegative()) {
            throw new IllegalArgumentException("the deadline must be more than 0, and is " + deadline);
        }
        return deadline;
    }

    static Deadline deadline(Duration fromNow) {
        return Deadline.after(of(fromNow), TimeUnit.NANOSECONDS);
    }
}
