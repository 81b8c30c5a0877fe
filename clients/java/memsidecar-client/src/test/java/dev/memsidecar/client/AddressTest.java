package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost:7600",
                "LOCALHOST:7600",
                "127.0.0.1:7600",
                "127.9.8.7:7600",
                "[::1]:7600",
                "[0:0:0:0:0:0:0:1]:7600",
                "unix:/run/memsidecar.sock"
            })
    void loopbackAndSocketsStayHere(String address) {
        assertTrue(new Address(address).staysHere());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "192.0.2.1:7600",
                "memory.example:7600",
                "localhost.example:7600",
                "127.0.0.1.example:7600",
                "[2001:db8::1]:7600",
                "1:7600",
                "0.0.0.0:7600"
            })
    void everythingElseDoesNot(String address) {
        assertFalse(new Address(address).staysHere());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "localhost:",
                ":7600",
                "localhost:0",
                "localhost:65536",
                "localhost:99999",
                "localhost:-1",
                "local host:7600",
                "http://localhost:7600",
                "dns:///127.0.0.1:7600",
                "::1:7600",
                "[::1]",
                "[::::]:7600",
                "[localhost]:7600",
                "unix:",
                "unix://",
                "unix:///",
                "unix://host/path"
            })
    void whatIsNoAddressIsRefused(String address) {
        assertThrows(IllegalArgumentException.class, () -> new Address(address));
    }

    @Test
    void aHostMayBeCalledAsAScheme() {
        assertEquals("dns:///dns:7600", new Address("dns:7600").target());
        assertEquals("dns:///%5B::1%5D:7600", new Address("[::1]:7600").target());
    }

    @Test
    void aSocketIsNamedByItsPath() {
        assertEquals("/run/m.sock", new Address("unix:/run/m.sock").path());
        assertEquals("/run/m.sock", new Address("unix:///run/m.sock").path());
        assertEquals("m.sock", new Address("unix:m.sock").path());
    }
}
