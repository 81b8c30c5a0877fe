package dev.memsidecar.client;

import io.grpc.Status;

/** The call acts on something that is not there: it may have been erased, or never stored. */
public final class NotFoundException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    NotFoundException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
