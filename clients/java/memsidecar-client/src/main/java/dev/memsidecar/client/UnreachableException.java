package dev.memsidecar.client;

import io.grpc.Status;

/**
 * No server answers at the address, or the connection broke. The client has retried the call, unless it was
 * {@code ReportUsage}, which would count twice. A write may have been stored.
 */
public final class UnreachableException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    UnreachableException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
