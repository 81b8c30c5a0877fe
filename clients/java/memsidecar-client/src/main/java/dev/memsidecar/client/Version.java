package dev.memsidecar.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The version of this client, as the build wrote it down. */
final class Version {
    static final String CURRENT = read();

    private Version() {}

    private static String read() {
        try (InputStream text = Version.class.getResourceAsStream("version.txt")) {
            return new String(text.readAllBytes(), StandardCharsets.US_ASCII).strip();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }
}
