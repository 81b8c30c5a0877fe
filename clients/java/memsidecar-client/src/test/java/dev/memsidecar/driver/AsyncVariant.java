package dev.memsidecar.driver;

import com.google.gson.JsonArray;
import dev.memsidecar.client.AsyncItems;
import dev.memsidecar.client.AsyncMemsidecarClient;
import dev.memsidecar.client.MemsidecarException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;

/** The asynchronous client. */
record AsyncVariant(AsyncMemsidecarClient client) implements Driver.Variant {
    @Override
    public void waitUntilReady(Duration atMost) {
        join(client.waitUntilReady(atMost));
    }

    @Override
    public void call(Command command, CommandResult result) {
        CompletableFuture<?> calling =
                (CompletableFuture<?>) Rpc.invoke(timed(command), command.rpc().method(), command.request());
        Duration cancelAfter = command.seconds("cancel_after_seconds");
        if (cancelAfter != null) {
            CompletableFuture.delayedExecutor(cancelAfter.toNanos(), TimeUnit.NANOSECONDS)
                    .execute(() -> calling.cancel(true));
        }
        try {
            result.answer(join(calling));
        } catch (CancellationException cancelled) {
            result.cancelled();
        }
    }

    @Override
    public void iterate(Command command, CommandResult result) {
        Object items = Rpc.invoke(timed(command), command.rpc().pages(), command.request());
        collect((AsyncItems<?>) items, result.list("items"), command.stopAfter());
    }

    @Override
    public void stream(Command command, CommandResult result) {
        Object argument = command.rpc().sendsMany()
                ? new PacedPublisher(command.requests(), command.seconds("pause_seconds"))
                : command.requests().get(0);
        Object answers = Rpc.invoke(timed(command), command.rpc().method(), argument);
        collect((AsyncItems<?>) answers, result.list("answers"), command.stopAfter());
    }

    @Override
    public void close() {
        client.close();
    }

    private AsyncMemsidecarClient timed(Command command) {
        Duration deadline = command.seconds("deadline_seconds");
        return deadline == null ? client : client.withDeadline(deadline);
    }

    private static <T> T join(CompletableFuture<T> begun) {
        try {
            return begun.join();
        } catch (CompletionException failed) {
            throw (MemsidecarException) failed.getCause();
        }
    }

    private static void collect(AsyncItems<?> items, JsonArray list, int limit) {
        CollectingSubscriber collecting = new CollectingSubscriber(list, limit);
        items.subscribe(collecting);
        join(collecting.done);
    }

    /** Takes this many items, then cancels. */
    private static final class CollectingSubscriber implements Flow.Subscriber<Object> {
        private final JsonArray list;
        private final int limit;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private Flow.Subscription subscription;

        CollectingSubscriber(JsonArray list, int limit) {
            this.list = list;
            this.limit = limit;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            given.request(1);
        }

        @Override
        public void onNext(Object item) {
            list.add(CommandResult.packed(item));
            if (list.size() < limit) {
                subscription.request(1);
            } else {
                subscription.cancel();
                done.complete(null);
            }
        }

        @Override
        public void onError(Throwable error) {
            done.completeExceptionally(error);
        }

        @Override
        public void onComplete() {
            done.complete(null);
        }
    }

    /** Requests with pauses between them, for one subscriber. */
    private record PacedPublisher(List<Object> requests, Duration pause) implements Flow.Publisher<Object> {
        @Override
        public void subscribe(Flow.Subscriber<? super Object> subscriber) {
            Iterator<Object> left = requests.iterator();
            long pauseNanos = pause == null ? 0 : pause.toNanos();
            subscriber.onSubscribe(new Flow.Subscription() {
                private volatile boolean first = true;
                private volatile boolean cancelled;

                /** The client asks for one at a time. */
                @Override
                public void request(long one) {
                    long wait = first || !left.hasNext() ? 0 : pauseNanos;
                    first = false;
                    CompletableFuture.delayedExecutor(wait, TimeUnit.NANOSECONDS)
                            .execute(this::give);
                }

                private void give() {
                    if (cancelled) {
                        return;
                    }
                    if (left.hasNext()) {
                        subscriber.onNext(left.next());
                    } else {
                        subscriber.onComplete();
                    }
                }

                @Override
                public void cancel() {
                    cancelled = true;
                }
            });
        }
    }
}
