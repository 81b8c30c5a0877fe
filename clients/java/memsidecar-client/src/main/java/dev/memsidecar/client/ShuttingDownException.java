package dev.memsidecar.client;

import io.grpc.Status;

/** The sidecar is draining before it stops. The client has retried the call. */
public final class ShuttingDownException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    ShuttingDownException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
