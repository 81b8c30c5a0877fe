package dev.memsidecar.client;

import io.grpc.Status;

/** The namespace may not keep more: {@code quota} and {@code limit} are in {@link #metadata()}. */
public final class QuotaExceededException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    QuotaExceededException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
