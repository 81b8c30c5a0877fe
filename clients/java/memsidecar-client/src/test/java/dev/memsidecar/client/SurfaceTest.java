package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.memsidecar.v1.ErrorReason;
import dev.memsidecar.v1.KnowledgeServiceGrpc;
import dev.memsidecar.v1.MemoryServiceGrpc;
import dev.memsidecar.v1.SessionServiceGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Arrays;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The surface follows the contract: a method for each RPC, an exception for each reason. */
class SurfaceTest {
    static Stream<String> rpcs() {
        return Stream.of(
                        MemoryServiceGrpc.getServiceDescriptor(),
                        SessionServiceGrpc.getServiceDescriptor(),
                        KnowledgeServiceGrpc.getServiceDescriptor())
                .flatMap(service -> service.getMethods().stream())
                .map(MethodDescriptor::getBareMethodName);
    }

    @ParameterizedTest
    @MethodSource("rpcs")
    void bothFacesHaveAMethodForAnRpc(String rpc) {
        // `import` is a word of the language.
        String name =
                rpc.equals("Import") ? "importRecords" : rpc.substring(0, 1).toLowerCase() + rpc.substring(1);
        assertTrue(methods(MemsidecarClient.class).contains(name), name);
        assertTrue(methods(AsyncMemsidecarClient.class).contains(name), name);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ERROR_REASON_UNSPECIFIED", "UNRECOGNIZED"})
    void aReasonHasAnExceptionOfItsName(ErrorReason given) {
        String reason = given.name().replaceFirst("ERROR_REASON_", "");
        String name = Pattern.compile("_?([A-Z])([A-Z]*)")
                        .matcher(reason)
                        .replaceAll(word -> word.group(1) + word.group(2).toLowerCase())
                + "Exception";
        MemsidecarException made =
                Exceptions.BY_REASON.get(reason).make(Status.Code.UNKNOWN, "", ErrorDetails.NONE, null);
        assertEquals(name, made.getClass().getSimpleName());
    }

    private static Set<String> methods(Class<?> face) {
        return Arrays.stream(face.getMethods()).map(method -> method.getName()).collect(Collectors.toSet());
    }
}
