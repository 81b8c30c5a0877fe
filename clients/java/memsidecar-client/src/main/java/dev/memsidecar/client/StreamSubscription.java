package dev.memsidecar.client;

import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Flow;
import java.util.function.UnaryOperator;

/**
 * One stream, for one subscriber of its responses. An interrupted stream resumes as a new call, by its
 * {@link ResendPolicy}; it subscribes to the requests' publisher once.
 */
final class StreamSubscription<Q, A> implements Flow.Subscription {
    private static final Status CUT_SHORT =
            Status.UNAVAILABLE.withDescription("the stream ended before everything was answered");

    /** Serializes all changes of the fields below. */
    private final SynchronizationContext turns = new SynchronizationContext((thread, error) -> fail(error));

    private final Connection connection;
    private final MethodDescriptor<Q, A> method;
    private final ResendPolicy resending;
    private final Attempts attempts;
    private final Flow.Publisher<? extends Q> requests;
    private final UnaryOperator<Q> prepare;
    private final Flow.Subscriber<? super A> subscriber;

    private final Deque<Q> unanswered = new ArrayDeque<>();
    private final Deque<Q> unsent = new ArrayDeque<>();
    private Flow.Subscription source;
    private boolean awaited;
    private boolean allTaken;
    private ClientCall<Q, A> call;
    private boolean halfClosed;
    private boolean answered;
    private boolean begun;
    private boolean ended;
    private long wanted;

    StreamSubscription(
            Connection connection,
            MethodDescriptor<Q, A> method,
            ResendPolicy resending,
            Attempts attempts,
            Flow.Publisher<? extends Q> requests,
            UnaryOperator<Q> prepare,
            Flow.Subscriber<? super A> subscriber) {
        this.connection = connection;
        this.method = method;
        this.resending = resending;
        this.attempts = attempts;
        this.requests = requests;
        this.prepare = prepare;
        this.subscriber = subscriber;
    }

    @Override
    public void request(long more) {
        turns.execute(() -> {
            if (more <= 0) {
                fail(new IllegalArgumentException("at least one answer must be asked for"));
            }
            if (ended) {
                return;
            }
            wanted = Demand.plus(wanted, more);
            if (!begun) {
                begin();
            } else if (call != null) {
                call.request(asInt(more));
            }
        });
    }

    @Override
    public void cancel() {
        turns.execute(this::end);
    }

    private void begin() {
        begun = true;
        requests.subscribe(new Source());
        open();
    }

    private void open() {
        if (ended) {
            return;
        }
        unsent.clear();
        unsent.addAll(unanswered);
        halfClosed = false;
        try {
            attempts.caller().run(this::start);
        } catch (RuntimeException notSent) {
            fail(notSent);
        }
    }

    private void start() {
        call = connection.channel().newCall(method, Connection.options(attempts.begin()));
        call.start(new ResponseListener(call), new Metadata());
        call.request(asInt(wanted));
        push();
    }

    /** Sends pending requests as fast as the connection accepts them, then requests more. */
    private void push() {
        while (takesMore() && !unsent.isEmpty()) {
            call.sendMessage(unsent.poll());
        }
        if (ended || call == null || !unsent.isEmpty()) {
            return;
        }
        if (allTaken && !halfClosed) {
            halfClosed = true;
            call.halfClose();
        } else if (!allTaken && !awaited && source != null && takesMore()) {
            awaited = true;
            source.request(1);
        }
    }

    /** A call with one request is opened when the request is sent, so it is never ready before. */
    private boolean takesMore() {
        return call != null && (method.getType().clientSendsOneMessage() || call.isReady());
    }

    private void took(Q given) {
        awaited = false;
        Q request = prepare.apply(Texts.checked(given));
        if (resending != ResendPolicy.NEVER) {
            unanswered.add(request);
        }
        unsent.add(request);
        push();
    }

    private void came(A answer) {
        answered = true;
        if (resending == ResendPolicy.UNACKNOWLEDGED) {
            unanswered.poll();
            attempts.progressed();
        }
        wanted--;
        subscriber.onNext(answer);
    }

    private void closed(Status status, Metadata trailers) {
        call = null;
        if (status.isOk() && !isCutShort()) {
            end();
            subscriber.onComplete();
            return;
        }
        MemsidecarException error = connection.failure(status.isOk() ? CUT_SHORT : status, trailers);
        boolean over = resending == ResendPolicy.NEVER || (resending == ResendPolicy.UNTIL_FIRST_RESPONSE && answered);
        if (over) {
            fail(error);
        } else {
            again(error);
        }
    }

    /** Returns whether requests are unacknowledged although the sidecar ended the stream with OK. */
    private boolean isCutShort() {
        return resending == ResendPolicy.UNACKNOWLEDGED && !(allTaken && unanswered.isEmpty());
    }

    private void again(MemsidecarException error) {
        try {
            connection.pause(attempts.waitAfter(error)).thenRunAsync(() -> turns.execute(this::open));
        } catch (MemsidecarException last) {
            fail(last);
        }
    }

    private void fail(Throwable error) {
        if (!ended) {
            end();
            subscriber.onError(error);
        }
    }

    /** Stops: no request is sent or taken, and no response is delivered from now on. */
    private void end() {
        ended = true;
        if (source != null) {
            source.cancel();
        }
        if (call != null) {
            call.cancel("the reader has stopped", null);
            call = null;
        }
    }

    private static int asInt(long wanted) {
        return (int) Math.min(wanted, Integer.MAX_VALUE);
    }

    /** Receives the responses of one call; those of an earlier call are ignored. */
    private final class ResponseListener extends ClientCall.Listener<A> {
        private final ClientCall<Q, A> mine;

        ResponseListener(ClientCall<Q, A> mine) {
            this.mine = mine;
        }

        @Override
        public void onReady() {
            inTurn(StreamSubscription.this::push);
        }

        @Override
        public void onMessage(A answer) {
            inTurn(() -> came(answer));
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            inTurn(() -> closed(status, trailers));
        }

        private void inTurn(Runnable what) {
            turns.execute(() -> {
                if (call == mine) {
                    what.run();
                }
            });
        }
    }

    /** The caller's requests. */
    private final class Source implements Flow.Subscriber<Q> {
        @Override
        public void onSubscribe(Flow.Subscription given) {
            turns.execute(() -> {
                source = given;
                if (ended) {
                    given.cancel();
                }
                push();
            });
        }

        @Override
        public void onNext(Q request) {
            turns.execute(() -> took(request));
        }

        @Override
        public void onError(Throwable error) {
            turns.execute(() -> fail(error));
        }

        @Override
        public void onComplete() {
            turns.execute(() -> {
                allTaken = true;
                push();
            });
        }
    }
}
