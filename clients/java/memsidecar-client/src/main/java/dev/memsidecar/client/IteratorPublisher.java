package dev.memsidecar.client;

import java.util.Iterator;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Publishes the items of an iterator to one subscriber. The iterator may block, also on a response to an earlier item,
 * so it is called on its own thread.
 */
final class IteratorPublisher<T> implements Flow.Publisher<T> {
    private static final Executor THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "memsidecar-client-requests");
        thread.setDaemon(true);
        return thread;
    });

    private final Iterable<? extends T> items;

    IteratorPublisher(Iterable<? extends T> items) {
        this.items = items;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super T> subscriber) {
        subscriber.onSubscribe(new Taking<>(items.iterator(), subscriber));
    }

    private static final class Taking<T> implements Flow.Subscription {
        private final Iterator<? extends T> items;
        private final Flow.Subscriber<? super T> subscriber;
        private final AtomicLong wanted = new AtomicLong();
        private volatile boolean ended;

        Taking(Iterator<? extends T> items, Flow.Subscriber<? super T> subscriber) {
            this.items = items;
            this.subscriber = subscriber;
        }

        @Override
        public void request(long more) {
            if (wanted.getAndAccumulate(more, Demand::plus) == 0) {
                THREADS.execute(this::take);
            }
        }

        @Override
        public void cancel() {
            ended = true;
        }

        private void take() {
            try {
                do {
                    one();
                } while (!ended && wanted.decrementAndGet() > 0);
            } catch (RuntimeException | Error failed) {
                ended = true;
                subscriber.onError(failed);
            }
        }

        private void one() {
            if (ended) {
                return;
            }
            if (items.hasNext()) {
                subscriber.onNext(items.next());
            } else {
                ended = true;
                subscriber.onComplete();
            }
        }
    }
}
