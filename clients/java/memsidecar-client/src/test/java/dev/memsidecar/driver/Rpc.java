package dev.memsidecar.driver;

import dev.memsidecar.v1.KnowledgeServiceGrpc;
import dev.memsidecar.v1.MemoryServiceGrpc;
import dev.memsidecar.v1.SessionServiceGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.io.ByteArrayInputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An RPC of the contract, and the client's public methods for it. */
record Rpc(MethodDescriptor<?, ?> descriptor) {
    private static final Map<String, String> PAGES = Map.of(
            "GetAll", "messages",
            "Search", "hits",
            "ListSessions", "sessions",
            "ListUsers", "users",
            "ListFacts", "facts",
            "ListArtifacts", "artifacts",
            "ListDocuments", "documents");

    static final Map<String, Rpc> BY_NAME = Stream.of(
                    MemoryServiceGrpc.getServiceDescriptor(),
                    SessionServiceGrpc.getServiceDescriptor(),
                    KnowledgeServiceGrpc.getServiceDescriptor())
            .map(ServiceDescriptor::getMethods)
            .flatMap(Collection::stream)
            .map(Rpc::new)
            .collect(Collectors.toMap(Rpc::name, rpc -> rpc));

    String name() {
        return descriptor.getBareMethodName();
    }

    boolean sendsMany() {
        return !descriptor.getType().clientSendsOneMessage();
    }

    Object parse(byte[] request) {
        return descriptor.parseRequest(new ByteArrayInputStream(request));
    }

    /** {@code import} is a word of the language. */
    String method() {
        String name = name();
        return name.equals("Import") ? "importRecords" : name.substring(0, 1).toLowerCase() + name.substring(1);
    }

    String pages() {
        return PAGES.get(name());
    }

    /** Calls the public method of a client that has this name and takes this. */
    static Object invoke(Object client, String name, Object argument) {
        Method method = Arrays.stream(client.getClass().getMethods())
                .filter(candidate -> candidate.getName().equals(name) && candidate.getParameterCount() == 1)
                .filter(candidate -> candidate.getParameterTypes()[0].isInstance(argument))
                .findFirst()
                .orElseThrow();
        try {
            return method.invoke(client, argument);
        } catch (InvocationTargetException thrown) {
            throw (RuntimeException) thrown.getCause();
        } catch (IllegalAccessException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
