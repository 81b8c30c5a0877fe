package dev.memsidecar.client;

/** The client is closed, or was closed while the call was under way. A write may have been stored. */
public final class ClosedException extends CancelledException {
    private static final long serialVersionUID = 1L;

    ClosedException(Throwable cause) {
        super("the client is closed", cause);
    }
}
