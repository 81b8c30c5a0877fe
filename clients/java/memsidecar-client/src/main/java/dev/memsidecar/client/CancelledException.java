package dev.memsidecar.client;

import io.grpc.Status;

/**
 * The caller gave the call up: the thread that waited was interrupted, or its gRPC context was cancelled. A write may
 * have been stored.
 */
public class CancelledException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    CancelledException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }

    CancelledException(String message, Throwable cause) {
        this(Status.Code.CANCELLED, message, ErrorDetails.NONE, cause);
    }
}
