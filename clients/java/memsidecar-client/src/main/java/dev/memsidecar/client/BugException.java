package dev.memsidecar.client;

import io.grpc.Status;

/** A bug of the sidecar, never bad input. Its log says more. */
public final class BugException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    BugException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
