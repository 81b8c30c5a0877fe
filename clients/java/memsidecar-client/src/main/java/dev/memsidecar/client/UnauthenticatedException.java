package dev.memsidecar.client;

import io.grpc.Status;

/** The token or certificate is missing, unknown or expired. */
public final class UnauthenticatedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    UnauthenticatedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
