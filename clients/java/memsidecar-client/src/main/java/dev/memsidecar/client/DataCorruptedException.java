package dev.memsidecar.client;

import io.grpc.Status;

/** Stored data is corrupted: {@code file} is in {@link #metadata()}. An operator must repair it. */
public final class DataCorruptedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    DataCorruptedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
