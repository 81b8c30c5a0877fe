package dev.memsidecar.client;

import io.grpc.Status;

/** This version of the sidecar does not implement the RPC. */
public final class NotImplementedException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    NotImplementedException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
