package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.memsidecar.v1.MemoryServiceGrpc;
import io.grpc.Context;
import io.grpc.Status;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AttemptsTest {
    private static MemsidecarException error(Status.Code code, String reason, Duration retryAfter) {
        return new MemsidecarException(code, "", new ErrorDetails(reason, "", Map.of(), retryAfter), null);
    }

    private static final MemsidecarException AWAY = error(Status.Code.UNAVAILABLE, "", null);

    private static Attempts attempts(int limit, Duration timeout) {
        return new Attempts(limit, timeout, MemoryServiceGrpc.getAddMethod());
    }

    @Test
    void waitsGrowAndVaryByAFifth() {
        for (int round = 0; round < 200; round++) {
            Attempts attempts = attempts(4, null);
            for (double seconds : new double[] {0.4, 1.2, 3.6}) {
                attempts.begin();
                double waited = attempts.waitAfter(AWAY) / 1e9;
                assertTrue(waited >= seconds * 0.8 - 1e-6 && waited <= seconds * 1.2, "waited " + waited);
            }
            attempts.begin();
            refused(attempts, AWAY);
        }
    }

    @Test
    void theLongestWaitStays() {
        Attempts attempts = attempts(1_000, null);
        for (int made = 1; made < 1_000; made++) {
            attempts.begin();
            assertTrue(attempts.waitAfter(AWAY) <= 3.6e9 * 1.2);
        }
    }

    @Test
    void whatHasNoIdIsSentAgainOnlyIfItWasRefused() {
        for (Status.Code code : Status.Code.values()) {
            Attempts attempts = new Attempts(4, null, MemoryServiceGrpc.getReportUsageMethod());
            attempts.begin();
            refused(attempts, error(code, "", null));
        }
        Attempts attempts = new Attempts(4, null, MemoryServiceGrpc.getReportUsageMethod());
        attempts.begin();
        assertTrue(attempts.waitAfter(error(Status.Code.UNAVAILABLE, "STARTING", null)) > 0);
    }

    @Test
    void whatTheSidecarSaysIsTheLeast() {
        for (int round = 0; round < 200; round++) {
            Attempts attempts = attempts(4, null);
            attempts.begin();
            double waited =
                    attempts.waitAfter(error(Status.Code.UNAVAILABLE, "OVERLOADED", Duration.ofSeconds(2))) / 1e9;
            assertTrue(waited >= 2 && waited <= 2.4, "waited " + waited);
        }
    }

    @Test
    void nothingWaitsBeyondTheDeadline() {
        Attempts attempts = attempts(4, Duration.ofMillis(300));
        attempts.begin();
        refused(attempts, AWAY);
    }

    @Test
    void progressBeginsTheCountAnew() {
        Attempts attempts = attempts(2, null);
        attempts.begin();
        attempts.begin();
        attempts.progressed();
        assertTrue(attempts.waitAfter(AWAY) > 0);
    }

    @Test
    void onlyWhatIsTheMomentsFaultIsWorthAnother() {
        for (Status.Code code : Status.Code.values()) {
            Attempts attempts = attempts(4, null);
            attempts.begin();
            switch (code) {
                case UNAVAILABLE, INTERNAL, UNKNOWN, CANCELLED ->
                    assertTrue(attempts.waitAfter(error(code, "", null)) > 0);
                default -> refused(attempts, error(code, "", null));
            }
            if (code != Status.Code.UNAVAILABLE) {
                refused(attempts, error(code, "INTERNAL", null));
            }
        }
    }

    @Test
    void aCancelledCallIsNotRetried() {
        Context.CancellableContext caller = Context.current().withCancellation();
        caller.run(() -> {
            Attempts attempts = attempts(4, null);
            attempts.begin();
            caller.cancel(null);
            refused(attempts, error(Status.Code.CANCELLED, "", null));
        });
        Attempts attempts = attempts(4, null);
        attempts.begin();
        refused(attempts, new ClosedException(null));
    }

    private static void refused(Attempts attempts, MemsidecarException error) {
        assertSame(error, assertThrows(MemsidecarException.class, () -> attempts.waitAfter(error)));
    }
}
