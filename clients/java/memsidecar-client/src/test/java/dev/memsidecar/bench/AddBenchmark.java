package dev.memsidecar.bench;

import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.client.Messages;
import dev.memsidecar.v1.AddRequest;
import dev.memsidecar.v1.MemoryServiceGrpc;
import dev.memsidecar.v1.Message;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Compares an Add through the client with one through the bare stub: {@code AddBenchmark host:port}. */
public final class AddBenchmark {
    private static final int CALLS = 2_000;
    private static final int WARM_UP = 200;
    private static final int BLOCK = 50;
    private static final Message SAID = Messages.user("word ".repeat(80));

    private AddBenchmark() {}

    public static void main(String[] arguments) {
        ManagedChannel channel = channel(arguments[0]);
        try (MemsidecarClient client =
                MemsidecarClient.builder().address(arguments[0]).build()) {
            String session = MemsidecarClient.newId();
            MemoryServiceGrpc.MemoryServiceBlockingStub stub = MemoryServiceGrpc.newBlockingStub(channel);
            AddRequest bare = AddRequest.newBuilder()
                    .setSessionId(session + "/client")
                    .setMessage(SAID)
                    .build();
            AddRequest[] identified = identified(session + "/stub");
            measure(
                    number -> client.add(bare),
                    number -> stub.withDeadlineAfter(10, TimeUnit.SECONDS).add(identified[number]));
        } finally {
            channel.shutdownNow();
        }
    }

    /** Alternates in blocks, so that other load affects both alike. */
    private static void measure(IntConsumer client, IntConsumer stub) {
        timed(client, 0, WARM_UP);
        timed(stub, 0, WARM_UP);
        long[][] taken = new long[2][0];
        for (int done = 0; done < CALLS; done += BLOCK) {
            taken[0] = joined(taken[0], timed(client, WARM_UP + done, BLOCK));
            taken[1] = joined(taken[1], timed(stub, WARM_UP + done, BLOCK));
        }
        double clientMicros = medianMicros(taken[0]);
        double stubMicros = medianMicros(taken[1]);
        System.out.printf(
                Locale.ROOT,
                "{\"language\": \"java\", \"calls\": %d, \"client_us\": %.1f, \"stub_us\": %.1f, \"ratio\": %.3f}%n",
                CALLS,
                clientMicros,
                stubMicros,
                clientMicros / stubMicros);
    }

    private static long[] timed(IntConsumer call, int first, int count) {
        return IntStream.range(first, first + count)
                .mapToLong(number -> {
                    long begun = System.nanoTime();
                    call.accept(number);
                    return System.nanoTime() - begun;
                })
                .toArray();
    }

    private static long[] joined(long[] some, long[] more) {
        return LongStream.concat(LongStream.of(some), LongStream.of(more)).toArray();
    }

    private static double medianMicros(long[] nanos) {
        return LongStream.of(nanos).sorted().toArray()[nanos.length / 2] / 1e3;
    }

    private static AddRequest[] identified(String session) {
        return IntStream.range(0, WARM_UP + CALLS)
                .mapToObj(number -> AddRequest.newBuilder()
                        .setSessionId(session)
                        .setMessage(SAID.toBuilder().setId(MemsidecarClient.newId()))
                        .build())
                .toArray(AddRequest[]::new);
    }

    /** Opens a channel like that of the client. */
    private static ManagedChannel channel(String address) {
        return NettyChannelBuilder.forTarget(address, InsecureChannelCredentials.create())
                .userAgent("memsidecar-client-java/benchmark")
                .keepAliveTime(30, TimeUnit.SECONDS)
                .keepAliveTimeout(10, TimeUnit.SECONDS)
                .disableRetry()
                .disableServiceConfigLookUp()
                .proxyDetector(target -> null)
                .build();
    }
}
