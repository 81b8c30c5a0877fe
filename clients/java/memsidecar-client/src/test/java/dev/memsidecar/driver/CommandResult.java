package dev.memsidecar.driver;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.protobuf.MessageLite;
import dev.memsidecar.client.CancelledException;
import dev.memsidecar.client.MemsidecarException;
import java.util.Base64;

/** The result of a command. */
final class CommandResult {
    private final JsonObject json = new JsonObject();

    JsonObject json() {
        return json;
    }

    void refused(String why) {
        json.addProperty("refused", why);
    }

    void answer(Object message) {
        json.addProperty("answer", packed(message));
    }

    /** Collects responses until an error. */
    JsonArray list(String name) {
        JsonArray list = new JsonArray();
        json.add(name, list);
        return list;
    }

    static String packed(Object message) {
        return Base64.getEncoder().encodeToString(((MessageLite) message).toByteArray());
    }

    void error(MemsidecarException error) {
        JsonObject found = new JsonObject();
        found.addProperty("code", error.code().name());
        found.addProperty("reason", error.reason());
        found.addProperty("field", error.field());
        JsonObject metadata = new JsonObject();
        error.metadata().forEach(metadata::addProperty);
        found.add("metadata", metadata);
        found.addProperty(
                "retry_after_seconds",
                error.retryAfter().map(wait -> wait.toNanos() / 1e9).orElse(null));
        found.addProperty("kind", kind(error));
        found.addProperty("message", error.getMessage());
        json.add("error", found);
    }

    /** A cancelled future throws Java's own exception. */
    void cancelled() {
        JsonObject found = new JsonObject();
        found.addProperty("code", "CANCELLED");
        found.addProperty("reason", "");
        found.addProperty("kind", "Cancelled");
        json.add("error", found);
    }

    private static String kind(MemsidecarException error) {
        Class<?> kind = error instanceof CancelledException ? CancelledException.class : error.getClass();
        return kind.getSimpleName().replaceFirst("Exception$", "");
    }
}
