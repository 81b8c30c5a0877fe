package dev.memsidecar.driver;

import com.google.gson.JsonArray;
import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.client.Pages;
import dev.memsidecar.client.ResponseStream;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** The blocking client. */
record BlockingVariant(MemsidecarClient client) implements Driver.Variant {
    @Override
    public void waitUntilReady(Duration atMost) {
        client.waitUntilReady(atMost);
    }

    @Override
    public void call(Command command, CommandResult result) {
        Duration cancelAfter = command.seconds("cancel_after_seconds");
        if (cancelAfter != null) {
            Thread calling = Thread.currentThread();
            CompletableFuture.delayedExecutor(cancelAfter.toNanos(), TimeUnit.NANOSECONDS)
                    .execute(calling::interrupt);
        }
        result.answer(Rpc.invoke(timed(command), command.rpc().method(), command.request()));
    }

    @Override
    public void iterate(Command command, CommandResult result) {
        Object pages = Rpc.invoke(timed(command), command.rpc().pages(), command.request());
        collect(((Pages<?>) pages).iterator(), result.list("items"), command.stopAfter());
    }

    @Override
    public void stream(Command command, CommandResult result) {
        Object argument =
                command.rpc().sendsMany() ? paced(command) : command.requests().get(0);
        JsonArray list = result.list("answers");
        try (ResponseStream<?> answers =
                (ResponseStream<?>) Rpc.invoke(timed(command), command.rpc().method(), argument)) {
            collect(answers, list, command.stopAfter());
        }
    }

    @Override
    public void close() {
        client.close();
    }

    private MemsidecarClient timed(Command command) {
        Duration deadline = command.seconds("deadline_seconds");
        return deadline == null ? client : client.withDeadline(deadline);
    }

    private static void collect(Iterator<?> items, JsonArray list, int limit) {
        while (list.size() < limit && items.hasNext()) {
            list.add(CommandResult.packed(items.next()));
        }
    }

    static Iterable<Object> paced(Command command) {
        List<Object> requests = command.requests();
        Duration pause = command.seconds("pause_seconds");
        return () -> IntStream.range(0, requests.size())
                .mapToObj(number -> {
                    if (number > 0 && pause != null) {
                        sleep(pause);
                    }
                    return requests.get(number);
                })
                .iterator();
    }

    private static void sleep(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }
}
