package dev.memsidecar.client;

import io.grpc.Status;

/** No token and no certificate, or one that is not good. */
public final class UnauthenticatedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    UnauthenticatedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
