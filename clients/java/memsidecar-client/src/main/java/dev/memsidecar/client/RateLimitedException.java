package dev.memsidecar.client;

import io.grpc.Status;

/** Too many calls of a namespace in a short time or at once: come back after {@link #retryAfter()}. */
public final class RateLimitedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    RateLimitedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
