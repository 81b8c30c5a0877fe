package dev.memsidecar.client;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.TlsChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Address, TLS settings and token of a connection. Null means unset. */
record Settings(
        String address,
        String token,
        Path tokenFile,
        Boolean tls,
        Path caFile,
        Path certificateFile,
        Path keyFile,
        boolean allowTokenInClear) {

    /** Reads unset values from the environment. Throws IllegalArgumentException for an invalid variable. */
    Settings completedBy(Map<String, String> environment) {
        boolean ownToken = token != null || tokenFile != null;
        String toldToken = ownToken ? token : text(environment, "MEMSIDECAR_TOKEN");
        boolean ownTls = tls != null || hasFiles();
        return new Settings(
                Stream.of(address, text(environment, "MEMSIDECAR_ADDRESS"))
                        .filter(given -> given != null && !given.isEmpty())
                        .findFirst()
                        .orElse(Address.DEFAULT),
                toldToken,
                ownToken || toldToken != null ? tokenFile : path(environment, "MEMSIDECAR_TOKEN_FILE"),
                ownTls ? tls : flag(environment, "MEMSIDECAR_TLS"),
                ownTls ? caFile : path(environment, "MEMSIDECAR_CA_FILE"),
                ownTls ? certificateFile : path(environment, "MEMSIDECAR_CLIENT_CERTIFICATE_FILE"),
                ownTls ? keyFile : path(environment, "MEMSIDECAR_CLIENT_KEY_FILE"),
                allowTokenInClear);
    }

    /**
     * Throws IllegalArgumentException for inconsistent settings, UncheckedIOException for a file that cannot be read.
     */
    Connection connection() {
        Address where = new Address(address);
        Token source = tokenSource();
        boolean secure = usesTls();
        if (source != null && !secure && !allowTokenInClear && !where.staysHere()) {
            throw new IllegalArgumentException(
                    "a token would go to " + address + " in the clear: use TLS, or say allowTokenInClear(true)");
        }
        return new Connection(where, secure ? certificates() : InsecureChannelCredentials.create(), secure, source);
    }

    private Token tokenSource() {
        boolean given = token != null && !token.isEmpty();
        if (given && tokenFile != null) {
            throw new IllegalArgumentException("give a token or a token file, not both");
        }
        if (tokenFile != null) {
            return new Token.InFile(tokenFile);
        }
        if (!given) {
            return null;
        }
        String checked = Token.checked(token, "what was given as one is");
        return () -> checked;
    }

    private boolean usesTls() {
        if (Boolean.FALSE.equals(tls) && hasFiles()) {
            throw new IllegalArgumentException("certificates are given, and tls is false");
        }
        if ((certificateFile == null) != (keyFile == null)) {
            throw new IllegalArgumentException("certificateFile and keyFile belong together");
        }
        return Boolean.TRUE.equals(tls) || hasFiles();
    }

    private ChannelCredentials certificates() {
        TlsChannelCredentials.Builder builder = TlsChannelCredentials.newBuilder();
        try {
            if (caFile != null) {
                builder.trustManager(caFile.toFile());
            }
            if (certificateFile != null) {
                builder.keyManager(certificateFile.toFile(), keyFile.toFile());
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException("a file of certificates cannot be read", unreadable);
        }
        return builder.build();
    }

    private boolean hasFiles() {
        return Stream.of(caFile, certificateFile, keyFile).anyMatch(Objects::nonNull);
    }

    private static String text(Map<String, String> environment, String name) {
        String found = environment.getOrDefault(name, "").strip();
        return found.isEmpty() ? null : found;
    }

    private static Path path(Map<String, String> environment, String name) {
        String found = text(environment, name);
        return found == null ? null : Path.of(found);
    }

    private static Boolean flag(Map<String, String> environment, String name) {
        String found = text(environment, name);
        if (found != null && !found.equalsIgnoreCase("true") && !found.equalsIgnoreCase("false")) {
            throw new IllegalArgumentException(name + " is neither true nor false");
        }
        return found == null ? null : Boolean.valueOf(found);
    }
}
