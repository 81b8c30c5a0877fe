package dev.memsidecar.chatmemory;

import io.grpc.CallOptions;
import io.grpc.HandlerRegistry;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;

/** Forwards calls to a sidecar and loses the responses of one RPC, after the sidecar has processed the request. */
final class LossyRelay extends HandlerRegistry implements AutoCloseable {
    private final ManagedChannel sidecar;
    private final Server server;
    private volatile String lost = "";

    LossyRelay(String address) throws IOException {
        sidecar = NettyChannelBuilder.forTarget(address, InsecureChannelCredentials.create())
                .build();
        server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .fallbackHandlerRegistry(this)
                .build()
                .start();
    }

    String address() {
        return "127.0.0.1:" + server.getPort();
    }

    /** Sets the RPC whose responses are lost from now on; empty: none. */
    void lose(String rpc) {
        lost = rpc;
    }

    @Override
    public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
        MethodDescriptor<byte[], byte[]> method = MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(name)
                .build();
        return ServerMethodDefinition.create(
                method, ServerCalls.asyncUnaryCall((request, answers) -> hand(method, request, answers)));
    }

    private void hand(MethodDescriptor<byte[], byte[]> method, byte[] request, StreamObserver<byte[]> answers) {
        try {
            byte[] answer = ClientCalls.blockingUnaryCall(sidecar, method, CallOptions.DEFAULT, request);
            if (lost.equals(method.getBareMethodName())) {
                answers.onError(Status.UNAVAILABLE.asRuntimeException());
                return;
            }
            answers.onNext(answer);
            answers.onCompleted();
        } catch (StatusRuntimeException refused) {
            answers.onError(refused);
        }
    }

    @Override
    public void close() {
        server.shutdownNow();
        sidecar.shutdownNow();
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException broken) {
                throw new UncheckedIOException(broken);
            }
        }
    }
}
