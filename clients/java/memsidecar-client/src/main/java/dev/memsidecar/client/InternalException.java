package dev.memsidecar.client;

import io.grpc.Status;

/** A bug of the sidecar, never bad input. Its log says more. */
public final class InternalException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    InternalException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
