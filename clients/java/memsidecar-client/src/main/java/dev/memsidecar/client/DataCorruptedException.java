package dev.memsidecar.client;

import io.grpc.Status;

/** What is stored cannot be read: {@code file} is in {@link #metadata()}. A person must look. */
public final class DataCorruptedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    DataCorruptedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
