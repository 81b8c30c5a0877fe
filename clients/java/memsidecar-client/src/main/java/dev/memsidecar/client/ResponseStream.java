package dev.memsidecar.client;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The responses of a stream, as they arrive. Nothing is sent before the first is requested. They can be read once, by
 * one thread. A caller that stops before the end must close them, which ends the stream; the end closes them as well.
 *
 * <pre>{@code
 * try (ResponseStream<WatchResponse> events = memory.watch(request)) {
 *     for (WatchResponse event : events) {
 *         ...
 *     }
 * }
 * }</pre>
 *
 * @param <T> the type of a response
 */
public final class ResponseStream<T> implements Iterable<T>, Iterator<T>, AutoCloseable {
    /** Maximum number of buffered responses. */
    private static final int AHEAD = 64;

    /** A response, an error, or neither at the end. */
    private record Event<T>(T answer, Throwable error) {}

    private final BlockingQueue<Event<T>> events = new LinkedBlockingQueue<>();
    private Flow.Subscription subscription;
    private boolean begun;
    private Event<T> next;

    ResponseStream(Flow.Publisher<T> answers) {
        answers.subscribe(new ResponseListener());
    }

    /**
     * Returns this iterator at its current position.
     *
     * @return always the same
     */
    @Override
    public Iterator<T> iterator() {
        return this;
    }

    /**
     * The unread responses as a stream. Closing it closes this object.
     *
     * @return sequential and ordered
     */
    public Stream<T> stream() {
        return StreamSupport.stream(spliterator(), false).onClose(this::close);
    }

    /**
     * Waits for the next response, or for the end.
     *
     * @return whether there is one
     * @throws MemsidecarException if the stream failed; {@link CancelledException} if the thread was interrupted
     */
    @Override
    public boolean hasNext() {
        if (next == null) {
            next = take();
        }
        if (next.error != null) {
            throw BlockingCalls.unchecked(next.error);
        }
        return next.answer != null;
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        T answer = next.answer;
        next = null;
        subscription.request(1);
        return answer;
    }

    /** Ends the stream, if it has not ended. Unread responses are lost. Closing again has no effect. */
    @Override
    public void close() {
        subscription.cancel();
        next = new Event<>(null, null);
    }

    private Event<T> take() {
        if (!begun) {
            begun = true;
            subscription.request(AHEAD);
        }
        try {
            return events.take();
        } catch (InterruptedException interrupted) {
            close();
            Thread.currentThread().interrupt();
            return new Event<>(null, new CancelledException("the thread was interrupted", interrupted));
        }
    }

    private final class ResponseListener implements Flow.Subscriber<T> {
        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
        }

        @Override
        public void onNext(T answer) {
            events.add(new Event<>(answer, null));
        }

        @Override
        public void onError(Throwable error) {
            events.add(new Event<>(null, error));
        }

        @Override
        public void onComplete() {
            events.add(new Event<>(null, null));
        }
    }
}
