package dev.memsidecar.client;

import io.grpc.Status;

/** The sidecar is still opening its files. The client has retried the call. */
public final class StartingException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    StartingException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
