package dev.memsidecar.client;

import io.grpc.Status;

/** The session has moved on since {@code expected_sequence}. Read what was added, and decide anew. */
public final class SequenceMismatchException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    SequenceMismatchException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }

    /**
     * The session's last sequence as it is now.
     *
     * @return 0 where the sidecar did not say
     */
    public long lastSequence() {
        return number("last_sequence", Long.MAX_VALUE);
    }
}
