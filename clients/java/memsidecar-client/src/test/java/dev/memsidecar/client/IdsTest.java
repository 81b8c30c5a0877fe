package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.memsidecar.v1.AddBatchRequest;
import dev.memsidecar.v1.AddRequest;
import dev.memsidecar.v1.PutArtifactRequest;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class IdsTest {
    @Test
    void anIdIsAUuidOfVersionSevenWithItsTimeInFront() {
        long before = System.currentTimeMillis();
        UUID id = UUID.fromString(MemsidecarClient.newId());
        assertEquals(7, id.version());
        assertEquals(2, id.variant());
        long time = id.getMostSignificantBits() >>> 16;
        assertTrue(time >= before && time <= System.currentTimeMillis());
    }

    @Test
    void idsSortByWhenTheyWereMade() {
        List<String> made =
                Stream.generate(MemsidecarClient::newId).limit(20_000).toList();
        assertEquals(made.stream().sorted().distinct().toList(), made);
    }

    @Test
    void threadsShareTheOrder() {
        Set<String> made = ConcurrentHashMap.newKeySet();
        IntStream.range(0, 8).parallel().forEach(thread -> {
            String last = "";
            for (int number = 0; number < 5_000; number++) {
                String id = MemsidecarClient.newId();
                assertTrue(last.compareTo(id) < 0 && made.add(id));
                last = id;
            }
        });
    }

    @Test
    void idsThatAreGivenStay() {
        AddRequest given = AddRequest.newBuilder()
                .setMessage(Messages.user("hi").toBuilder().setId("mine"))
                .build();
        assertSame(given, Ids.identified(given));

        AddBatchRequest mixed = AddBatchRequest.newBuilder()
                .addMessages(given.getMessage())
                .addMessages(Messages.user("there"))
                .build();
        AddBatchRequest identified = Ids.identified(mixed);
        assertEquals("mine", identified.getMessages(0).getId());
        assertEquals(36, identified.getMessages(1).getId().length());

        PutArtifactRequest offload =
                PutArtifactRequest.newBuilder().setOffloadMessageId("m").build();
        assertSame(offload, Ids.identified(offload));
    }
}
