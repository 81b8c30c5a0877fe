package dev.memsidecar.client;

import io.grpc.Status;

/** What was asked needs the index, and it is not open. The call was sent again already. */
public final class IndexUnavailableException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    IndexUnavailableException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
