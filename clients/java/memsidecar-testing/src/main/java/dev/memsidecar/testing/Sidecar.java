package dev.memsidecar.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A sidecar in its own process, with its own port and data. The command is in the environment variable
 * {@code MEMSIDECAR_COMMAND}; the default is that of the repository after {@code make setup}.
 */
public final class Sidecar implements AutoCloseable {
    private static final Pattern LISTEN = Pattern.compile("\"listen\": \"([^\"]+)\"");

    private final Path folder;
    private final Process process;
    private final String address;

    private Sidecar(Path folder, Process process, String address) {
        this.folder = folder;
        this.process = process;
        this.address = address;
    }

    /**
     * Starts a sidecar, and waits until it is ready.
     *
     * @return to be closed
     * @throws IllegalStateException if there is none to start, or it does not
     */
    public static Sidecar start() {
        try {
            Path folder = Files.createTempDirectory("memsidecar");
            Path log = folder.resolve("log");
            Process process = process(folder, log);
            Matcher ready = LISTEN.matcher(firstLine(process));
            if (!ready.find()) {
                process.destroyForcibly();
                throw new IllegalStateException("the sidecar did not start: " + Files.readString(log));
            }
            return new Sidecar(folder, process, ready.group(1));
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    /**
     * The address of the sidecar.
     *
     * @return {@code host:port}
     */
    public String address() {
        return address;
    }

    /** Stops it, and removes its data. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(20, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            remove(folder);
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        } catch (InterruptedException interrupted) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private static Process process(Path folder, Path log) throws IOException {
        List<String> command = new ArrayList<>(command());
        command.addAll(List.of(
                "serve", "--listen", "127.0.0.1:0", "--health-listen", "", "--http-listen", "", "--index", "off"));
        command.addAll(List.of("--data-dir", folder.resolve("data").toString()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("MEMSIDECAR_"));
        return builder.start();
    }

    private static String firstLine(Process process) throws IOException {
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        return line == null ? "" : line;
    }

    private static List<String> command() {
        String given = System.getenv("MEMSIDECAR_COMMAND");
        if (given != null && !given.isBlank()) {
            return Arrays.asList(given.strip().split("\\s+"));
        }
        Path found = repository().resolve(".venv/bin/memsidecar");
        if (!Files.isExecutable(found)) {
            throw new IllegalStateException(
                    "there is no sidecar to test with: make setup installs " + found + ", or set MEMSIDECAR_COMMAND");
        }
        return List.of(found.toString());
    }

    private static Path repository() {
        for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
            if (Files.isDirectory(folder.resolve("protos/memsidecar"))) {
                return folder;
            }
        }
        throw new IllegalStateException("not in a clone of memsidecar: set MEMSIDECAR_COMMAND");
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> found = Files.walk(folder)) {
            for (Path path : found.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
