package dev.memsidecar.client;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Validation of the texts of a request. Java permits an unpaired surrogate, the contract does not: protobuf would send
 * a question mark for it without an error.
 */
final class Texts {
    private static final Map<Descriptor, List<FieldDescriptor>> TEXTUAL = new ConcurrentHashMap<>();

    private Texts() {}

    /** Throws IllegalArgumentException for a text that is not valid Unicode, with the path of its field. */
    static <Q> Q checked(Q request) {
        Objects.requireNonNull(request, "request");
        String path = request instanceof Message message ? broken(message) : null;
        if (path != null) {
            throw new IllegalArgumentException(path.substring(1)
                    + " is not valid Unicode: it has half of a surrogate pair, as a text that was cut inside an emoji");
        }
        return request;
    }

    /** Returns the path of the first invalid text; null if all are valid. */
    private static String broken(Message message) {
        for (FieldDescriptor field : TEXTUAL.computeIfAbsent(message.getDescriptorForType(), Texts::textual)) {
            String rest = brokenIn(message, field);
            if (rest != null) {
                return name(field) + rest;
            }
        }
        return null;
    }

    private static List<FieldDescriptor> textual(Descriptor type) {
        return type.getFields().stream().filter(Texts::isTextual).toList();
    }

    private static boolean isTextual(FieldDescriptor field) {
        return switch (field.getJavaType()) {
            case STRING, MESSAGE -> true;
            default -> false;
        };
    }

    private static String brokenIn(Message message, FieldDescriptor field) {
        if (!field.isRepeated()) {
            boolean given = !field.hasPresence() || message.hasField(field);
            return given ? brokenValue(message.getField(field)) : null;
        }
        int number = 0;
        for (Object item : (List<?>) message.getField(field)) {
            String rest = field.isMapField() ? brokenEntry((Message) item) : brokenItem(item, number++);
            if (rest != null) {
                return rest;
            }
        }
        return null;
    }

    private static String brokenItem(Object item, int number) {
        String rest = brokenValue(item);
        return rest == null ? null : "[" + number + "]" + rest;
    }

    /** The path does not show an invalid key. */
    private static String brokenEntry(Message entry) {
        Object key = entry.getField(entry.getDescriptorForType().findFieldByNumber(1));
        if (brokenValue(key) != null) {
            return "";
        }
        String rest = brokenValue(entry.getField(entry.getDescriptorForType().findFieldByNumber(2)));
        return rest == null ? null : "." + key + rest;
    }

    private static String brokenValue(Object value) {
        if (value instanceof String text) {
            return isWhole(text) ? null : "";
        }
        return value instanceof Message message ? broken(message) : null;
    }

    /** Fields of protobuf's Struct and Value are omitted from paths: callers do not see them. */
    private static String name(FieldDescriptor field) {
        return field.getFile().getPackage().equals("google.protobuf") ? "" : "." + field.getName();
    }

    private static boolean isWhole(String text) {
        for (int place = 0; place < text.length(); place++) {
            if (!Character.isSurrogate(text.charAt(place))) {
                continue;
            }
            boolean paired =
                    place + 1 < text.length() && Character.isSurrogatePair(text.charAt(place), text.charAt(place + 1));
            if (!paired) {
                return false;
            }
            place++;
        }
        return true;
    }
}
