package dev.memsidecar.client;

import io.grpc.Status;

/** The token is not valid for this namespace or this call. */
public final class PermissionDeniedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    PermissionDeniedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
