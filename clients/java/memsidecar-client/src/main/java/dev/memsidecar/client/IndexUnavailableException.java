package dev.memsidecar.client;

import io.grpc.Status;

/** The request needs the index, which is not open. The client has retried the call. */
public final class IndexUnavailableException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    IndexUnavailableException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
