package dev.memsidecar.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;

/** The token that a client shows, from wherever it was told to take it. */
@FunctionalInterface
interface Token {
    /** As it is now, without white space around it; never empty. */
    String read();

    /**
     * A file that is read again when it changes, so that a token can be rotated under a running agent. While the file
     * is away or empty, which happens for a moment when it is replaced, the last token stays.
     */
    final class InFile implements Token {
        private record Stamp(FileTime modified, long size, Object file) {}

        private record Seen(Stamp stamp, String token) {}

        private final Path path;
        private volatile Seen seen;

        /** Throws where the file is not there at all, cannot be read, or holds no token. */
        InFile(Path path) {
            this.path = path;
            if (read().isEmpty()) {
                throw new IllegalArgumentException("the token file " + path + " holds no token");
            }
        }

        @Override
        public String read() {
            Seen last = seen;
            try {
                Stamp stamp = stamp();
                if (last == null || !stamp.equals(last.stamp)) {
                    String found = Files.readString(path).strip();
                    seen = last = new Seen(stamp, found.isEmpty() && last != null ? last.token : found);
                }
            } catch (NoSuchFileException away) {
                if (last == null) {
                    throw new UncheckedIOException("the token file " + path + " is not there", away);
                }
            } catch (IOException unreadable) {
                throw new UncheckedIOException("the token file " + path + " cannot be read", unreadable);
            }
            return last.token;
        }

        private Stamp stamp() throws IOException {
            BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
            return new Stamp(found.lastModifiedTime(), found.size(), found.fileKey());
        }
    }
}
