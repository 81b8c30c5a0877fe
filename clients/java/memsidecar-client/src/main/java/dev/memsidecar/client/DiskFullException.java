package dev.memsidecar.client;

import io.grpc.Status;

/** The sidecar's disk is full. Nothing was stored; reads still work. */
public final class DiskFullException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    DiskFullException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }
}
