package dev.memsidecar.client;

import dev.memsidecar.v1.AddBatchRequest;
import dev.memsidecar.v1.AddRequest;
import dev.memsidecar.v1.AddStreamRequest;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.PutArtifactRequest;
import dev.memsidecar.v1.StoreInteractionRequest;
import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** Ids that the client generates, so that a retried write is stored once. */
final class Ids {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final long VERSION_7 = 0x7000L;
    private static final long VARIANT = 0x8000_0000_0000_0000L;

    private static final int COUNT_BITS = 12;
    private static final long COUNT = (1 << COUNT_BITS) - 1;

    /** Milliseconds followed by a counter; strictly increasing. */
    private static final AtomicLong CLOCK = new AtomicLong();

    private Ids() {}

    /**
     * A UUIDv7: the time in milliseconds, a count, then chance, so that a process's ids sort by when they were made.
     */
    static String newId() {
        long now = System.currentTimeMillis() << COUNT_BITS;
        long time = CLOCK.updateAndGet(last -> Math.max(last + 1, now));
        long high = time >>> COUNT_BITS << 16 | VERSION_7 | time & COUNT;
        return new UUID(high, VARIANT | RANDOM.nextLong() >>> 2).toString();
    }

    static AddRequest identified(AddRequest request) {
        return lacksId(request.getMessage())
                ? request.toBuilder()
                        .setMessage(identified(request.getMessage()))
                        .build()
                : request;
    }

    static AddStreamRequest identified(AddStreamRequest request) {
        return lacksId(request.getMessage())
                ? request.toBuilder()
                        .setMessage(identified(request.getMessage()))
                        .build()
                : request;
    }

    static AddBatchRequest identified(AddBatchRequest request) {
        if (request.getMessagesList().stream().noneMatch(Ids::lacksId)) {
            return request;
        }
        AddBatchRequest.Builder changed = request.toBuilder().clearMessages();
        request.getMessagesList().forEach(message -> changed.addMessages(identified(message)));
        return changed.build();
    }

    static StoreInteractionRequest identified(StoreInteractionRequest request) {
        return request.getInteractionId().isEmpty()
                ? request.toBuilder().setInteractionId(newId()).build()
                : request;
    }

    /** The artifact of an offloaded message has an id of its own, always the same. */
    static PutArtifactRequest identified(PutArtifactRequest request) {
        boolean lacksId = request.getArtifact().getId().isEmpty()
                && request.getOffloadMessageId().isEmpty();
        if (!lacksId) {
            return request;
        }
        PutArtifactRequest.Builder changed = request.toBuilder();
        changed.getArtifactBuilder().setId(newId());
        return changed.build();
    }

    private static boolean lacksId(Message message) {
        return message.getId().isEmpty();
    }

    private static Message identified(Message message) {
        return lacksId(message) ? message.toBuilder().setId(newId()).build() : message;
    }
}
