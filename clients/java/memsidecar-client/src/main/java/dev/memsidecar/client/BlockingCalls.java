package dev.memsidecar.client;

import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** How calls are made by a thread that waits for them. */
record BlockingCalls(Connection connection, int attempts) {

    /** Throws IllegalArgumentException where a text of the request is no Unicode; nothing is sent then. */
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

    /** One attempt; gRPC's exceptions end here. */
    private <Q, A> A send(MethodDescriptor<Q, A> method, Q request, Deadline deadline) {
        try {
            return ClientCalls.blockingUnaryCall(connection.channel(), method, Connection.options(deadline), request);
        } catch (StatusRuntimeException error) {
            throw connection.failure(error.getStatus(), error.getTrailers());
        }
    }

    /** What the other face of the client has begun. An interrupt cancels it. */
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
