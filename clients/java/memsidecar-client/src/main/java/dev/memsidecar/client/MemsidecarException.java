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
 * After one without a reason, a write may have been stored.
 */
public class MemsidecarException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What gRPC calls it. */
    private final Status.Code code;

    /** Carried as one thing, because a part of it alone means nothing. */
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
     * @return empty for what gRPC says itself
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
     * What the sidecar says besides, by name.
     *
     * @return unmodifiable; empty where it says nothing
     */
    public Map<String, String> metadata() {
        return details.metadata();
    }

    /**
     * How long to wait before the call is worth another try.
     *
     * @return empty where the sidecar did not say
     */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(details.retryAfter());
    }

    /** Of the metadata; 0 where none is there, or something else is. */
    long number(String name, long most) {
        String told = metadata().getOrDefault(name, "");
        boolean isNumber = told.matches("[0-9]{1,18}") && Long.parseLong(told) <= most;
        return isNumber ? Long.parseLong(told) : 0;
    }

    @Override
    public String toString() {
        String named = reason().isEmpty() ? code.name() : code + ", " + reason();
        return getClass().getName() + ": " + getMessage() + " (" + named + ")";
    }
}
