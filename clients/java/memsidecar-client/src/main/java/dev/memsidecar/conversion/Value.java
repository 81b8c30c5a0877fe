package dev.memsidecar.conversion;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A value of the input with the path that an error names. Absent fields are null. */
record Value(Object value, String path) {
    boolean isNull() {
        return value == null;
    }

    boolean isText() {
        return value instanceof String;
    }

    boolean isList() {
        return value instanceof List;
    }

    boolean isObject() {
        return value instanceof Map;
    }

    Value field(String name) {
        if (value instanceof Map<?, ?> object) {
            return new Value(object.get(name), path + "." + name);
        }
        throw wrong("an object");
    }

    Stream<Value> items() {
        if (value instanceof List<?> list) {
            return IntStream.range(0, list.size())
                    .mapToObj(position -> new Value(list.get(position), path + "[" + position + "]"));
        }
        throw wrong("a list");
    }

    String text() {
        if (value instanceof String text) {
            return text;
        }
        throw wrong("a text");
    }

    String optionalText() {
        return isNull() ? "" : text();
    }

    /** A text that the contract requires, as ids and names of tools. */
    String filledText() {
        if (text().isEmpty()) {
            throw error("a text is required, not an empty one");
        }
        return text();
    }

    String oneOf(List<String> names) {
        if (!names.contains(text())) {
            throw error("\"" + text() + "\" is none of " + String.join(", ", names));
        }
        return text();
    }

    /** Throws if two calls of a message have the same id: a result would belong to either. */
    static void checkDistinct(List<Value> calls) {
        Set<Object> seen = new HashSet<>();
        for (Value call : calls) {
            Value id = call.field("id");
            if (!seen.add(id.value())) {
                throw id.error("\"" + id.value() + "\" is the id of an earlier call of the message");
            }
        }
    }

    ConversionException error(String problem) {
        return new ConversionException(path, problem, null);
    }

    ConversionException wrong(String required) {
        return error(required + " is required, not " + kind());
    }

    private String kind() {
        if (value == null) {
            return "null";
        }
        if (value instanceof Boolean) {
            return "a boolean";
        }
        if (value instanceof Number) {
            return "a number";
        }
        if (isText()) {
            return "a text";
        }
        if (isList()) {
            return "a list";
        }
        return isObject() ? "an object" : value.getClass().getSimpleName();
    }
}
