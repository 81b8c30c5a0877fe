package dev.memsidecar.client;

import io.grpc.Status;

/** Too much is waiting in the sidecar. The call was sent again already. */
public final class BusyException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    BusyException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
