package dev.memsidecar.client;

import io.grpc.Status;

/** The deadline passed. A write may have been stored: send it again with the same id to find out. */
public final class DeadlineExceededException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    DeadlineExceededException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
