package dev.memsidecar.client;

import io.grpc.Status;

/** The namespace exceeds its rate or concurrency limit: retry after {@link #retryAfter()}. */
public final class RateLimitedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    RateLimitedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
