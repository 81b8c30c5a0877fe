package dev.memsidecar.client;

import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Blocking calls. */
record BlockingCalls(Connection connection, int attempts) {

    /** Throws IllegalArgumentException if a text of the request is not valid Unicode; nothing is sent then. */
    <Q, A> A call(MethodDescriptor<Q, A> method, Q request, Duration timeout) {
        Texts.checked(request);
        Attempts attempting = new Attempts(attempts, timeout, method);
        while (true) {
            try {
                return send(method, request, attempting.begin());
            } catch (MemsidecarException error) {
                // An interrupted caller has cancelled the call, whatever its result.
                if (Thread.currentThread().isInterrupted()) {
                    throw error;
                }
                await(connection.pause(attempting.waitAfter(error)));
            }
        }
    }

    /** Makes one attempt and converts gRPC's exceptions. */
    private <Q, A> A send(MethodDescriptor<Q, A> method, Q request, Deadline deadline) {
        try {
            return ClientCalls.blockingUnaryCall(connection.channel(), method, Connection.options(deadline), request);
        } catch (StatusRuntimeException error) {
            throw connection.failure(error.getStatus(), error.getTrailers());
        }
    }

    /** Waits for a call of the asynchronous client. An interrupt cancels it. */
    static <A> A await(CompletableFuture<A> begun) {
        try {
            return begun.get();
        } catch (InterruptedException interrupted) {
            begun.cancel(true);
            Thread.currentThread().interrupt();
            throw new CancelledException("the thread was interrupted", interrupted);
        } catch (ExecutionException failed) {
            throw unchecked(failed.getCause());
        }
    }

    static RuntimeException unchecked(Throwable error) {
        if (error instanceof Error fatal) {
            throw fatal;
        }
        return error instanceof RuntimeException found ? found : new IllegalStateException(error);
    }
}
