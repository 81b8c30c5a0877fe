package dev.memsidecar.client;

import io.grpc.Status;

/** A field of the request is wrong; {@link #field()} names it. */
public final class InvalidFieldException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    InvalidFieldException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
