package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenTest {
    @TempDir
    Path folder;

    @Test
    void aFileIsReadAgainWhenItIsReplacedAndStaysWhileItIsAwayOrEmpty() throws IOException {
        Path file = Files.writeString(folder.resolve("token"), "  first\n\n");
        Token token = new Token.InFile(file);
        assertEquals("first", token.read());

        Path next = Files.writeString(folder.resolve("next"), "other\n");
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
        assertEquals("other", token.read());

        Files.writeString(file, "");
        assertEquals("other", token.read());

        Files.delete(file);
        assertEquals("other", token.read());
    }

    @Test
    void aFileThatWentBadLeavesTheLastToken() throws IOException {
        Path file = Files.writeString(folder.resolve("token"), "first");
        Token token = new Token.InFile(file);
        for (String bad : List.of("two words", "línea", "one\ntwo", "\u0007", " ")) {
            Files.writeString(file, bad);
            assertEquals("first", token.read());
        }
        Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe});
        assertEquals("first", token.read());

        Files.delete(file);
        Files.createDirectory(file);
        assertEquals("first", token.read());

        Files.delete(file);
        Files.writeString(file, "second");
        assertEquals("second", token.read());
    }

    @Test
    void whatIsNoTokenIsRefusedAndNotShown() throws IOException {
        for (String bad : List.of("half secret", "secret\u00e9", "secret\nsecret", "\u0000secret")) {
            Path file = Files.writeString(folder.resolve("bad"), bad);
            Exception ofFile = assertThrows(IllegalArgumentException.class, () -> new Token.InFile(file));
            Exception given = assertThrows(
                    IllegalArgumentException.class,
                    () -> new Settings("localhost:1", bad, null, null, null, null, null, false).connection());
            assertFalse((ofFile.getMessage() + given.getMessage()).contains("secret"));
        }
    }

    @Test
    void aFileThatIsNotThereOrEmptyIsToldAtOnce() throws IOException {
        assertThrows(UncheckedIOException.class, () -> new Token.InFile(folder.resolve("nothing")));
        Path empty = Files.writeString(folder.resolve("empty"), " \n");
        assertThrows(IllegalArgumentException.class, () -> new Token.InFile(empty));
    }
}
