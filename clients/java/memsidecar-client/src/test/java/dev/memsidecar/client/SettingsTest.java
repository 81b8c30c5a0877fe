package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
    private static final Settings NOTHING = new Settings(null, null, null, null, null, null, null, false);
    private static final Map<String, String> ENVIRONMENT = Map.of(
            "MEMSIDECAR_ADDRESS", "there:1",
            "MEMSIDECAR_TOKEN", "secret",
            "MEMSIDECAR_TLS", "True",
            "MEMSIDECAR_CA_FILE", "/ca",
            "MEMSIDECAR_CLIENT_CERTIFICATE_FILE", "/certificate",
            "MEMSIDECAR_CLIENT_KEY_FILE", "/key");

    @Test
    void whatIsNotGivenComesFromTheEnvironment() {
        Settings found = NOTHING.completedBy(ENVIRONMENT);
        assertEquals(
                new Settings(
                        "there:1",
                        "secret",
                        null,
                        true,
                        Path.of("/ca"),
                        Path.of("/certificate"),
                        Path.of("/key"),
                        false),
                found);
        assertEquals(Address.DEFAULT, NOTHING.completedBy(Map.of()).address());
    }

    @Test
    void whatIsGivenTakesAllOfItsKindFromTheEnvironment() {
        Path file = Path.of("/token");
        Settings found = new Settings("here:2", null, file, false, null, null, null, false).completedBy(ENVIRONMENT);
        assertEquals(new Settings("here:2", null, file, false, null, null, null, false), found);
    }

    @Test
    void whatDoesNotGoTogetherIsRefused() {
        Path file = Path.of("/file");
        refused("not both", new Settings("localhost:1", "secret", file, null, null, null, null, false));
        refused("tls is false", new Settings("localhost:1", null, null, false, file, null, null, false));
        refused("belong together", new Settings("localhost:1", null, null, null, null, file, null, false));
        refused("in the clear", new Settings("far:1", "secret", null, null, null, null, null, false));
    }

    @Test
    void tlsInTheEnvironmentIsTrueOrFalse() {
        assertEquals(true, tls(" TRUE "));
        assertEquals(false, tls("False"));
        assertNull(tls(" "));
        assertThrows(IllegalArgumentException.class, () -> tls("1"));
        refused("tls is false", NOTHING.completedBy(Map.of("MEMSIDECAR_TLS", "false", "MEMSIDECAR_CA_FILE", "/ca")));
    }

    private static Boolean tls(String said) {
        return NOTHING.completedBy(Map.of("MEMSIDECAR_TLS", said)).tls();
    }

    @Test
    void filesWithoutCertificatesAreRefused(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "nothing of the kind");
        for (String address : List.of("localhost:1", "unix:/run/nothing.sock")) {
            refused("certificate", new Settings(address, null, null, null, file, null, null, false));
            refused("certificate", new Settings(address, null, null, null, null, file, file, false));
        }
    }

    @Test
    void anEmptyVariableIsNone() {
        Settings found = NOTHING.completedBy(Map.of("MEMSIDECAR_ADDRESS", "", "MEMSIDECAR_TOKEN", ""));
        assertEquals(Address.DEFAULT, found.address());
        assertNull(found.token());
    }

    private static void refused(String why, Settings settings) {
        Exception refused = assertThrows(IllegalArgumentException.class, settings::connection);
        assertTrue(refused.getMessage().contains(why), refused.getMessage());
    }
}
