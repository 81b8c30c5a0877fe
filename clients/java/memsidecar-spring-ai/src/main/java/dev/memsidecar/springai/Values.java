package dev.memsidecar.springai;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Converts metadata values to JSON and back. Numbers keep their type, because Spring AI compares messages with their
 * metadata: values that JSON cannot distinguish are written with their type, as in {@code {"$long": "5"}}. Other values
 * are stored as their text.
 */
final class Values {
    private static final Map<Class<?>, String> TAGS = Map.of(
            Long.class, "$long",
            Float.class, "$float",
            BigInteger.class, "$integer",
            BigDecimal.class, "$decimal",
            Instant.class, "$instant",
            byte[].class, "$bytes");

    private static final Map<String, Function<String, Object>> READERS = Map.of(
            "$long", Long::valueOf,
            "$float", Float::valueOf,
            "$integer", BigInteger::new,
            "$decimal", BigDecimal::new,
            "$instant", Instant::parse,
            "$bytes", text -> Base64.getDecoder().decode(text));

    private Values() {}

    static Object written(Object value) {
        if (value == null || value instanceof Boolean || value instanceof Integer || value instanceof Double) {
            return value;
        } else if (value instanceof Map<?, ?> map) {
            Map<String, Object> written = new LinkedHashMap<>();
            map.forEach((name, item) -> written.put(name.toString(), written(item)));
            return written;
        } else if (value instanceof Iterable<?> list) {
            List<Object> written = new ArrayList<>();
            list.forEach(item -> written.add(written(item)));
            return written;
        }
        String tag = TAGS.get(value.getClass());
        String text = value instanceof byte[] bytes ? Base64.getEncoder().encodeToString(bytes) : value.toString();
        return tag == null ? text : Map.of(tag, text);
    }

    static Object read(Object written) {
        if (written instanceof Map<?, ?> map) {
            Map.Entry<?, ?> only = map.size() == 1 ? map.entrySet().iterator().next() : null;
            Function<String, Object> reader = only == null ? null : READERS.get((String) only.getKey());
            return reader == null ? readMap(map) : reader.apply((String) only.getValue());
        } else if (written instanceof List<?> list) {
            List<Object> values = new ArrayList<>();
            list.forEach(item -> values.add(read(item)));
            return values;
        }
        return written;
    }

    static Map<String, Object> readMap(Object written) {
        Map<String, Object> values = new LinkedHashMap<>();
        ((Map<?, ?>) written).forEach((name, item) -> values.put((String) name, read(item)));
        return values;
    }
}
