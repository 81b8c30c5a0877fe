package dev.memsidecar.client;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Map;

/** Maps a gRPC status to an exception of the client. */
final class Exceptions {
    @FunctionalInterface
    interface Kind {
        MemsidecarException make(Status.Code code, String message, ErrorDetails details, Throwable cause);
    }

    static final Map<String, Kind> BY_REASON = Map.ofEntries(
            Map.entry("INVALID_FIELD", InvalidFieldException::new),
            Map.entry("NOT_FOUND", NotFoundException::new),
            Map.entry("ID_CONFLICT", IdConflictException::new),
            Map.entry("SEQUENCE_MISMATCH", SequenceMismatchException::new),
            Map.entry("SESSION_OWNER_MISMATCH", SessionOwnerMismatchException::new),
            Map.entry("BUDGET_TOO_SMALL", BudgetTooSmallException::new),
            Map.entry("TOO_LARGE", TooLargeException::new),
            Map.entry("RATE_LIMITED", RateLimitedException::new),
            Map.entry("QUOTA_EXCEEDED", QuotaExceededException::new),
            Map.entry("DISK_FULL", DiskFullException::new),
            Map.entry("SLOW_READER", SlowReaderException::new),
            Map.entry("UNAUTHENTICATED", UnauthenticatedException::new),
            Map.entry("PERMISSION_DENIED", PermissionDeniedException::new),
            Map.entry("STARTING", StartingException::new),
            Map.entry("SHUTTING_DOWN", ShuttingDownException::new),
            Map.entry("INDEX_UNAVAILABLE", IndexUnavailableException::new),
            Map.entry("OVERLOADED", OverloadedException::new),
            Map.entry("JOURNAL_UNAVAILABLE", JournalUnavailableException::new),
            Map.entry("DATA_CORRUPTED", DataCorruptedException::new),
            Map.entry("NOT_IMPLEMENTED", NotImplementedException::new),
            Map.entry("INTERNAL", InternalException::new));

    private static final Map<Status.Code, Kind> BY_CODE = Map.of(
            Status.Code.UNAVAILABLE, UnreachableException::new,
            Status.Code.DEADLINE_EXCEEDED, DeadlineExceededException::new,
            Status.Code.CANCELLED, CancelledException::new,
            // gRPC's own limit on the size of a message, at either side.
            Status.Code.RESOURCE_EXHAUSTED, TooLargeException::new);

    /** Message of Netty when a TLS server ends a connection without TLS. */
    private static final List<String> HUNG_UP =
            List.of("Network closed", "Connection reset", "First received frame was not SETTINGS");

    private final String address;
    private final boolean tls;

    Exceptions(String address, boolean tls) {
        this.address = address;
        this.tls = tls;
    }

    /** Returns the error for a reason, or for the code if there is no reason. */
    MemsidecarException of(Status given, Metadata trailers) {
        Status status = corrected(given);
        ErrorDetails details = ErrorDetails.of(trailers);
        Status.Code code = status.getCode();
        Kind kind = details.reason().isEmpty()
                ? BY_CODE.getOrDefault(code, MemsidecarException::new)
                : BY_REASON.getOrDefault(details.reason(), MemsidecarException::new);
        String said = status.getDescription() == null ? code.name() : status.getDescription();
        String message = code == Status.Code.UNAVAILABLE && details.reason().isEmpty() ? unreachable(status) : said;
        return kind.make(code, message, details, status.asRuntimeException(trailers));
    }

    /**
     * Corrects two statuses of gRPC itself: CANCELLED for a response that it could not decode, and UNKNOWN for a call
     * on a connection that was closed just then.
     */
    private static Status corrected(Status status) {
        Throwable cause = status.getCause();
        if (status.getCode() == Status.Code.CANCELLED && cause instanceof StatusRuntimeException unread) {
            return unread.getStatus();
        }
        if (status.getCode() == Status.Code.UNKNOWN && cause instanceof ClosedChannelException) {
            return Status.UNAVAILABLE.withDescription(status.getDescription()).withCause(cause);
        }
        return status;
    }

    private String unreachable(Status status) {
        StringBuilder found = new StringBuilder("no answer from the sidecar at ").append(address);
        String separator = ": ";
        if (status.getDescription() != null) {
            found.append(separator).append(status.getDescription());
            separator = "; ";
        }
        for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
            if (cause.getMessage() != null) {
                found.append(separator).append(cause.getMessage());
                separator = "; ";
            }
        }
        return found.append(hint(found.toString())).toString();
    }

    /** Replaces Netty's message for a connection where only one side speaks TLS, which does not say what to do. */
    private String hint(String said) {
        if (tls) {
            return said.contains("not an SSL/TLS record") ? "; does it speak TLS?" : "";
        }
        return HUNG_UP.stream().anyMatch(said::contains)
                ? "; does it want TLS? Open the client with caFile or tls(true)"
                : "";
    }
}
