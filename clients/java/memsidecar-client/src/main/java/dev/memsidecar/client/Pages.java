package dev.memsidecar.client;

import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * All items of a paged call. A page is requested when its first item is needed, so iterating may throw what the call
 * throws. Every iterator and every stream starts with the first page.
 *
 * @param <T> the type of an item
 */
public final class Pages<T> implements Iterable<T> {
    private final Supplier<Iterator<T>> iterators;

    private Pages(Supplier<Iterator<T>> iterators) {
        this.iterators = iterators;
    }

    static <Q, A, T> Pages<T> of(Paging<Q, A, T> paging, Q request, Function<Q, A> call) {
        return new Pages<>(() -> new PageIterator<>(paging, paging.at().apply(request, ""), call));
    }

    @Override
    public Iterator<T> iterator() {
        return iterators.get();
    }

    /**
     * The items as a lazy stream.
     *
     * @return sequential and ordered; it need not be closed
     */
    public Stream<T> stream() {
        return StreamSupport.stream(spliterator(), false);
    }

    private static final class PageIterator<Q, A, T> implements Iterator<T> {
        private final Paging<Q, A, T> paging;
        private final Function<Q, A> call;
        private Iterator<T> page = Collections.emptyIterator();
        private Q next;

        PageIterator(Paging<Q, A, T> paging, Q first, Function<Q, A> call) {
            this.paging = paging;
            this.call = call;
            this.next = first;
        }

        @Override
        public boolean hasNext() {
            while (!page.hasNext() && next != null) {
                turn();
            }
            return page.hasNext();
        }

        @Override
        public T next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            return page.next();
        }

        private void turn() {
            A answer = call.apply(next);
            String token = paging.next().apply(answer);
            next = token.isEmpty() ? null : paging.at().apply(next, token);
            page = paging.items().apply(answer).iterator();
        }
    }
}
