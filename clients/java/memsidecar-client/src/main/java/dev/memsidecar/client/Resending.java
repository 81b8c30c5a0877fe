package dev.memsidecar.client;

/** Which requests of a stream are sent again when it breaks off. */
enum Resending {
    /** None: whoever reads knows how far it came. */
    NOTHING,
    /** The one request, as long as nothing is answered; from then on whoever reads knows where to go on. */
    UNTIL_ANSWERED,
    /** Those that are not answered yet; answers come in the order of the requests. */
    UNANSWERED
}
