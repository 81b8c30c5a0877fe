package dev.memsidecar.client;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.UnaryOperator;

/** Asynchronous calls. */
record AsyncCalls(Connection connection, int attempts) {

    /**
     * Cancelling the returned future cancels the call and its retries. It fails with IllegalArgumentException if a text
     * of the request is not valid Unicode; nothing is sent then.
     */
    <Q, A> CompletableFuture<A> call(MethodDescriptor<Q, A> method, Q request, Duration timeout) {
        try {
            Texts.checked(request);
        } catch (IllegalArgumentException broken) {
            return CompletableFuture.failedFuture(broken);
        }
        return new Call<>(connection, method, request, new Attempts(attempts, timeout, method)).begin();
    }

    <Q, A, T> AsyncItems<T> pages(Paging<Q, A, T> paging, Q request, Duration timeout) {
        return new AsyncItems<>(subscriber -> subscriber.onSubscribe(
                new PageSubscription<>(paging, request, page -> call(paging.method(), page, timeout), subscriber)));
    }

    /** Has no deadline if {@code timeout} is null. */
    <Q, A> AsyncItems<A> stream(
            MethodDescriptor<Q, A> method,
            ResendPolicy resending,
            Flow.Publisher<? extends Q> requests,
            UnaryOperator<Q> prepare,
            Duration timeout) {
        Objects.requireNonNull(requests);
        return new AsyncItems<>(subscriber -> subscriber.onSubscribe(new StreamSubscription<>(
                connection,
                method,
                resending,
                new Attempts(attempts, timeout, method),
                requests,
                prepare,
                subscriber)));
    }

    /** Completes when the health service reports SERVING. */
    CompletableFuture<Void> waitUntilReady(Duration timeout) {
        return new Readiness(this, timeout).begin();
    }

    /** One call with its attempts. */
    private static final class Call<Q, A> {
        private final Connection connection;
        private final MethodDescriptor<Q, A> method;
        private final Q request;
        private final Attempts attempts;
        private final CompletableFuture<A> result = new CompletableFuture<>();
        private volatile ClientCall<Q, A> underWay;

        Call(Connection connection, MethodDescriptor<Q, A> method, Q request, Attempts attempts) {
            this.connection = connection;
            this.method = method;
            this.request = request;
            this.attempts = attempts;
        }

        CompletableFuture<A> begin() {
            result.whenComplete((answer, error) -> giveUpIfCancelled());
            send();
            return result;
        }

        private void send() {
            if (result.isDone()) {
                return;
            }
            try {
                attempts.caller().run(this::attempt);
            } catch (RuntimeException notSent) {
                result.completeExceptionally(notSent);
            }
        }

        private void attempt() {
            ClientCall<Q, A> call = connection.channel().newCall(method, Connection.options(attempts.begin()));
            underWay = call;
            call.start(new Answer(), new Metadata());
            call.request(2);
            call.sendMessage(request);
            call.halfClose();
            giveUpIfCancelled();
        }

        private void giveUpIfCancelled() {
            ClientCall<Q, A> call = underWay;
            if (call != null && result.isCancelled()) {
                call.cancel("the caller cancelled", null);
            }
        }

        private void again(MemsidecarException error) {
            if (result.isDone()) {
                return;
            }
            try {
                connection.pause(attempts.waitAfter(error)).thenRunAsync(this::send);
            } catch (MemsidecarException last) {
                result.completeExceptionally(last);
            }
        }

        private final class Answer extends ClientCall.Listener<A> {
            private A answer;

            @Override
            public void onMessage(A message) {
                answer = message;
            }

            @Override
            public void onClose(Status status, Metadata trailers) {
                if (!status.isOk()) {
                    again(connection.failure(status, trailers));
                } else if (answer == null) {
                    again(connection.failure(Status.INTERNAL.withDescription("an answer without a message"), trailers));
                } else {
                    result.complete(answer);
                }
            }
        }
    }
}
