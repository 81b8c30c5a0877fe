package dev.memsidecar.client;

import io.grpc.Deadline;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Durations in nanoseconds. Whoever says {@code Duration.ofSeconds(Long.MAX_VALUE)} means: as long as it takes. */
final class Nanos {
    private Nanos() {}

    /** What is longer than can be counted is the longest that can. */
    static long of(Duration duration) {
        try {
            return duration.toNanos();
        } catch (ArithmeticException beyond) {
            return duration.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    static Deadline deadline(Duration fromNow) {
        return Deadline.after(of(fromNow), TimeUnit.NANOSECONDS);
    }
}
