package dev.memsidecar.client;

import io.grpc.Status;

/** Too much is waiting in the sidecar. The call was sent again already. */
public final class OverloadedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    OverloadedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
