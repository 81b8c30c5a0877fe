package dev.memsidecar.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.protobuf.ProtoUtils;
import java.io.Serializable;
import java.time.Duration;
import java.util.Map;

/** The rich details of an error, as the sidecar sends them behind the answer. */
record ErrorDetails(String reason, String field, Map<String, String> metadata, Duration retryAfter)
        implements Serializable {
    static final ErrorDetails NONE = new ErrorDetails("", "", Map.of(), null);

    private static final long MAX_SECONDS = 315_576_000_000L;
    private static final String DOMAIN = "memsidecar.dev";
    private static final Metadata.Key<com.google.rpc.Status> KEY = Metadata.Key.of(
            "grpc-status-details-bin", ProtoUtils.metadataMarshaller(com.google.rpc.Status.getDefaultInstance()));

    /** {@link #NONE} where there are none, or where an intermediary put something else there. */
    static ErrorDetails of(Metadata trailers) {
        try {
            com.google.rpc.Status status = trailers == null ? null : trailers.get(KEY);
            return status == null ? NONE : read(status);
        } catch (IllegalArgumentException | InvalidProtocolBufferException notOurs) {
            return NONE;
        }
    }

    private static ErrorDetails read(com.google.rpc.Status status) throws InvalidProtocolBufferException {
        ErrorInfo info = ErrorInfo.getDefaultInstance();
        String field = "";
        Duration retryAfter = null;
        for (Any detail : status.getDetailsList()) {
            if (detail.is(ErrorInfo.class)) {
                info = detail.unpack(ErrorInfo.class);
            } else if (detail.is(BadRequest.class)) {
                field = firstField(detail.unpack(BadRequest.class));
            } else if (detail.is(RetryInfo.class)) {
                retryAfter = duration(detail.unpack(RetryInfo.class).getRetryDelay());
            }
        }
        boolean ours = info.getDomain().equals(DOMAIN);
        return ours ? new ErrorDetails(info.getReason(), field, Map.copyOf(info.getMetadataMap()), retryAfter) : NONE;
    }

    private static String firstField(BadRequest request) {
        return request.getFieldViolationsCount() == 0
                ? ""
                : request.getFieldViolations(0).getField();
    }

    /** Within the range that protobuf allows. */
    private static Duration duration(com.google.protobuf.Duration given) {
        long seconds = Math.max(0, Math.min(given.getSeconds(), MAX_SECONDS));
        return Duration.ofSeconds(seconds, Math.max(0, given.getNanos()));
    }
}
