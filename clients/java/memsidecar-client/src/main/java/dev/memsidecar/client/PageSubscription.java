package dev.memsidecar.client;

import io.grpc.SynchronizationContext;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Function;

/** All items of a paged call, for one subscriber. A page is requested when the previous one is used up. */
final class PageSubscription<Q, A, T> implements Flow.Subscription {
    /** Serializes all changes of the fields below. */
    private final SynchronizationContext turns = new SynchronizationContext((thread, error) -> fail(error));

    private final Paging<Q, A, T> paging;
    private final Function<Q, CompletableFuture<A>> call;
    private final Flow.Subscriber<? super T> subscriber;
    private final Deque<T> items = new ArrayDeque<>();
    private Q next;
    private CompletableFuture<A> underWay;
    private long wanted;
    private boolean ended;

    PageSubscription(
            Paging<Q, A, T> paging,
            Q request,
            Function<Q, CompletableFuture<A>> call,
            Flow.Subscriber<? super T> subscriber) {
        this.paging = paging;
        this.call = call;
        this.subscriber = subscriber;
        this.next = paging.at().apply(request, "");
    }

    @Override
    public void request(long more) {
        turns.execute(() -> {
            if (more <= 0) {
                fail(new IllegalArgumentException("at least one item must be asked for"));
            }
            wanted = Demand.plus(wanted, more);
            hand();
        });
    }

    @Override
    public void cancel() {
        turns.execute(this::end);
    }

    private void hand() {
        while (!ended && wanted > 0 && !items.isEmpty()) {
            wanted--;
            subscriber.onNext(items.poll());
        }
        if (ended || !items.isEmpty() || underWay != null) {
            return;
        }
        if (next == null) {
            end();
            subscriber.onComplete();
        } else if (wanted > 0) {
            turn();
        }
    }

    private void turn() {
        underWay = call.apply(next);
        underWay.whenComplete((answer, error) -> turns.execute(() -> {
            underWay = null;
            if (error == null) {
                open(answer);
            } else {
                fail(error);
            }
        }));
    }

    private void open(A answer) {
        String token = paging.next().apply(answer);
        next = token.isEmpty() ? null : paging.at().apply(next, token);
        items.addAll(paging.items().apply(answer));
        hand();
    }

    private void fail(Throwable error) {
        if (!ended) {
            end();
            subscriber.onError(error);
        }
    }

    private void end() {
        ended = true;
        items.clear();
        if (underWay != null) {
            underWay.cancel(true);
        }
    }
}
