package dev.memsidecar.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * Items that come one after the other: those of all pages of a call, or the answers of a stream. Nothing is sent before
 * a subscriber requests items, and cancelling a subscription ends the call. Every subscription is a call of its own.
 *
 * @param <T> what comes
 */
public final class AsyncItems<T> implements Flow.Publisher<T> {
    private final Consumer<Flow.Subscriber<? super T>> begin;

    AsyncItems(Consumer<Flow.Subscriber<? super T>> begin) {
        this.begin = begin;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super T> subscriber) {
        begin.accept(Objects.requireNonNull(subscriber));
    }

    /**
     * Subscribes, and hands every item over as it comes, one at a time.
     *
     * @param action what to do with an item; where it throws, the call is ended
     * @return done after the last item, or failed as the call failed. To cancel it ends the call
     */
    public CompletableFuture<Void> forEach(Consumer<? super T> action) {
        Each<T> each = new Each<>(Objects.requireNonNull(action));
        subscribe(each);
        return each.done;
    }

    /**
     * Subscribes, and gathers all items.
     *
     * @return all items, or failed as the call failed. To cancel it ends the call
     */
    public CompletableFuture<List<T>> toList() {
        List<T> items = new ArrayList<>();
        CompletableFuture<Void> gathering = forEach(items::add);
        CompletableFuture<List<T>> gathered = new CompletableFuture<>();
        gathering.whenComplete((nothing, error) -> {
            if (error == null) {
                gathered.complete(items);
            } else {
                gathered.completeExceptionally(error);
            }
        });
        gathered.whenComplete((all, error) -> gathering.cancel(true));
        return gathered;
    }

    private static final class Each<T> implements Flow.Subscriber<T> {
        private final Consumer<? super T> action;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private Flow.Subscription subscription;

        Each(Consumer<? super T> action) {
            this.action = action;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            done.whenComplete((nothing, error) -> given.cancel());
            given.request(1);
        }

        @Override
        public void onNext(T item) {
            try {
                action.accept(item);
                subscription.request(1);
            } catch (RuntimeException failed) {
                done.completeExceptionally(failed);
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
}
