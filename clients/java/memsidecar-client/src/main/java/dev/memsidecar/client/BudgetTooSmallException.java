package dev.memsidecar.client;

import io.grpc.Status;

/** What must stay in a context does not fit into {@code max_tokens}. */
public final class BudgetTooSmallException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    BudgetTooSmallException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }

    /**
     * How many tokens it takes: a call with exactly that many succeeds.
     *
     * @return 0 where the sidecar did not say
     */
    public int requiredTokens() {
        return Math.toIntExact(number("required_tokens", Integer.MAX_VALUE));
    }
}
