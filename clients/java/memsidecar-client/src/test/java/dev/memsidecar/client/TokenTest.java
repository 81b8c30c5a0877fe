package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
    void aFileThatIsNotThereOrEmptyIsToldAtOnce() throws IOException {
        assertThrows(UncheckedIOException.class, () -> new Token.InFile(folder.resolve("nothing")));
        Path empty = Files.writeString(folder.resolve("empty"), " \n");
        assertThrows(IllegalArgumentException.class, () -> new Token.InFile(empty));
    }
}
