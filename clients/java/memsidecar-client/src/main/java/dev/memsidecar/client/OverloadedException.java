package dev.memsidecar.client;

import io.grpc.Status;

/** Too many requests are queued in the sidecar. The client has retried the call. */
public final class OverloadedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    OverloadedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
