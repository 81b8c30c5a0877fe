package dev.memsidecar.client;

import io.grpc.Status;

/** The session belongs to another user. */
public final class SessionOwnerMismatchException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    SessionOwnerMismatchException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
