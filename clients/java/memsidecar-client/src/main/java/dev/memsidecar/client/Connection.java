package dev.memsidecar.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.Deadline;
import io.grpc.ForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.net.UnixDomainSocketAddress;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The connection to one sidecar, shared by both variants of a client. Connects with the first call. */
final class Connection {
    private static final Metadata.Key<String> AUTHORIZATION =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final Address address;
    private final Exceptions exceptions;
    private final ManagedChannel managed;
    private final Channel channel;
    private final EventLoopGroup socketThreads;
    private final Set<CompletableFuture<Void>> pauses = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** A null token means none. */
    Connection(Address address, ChannelCredentials credentials, boolean tls, Token token) {
        this.address = address;
        this.exceptions = new Exceptions(address.text(), tls);
        this.socketThreads = address.isSocket() ? socketThreads() : null;
        NettyChannelBuilder builder = address.isSocket()
                ? socket(address, credentials, socketThreads)
                : NettyChannelBuilder.forTarget(address.target(), credentials);
        this.managed = configured(builder, address).build();
        this.channel = token == null ? managed : ClientInterceptors.intercept(managed, new Shown(token));
    }

    private static NettyChannelBuilder configured(NettyChannelBuilder builder, Address address) {
        builder.userAgent("memsidecar-client-java/" + Version.CURRENT)
                // Keepalive detects a dead connection during a long call. Only during calls: servers close connections
                // that ping without calls, and the next call detects a dead idle connection.
                .keepAliveTime(30, TimeUnit.SECONDS)
                .keepAliveTimeout(10, TimeUnit.SECONDS)
                .keepAliveWithoutCalls(false)
                // gRPC's own retries are off: the client's policy reads RetryInfo.
                .disableRetry()
                .disableServiceConfigLookUp();
        // Loopback addresses and unix sockets use no proxy.
        return address.staysHere() ? builder.proxyDetector(target -> null) : builder;
    }

    /** Uses Java's own sockets, not Netty's native ones: they are available on every system. */
    private static NettyChannelBuilder socket(Address address, ChannelCredentials credentials, EventLoopGroup threads) {
        return NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(address.path()), credentials)
                .overrideAuthority("localhost")
                // gRPC sets this option for every connection, and this kind does not support it.
                .withOption(ChannelOption.SO_KEEPALIVE, null)
                .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
                .eventLoopGroup(threads);
    }

    /** Uses only API of Netty 4.1, because the application may have an older gRPC that contains it. */
    @SuppressWarnings("deprecation")
    private static EventLoopGroup socketThreads() {
        return new NioEventLoopGroup(1, new DefaultThreadFactory("memsidecar-client", true));
    }

    String address() {
        return address.text();
    }

    /** Returns the channel of the next attempt. Throws if the client is closed. */
    Channel channel() {
        if (closed) {
            throw new ClosedException(null);
        }
        // gRPC fails calls during its reconnect backoff of up to two minutes; a sidecar restarts
        // within a second. From idle, a call connects at once and waits for the result.
        if (managed.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
            managed.enterIdle();
        }
        return channel;
    }

    /** A null {@code deadline} means none. */
    static CallOptions options(Deadline deadline) {
        return deadline == null ? CallOptions.DEFAULT : CallOptions.DEFAULT.withDeadline(deadline);
    }

    MemsidecarException failure(Status status, Metadata trailers) {
        MemsidecarException found = exceptions.of(status, trailers);
        return closed ? new ClosedException(found.getCause()) : found;
    }

    /** Completes after the delay, or when the client is closed. */
    CompletableFuture<Void> pause(long nanos) {
        CompletableFuture<Void> pause = new CompletableFuture<>();
        pauses.add(pause);
        pause.completeOnTimeout(null, closed ? 0 : nanos, TimeUnit.NANOSECONDS)
                .whenComplete((nothing, error) -> pauses.remove(pause));
        return pause;
    }

    /** Closing again has no effect. */
    void close() {
        closed = true;
        managed.shutdownNow();
        pauses.forEach(pause -> pause.complete(null));
        if (socketThreads != null) {
            socketThreads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    /** Adds the current token to each call. */
    private record Shown(Token token) implements ClientInterceptor {
        @Override
        public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
                @Override
                public void start(Listener<A> listener, Metadata headers) {
                    headers.put(AUTHORIZATION, "Bearer " + token.read());
                    super.start(listener, headers);
                }
            };
        }
    }
}
