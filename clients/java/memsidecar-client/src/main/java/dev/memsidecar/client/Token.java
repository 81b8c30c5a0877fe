package dev.memsidecar.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;

/** The token of a client, from its settings, a file or the environment. */
@FunctionalInterface
interface Token {
    /** Returns the current token without white space around it; never empty. */
    String read();

    /** Returns the token without white space around it. The error does not show the text, which may be a token. */
    static String checked(String text, String what) {
        String token = text.strip();
        if (token.isEmpty() || !token.chars().allMatch(sign -> sign >= '!' && sign <= '~')) {
            throw new IllegalArgumentException(what + " no token: one has letters, digits and signs of ASCII only");
        }
        return token;
    }

    /**
     * A file that is read again when it changes, so that a token can be rotated under a running agent. While the file
     * is missing, unreadable or has no token, which happens for a moment when it is replaced, the client keeps the last
     * token.
     */
    final class InFile implements Token {
        private record Stamp(FileTime modified, long size, Object file) {}

        private record Seen(Stamp stamp, String token) {}

        private final Path path;
        private volatile Seen seen;

        /** Throws if the file is missing, cannot be read, or has no token. */
        InFile(Path path) {
            this.path = path;
            try {
                this.seen = look();
            } catch (NoSuchFileException away) {
                throw new UncheckedIOException("the token file " + path + " is not there", away);
            } catch (IOException unreadable) {
                throw new UncheckedIOException("the token file " + path + " cannot be read", unreadable);
            }
        }

        @Override
        public String read() {
            try {
                if (!stamp().equals(seen.stamp)) {
                    seen = look();
                }
            } catch (IOException | IllegalArgumentException notNow) {
                // The file is checked again before the next call: it may be incomplete now.
                return seen.token;
            }
            return seen.token;
        }

        private Seen look() throws IOException {
            Stamp stamp = stamp();
            return new Seen(stamp, checked(Files.readString(path), "the token file " + path + " holds"));
        }

        private Stamp stamp() throws IOException {
            BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class);
            return new Stamp(found.lastModifiedTime(), found.size(), found.fileKey());
        }
    }
}
