package dev.memsidecar.client;

import io.grpc.Status;

/**
 * A message, a request, a batch, a document or a context is too large. Sending it again does not help. Without a reason
 * it is gRPC itself that says so, at either side.
 */
public final class TooLargeException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    TooLargeException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
