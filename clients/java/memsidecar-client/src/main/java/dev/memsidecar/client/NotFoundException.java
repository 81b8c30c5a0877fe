package dev.memsidecar.client;

import io.grpc.Status;

/** The call acts on an item that does not exist: it was erased or never stored. */
public final class NotFoundException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    NotFoundException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
