package dev.memsidecar.client;

/** Selects the requests that are sent again after an interrupted stream. */
enum ResendPolicy {
    /** None: the caller resumes the stream. */
    NEVER,
    /** The single request, until the first response; after that the caller resumes from a cursor. */
    UNTIL_FIRST_RESPONSE,
    /** The unacknowledged requests; responses arrive in the order of the requests. */
    UNACKNOWLEDGED
}
