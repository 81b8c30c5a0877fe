package dev.memsidecar.driver;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.client.MemsidecarException;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Driver of the scenario runner for the Java client: {@code Driver [--async]}. Reads commands and writes results as
 * JSON lines; see clients/scenarios/README.md.
 */
public final class Driver {
    private static final Gson GSON = new Gson().newBuilder().serializeNulls().create();

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final Map<String, Variant> clients = new ConcurrentHashMap<>();
    private final boolean async;

    private Driver(boolean async) {
        this.async = async;
    }

    public static void main(String[] arguments) throws IOException {
        new Driver(List.of(arguments).contains("--async")).run();
    }

    private void run() throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        ExecutorService threads = Executors.newCachedThreadPool();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Command command = new Command(JsonParser.parseString(line).getAsJsonObject());
            threads.execute(() -> say(command, answer(command)));
        }
        System.exit(0);
    }

    private JsonObject answer(Command command) {
        CommandResult result = new CommandResult();
        try {
            run(command, result);
        } catch (MemsidecarException error) {
            result.error(error);
        }
        return result.json();
    }

    private void run(Command command, CommandResult result) {
        switch (command.text("do")) {
            case "open" -> open(command, result);
            case "close" -> clients.remove(command.text("client")).close();
            case "ready" -> variant(command).waitUntilReady(command.seconds("timeout_seconds"));
            case "call" -> variant(command).call(command, result);
            case "iterate" -> variant(command).iterate(command, result);
            case "stream" -> variant(command).stream(command, result);
            default -> throw new IllegalArgumentException(command.text("do"));
        }
    }

    private void open(Command command, CommandResult result) {
        try {
            MemsidecarClient client = builder(command).build();
            clients.put(command.text("client"), async ? new AsyncVariant(client.async()) : new BlockingVariant(client));
        } catch (IllegalArgumentException | UncheckedIOException refused) {
            result.refused(refused.getMessage());
        }
    }

    private static MemsidecarClient.Builder builder(Command command) {
        MemsidecarClient.Builder builder = MemsidecarClient.builder();
        command.given("address", value -> builder.address(value.getAsString()));
        command.given("token", value -> builder.token(value.getAsString()));
        command.given("token_file", value -> builder.tokenFile(Path.of(value.getAsString())));
        command.given("tls", value -> builder.tls(value.getAsBoolean()));
        command.given("ca_file", value -> builder.caFile(Path.of(value.getAsString())));
        command.given("certificate_file", value -> builder.certificateFile(Path.of(value.getAsString())));
        command.given("key_file", value -> builder.keyFile(Path.of(value.getAsString())));
        command.given("attempts", value -> builder.attempts(value.getAsInt()));
        command.given("allow_token_in_clear", value -> builder.allowTokenInClear(value.getAsBoolean()));
        command.given("deadline_seconds", value -> builder.deadline(Command.duration(value.getAsDouble())));
        return builder;
    }

    private Variant variant(Command command) {
        return clients.get(command.text("client"));
    }

    /** Writes the line with one call, because other threads write too. */
    private synchronized void say(Command command, JsonObject answer) {
        answer.addProperty("id", command.number());
        out.println(GSON.toJson(answer));
    }

    /** One of the two variants of the client. Results go into {@link CommandResult}; errors may be thrown. */
    interface Variant extends AutoCloseable {
        void waitUntilReady(Duration atMost);

        void call(Command command, CommandResult result);

        void iterate(Command command, CommandResult result);

        void stream(Command command, CommandResult result);

        @Override
        void close();
    }
}
