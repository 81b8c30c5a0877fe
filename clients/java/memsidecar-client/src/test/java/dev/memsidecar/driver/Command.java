package dev.memsidecar.driver;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;

/** One command of the scenario runner. */
record Command(JsonObject json) {
    long number() {
        return json.get("id").getAsLong();
    }

    String text(String name) {
        return json.get(name).getAsString();
    }

    void given(String name, Consumer<JsonElement> take) {
        JsonElement value = json.get(name);
        if (value != null && !value.isJsonNull()) {
            take.accept(value);
        }
    }

    /** Null if there are none. */
    Duration seconds(String name) {
        return json.has(name) ? duration(json.get(name).getAsDouble()) : null;
    }

    static Duration duration(double seconds) {
        return Duration.ofNanos((long) (seconds * 1e9));
    }

    /** Unbounded by default. */
    int stopAfter() {
        return json.has("stop_after") ? json.get("stop_after").getAsInt() : Integer.MAX_VALUE;
    }

    Rpc rpc() {
        return Rpc.BY_NAME.get(text("rpc"));
    }

    Object request() {
        return rpc().parse(Base64.getDecoder().decode(text("request")));
    }

    List<Object> requests() {
        return json.getAsJsonArray("requests").asList().stream()
                .map(encoded -> rpc().parse(Base64.getDecoder().decode(encoded.getAsString())))
                .toList();
    }
}
