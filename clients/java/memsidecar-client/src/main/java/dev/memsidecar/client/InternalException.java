package dev.memsidecar.client;

import io.grpc.Status;

/** A bug in the sidecar, never invalid input. The sidecar's log has the details. */
public final class InternalException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    InternalException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
