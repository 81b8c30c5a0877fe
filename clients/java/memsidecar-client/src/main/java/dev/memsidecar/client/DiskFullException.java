package dev.memsidecar.client;

import io.grpc.Status;

/** The sidecar has no room to write. Nothing was stored; reads go on. */
public final class DiskFullException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    DiskFullException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
