package dev.memsidecar.client;

import io.grpc.Status;

/** The caller does not read the events of {@code watch}. Watch again from {@code cursor} in {@link #metadata()}. */
public final class SlowReaderException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    SlowReaderException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
