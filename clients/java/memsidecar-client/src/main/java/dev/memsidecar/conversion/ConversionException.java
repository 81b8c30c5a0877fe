package dev.memsidecar.conversion;

/** Input that is not of the format. Nothing was converted. */
public final class ConversionException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String field;
    private final String problem;

    ConversionException(String field, String problem, Throwable cause) {
        super(field + ": " + problem, cause);
        this.field = field;
        this.problem = problem;
    }

    /**
     * The path of the wrong value.
     *
     * @return as in {@code messages[3].tool_calls[0].function.name}
     */
    public String field() {
        return field;
    }

    /**
     * What is wrong with it.
     *
     * @return for people; it may change
     */
    public String problem() {
        return problem;
    }
}
