package dev.memsidecar.client;

import io.grpc.Status;

/** The required content of a context does not fit into {@code max_tokens}. */
public final class BudgetTooSmallException extends MemsidecarException {
    private static final long serialVersionUID = 1L;

    BudgetTooSmallException(Status.Code code, String message, ErrorDetails details, Throwable cause) {
        super(code, message, details, cause);
    }

    /**
     * Returns the required tokens: a call with exactly that many succeeds.
     *
     * @return 0 if the sidecar did not report it
     */
    public int requiredTokens() {
        return Math.toIntExact(number("required_tokens", Integer.MAX_VALUE));
    }

    /**
     * Returns the largest mandatory part of the context: "system_prompt", "newest user message", "pinned facts",
     * "tool_schemas_json" or "reserve_output_tokens".
     *
     * @return an empty text if the sidecar did not report it
     */
    public String item() {
        return metadata().getOrDefault("item", "");
    }
}
