package dev.memsidecar.client;

import io.grpc.Status;

/** The message id is known in this session with another body: two messages share it. */
public final class IdConflictException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    IdConflictException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
