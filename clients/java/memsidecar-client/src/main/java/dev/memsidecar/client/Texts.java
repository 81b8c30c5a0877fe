package dev.memsidecar.client;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The texts of a request. Half of a surrogate pair is a text for Java, and none for the contract: protobuf would send a
 * question mark for it without an error.
 */
final class Texts {
    private static final Map<Descriptor, List<FieldDescriptor>> TEXTUAL = new ConcurrentHashMap<>();

    private Texts() {}

    /** Throws IllegalArgumentException for a text that is no Unicode, with the path of its field. */
    static <Q> Q checked(Q request) {
        Objects.requireNonNull(request, "request");
        String path = request instanceof Message message ? broken(message) : null;
        if (path != null) {
            throw new IllegalArgumentException(path.substring(1)
                    + " is not valid Unicode: it has half of a surrogate pair, as a text that was cut inside an emoji");
        }
        return request;
    }

    /** The path of the first broken text, put together on the way back; null where all are whole. */
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

    /** A key that is no text itself is not named. */
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

    /** Those of protobuf's own Struct and Value have none: a caller that fills metadata does not see them. */
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
