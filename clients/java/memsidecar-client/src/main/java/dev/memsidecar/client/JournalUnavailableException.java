package dev.memsidecar.client;

import io.grpc.Status;

/**
 * The database of the sidecar's journal does not answer. The client has retried the call. A write may have been stored.
 */
public final class JournalUnavailableException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    JournalUnavailableException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
