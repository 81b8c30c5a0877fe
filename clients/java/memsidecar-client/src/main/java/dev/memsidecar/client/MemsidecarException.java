package dev.memsidecar.client;

import io.grpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * Error of a call: rejected by the sidecar, or without a response. Each reason of the sidecar has its own subclass
 * below this one, and so have the outcomes that gRPC gives itself: {@link UnreachableException},
 * {@link DeadlineExceededException}, {@link CancelledException}, and {@link TooLargeException} where a message is
 * beyond gRPC's own limit. A reason that this version does not know yet is a plain {@code MemsidecarException}.
 *
 * <p>After an error with a reason, that attempt stored nothing; an earlier attempt whose response was lost may have.
 * After one without a reason, and after {@link JournalUnavailableException}, a write may have been stored.
 */
public class MemsidecarException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The status code of gRPC. */
    private final Status.Code code;

    /** The details of the error. */
    private final ErrorDetails details;

    MemsidecarException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(message, cause);
        this.code = code;
        this.details = details;
    }

    /**
     * The code of gRPC.
     *
     * @return never {@code OK}
     */
    public Status.Code code() {
        return code;
    }

    /**
     * The reason, as in the contract's {@code ErrorReason} without its prefix: {@code "ID_CONFLICT"}.
     *
     * @return empty for errors of gRPC itself
     */
    public String reason() {
        return details.reason();
    }

    /**
     * The path of the invalid field, as in {@code "messages[3].role"}.
     *
     * @return empty for other errors
     */
    public String field() {
        return details.field();
    }

    /**
     * The metadata of the reason, by name.
     *
     * @return unmodifiable; empty if there is none
     */
    public Map<String, String> metadata() {
        return details.metadata();
    }

    /**
     * The delay before a retry can succeed.
     *
     * @return empty if the sidecar did not send one
     */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(details.retryAfter());
    }

    /** Returns a number of the metadata; 0 if it is absent or no number. */
    long number(String name, long max) {
        String text = metadata().getOrDefault(name, "");
        boolean isNumber = text.matches("[0-9]{1,18}") && Long.parseLong(text) <= max;
        return isNumber ? Long.parseLong(text) : 0;
    }

    @Override
    public String toString() {
        String named = reason().isEmpty() ? code.name() : code + ", " + reason();
        return getClass().getName() + ": " + getMessage() + " (" + named + ")";
    }
}
