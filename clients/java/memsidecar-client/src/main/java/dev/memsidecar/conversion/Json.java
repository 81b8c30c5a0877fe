package dev.memsidecar.conversion;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.IOException;
import java.io.StringReader;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;

/** The arguments of tool calls: text of JSON, and maps. */
final class Json {
    private static final Gson GSON = new GsonBuilder()
            .disableHtmlEscaping()
            .serializeNulls()
            .setObjectToNumberStrategy(reader -> number(reader.nextString()))
            .create();
    /** Beyond it a number is read as a double: the time that a BigDecimal takes grows with the square of its digits. */
    private static final int MAX_EXACT_CHARS = 1_000;

    private Json() {}

    /** Returns compact JSON. */
    static String write(Value value) {
        try {
            return GSON.toJson(value.value());
        } catch (JsonParseException | IllegalArgumentException | StackOverflowError error) {
            throw new ConversionException(value.path(), "is not JSON: " + error.getMessage(), error);
        }
    }

    /** Returns the JSON object in a text; any other text becomes the value of the key {@code otherwise}. */
    static Map<String, Object> object(String text, String otherwise) {
        Object value;
        try {
            value = read(text);
        } catch (IOException | JsonParseException | IllegalStateException | NumberFormatException notJson) {
            value = text;
        }
        Map<String, Object> object = new LinkedHashMap<>();
        if (value instanceof Map<?, ?> found) {
            found.forEach((key, item) -> object.put((String) key, item));
        } else {
            object.put(otherwise, value);
        }
        return object;
    }

    private static Object read(String text) throws IOException {
        JsonReader reader = new JsonReader(new StringReader(text));
        reader.setStrictness(Strictness.STRICT);
        Object value = GSON.getAdapter(Object.class).read(reader);
        if (reader.peek() != JsonToken.END_DOCUMENT) {
            throw new IOException("text after the value");
        }
        return value;
    }

    private static Number number(String text) {
        if (text.matches("-?[0-9]{1,18}")) {
            return Long.valueOf(text);
        }
        return text.length() > MAX_EXACT_CHARS ? Double.valueOf(text) : new BigDecimal(text);
    }
}
