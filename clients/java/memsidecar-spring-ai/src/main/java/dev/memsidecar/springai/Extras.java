package dev.memsidecar.springai;

import dev.memsidecar.v1.Message;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.springframework.ai.chat.messages.AssistantMessage;
import org.springframework.ai.content.Media;
import org.springframework.util.MimeType;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Fields of a Spring AI message that the contract lacks, as JSON. An unset value is that of the field of the contract.
 */
final class Extras {
    /** Sorts map keys, so that equal messages have equal texts. */
    private static final JsonMapper SORTED = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .build();

    /** Placeholder for empty content, which the contract does not permit. */
    static final String SILENT = "[empty]";

    static final String ID = "id";
    static final String NAME = "name";
    private static final String TEXT = "text";
    private static final String METADATA = "metadata";
    private static final String MEDIA = "media";
    private static final String TOOL_CALLS = "toolCalls";
    private static final String PART = "part";
    private static final String PARTS = "parts";
    private static final Set<String> NAMES = Set.of(TEXT, METADATA, MEDIA, TOOL_CALLS, PART, PARTS, ID, NAME);

    private final Map<String, Object> fields = new TreeMap<>();

    /** Empty if another program wrote the message: then only the fields of the contract count. */
    static Extras parsed(String json, Message stored) {
        try {
            Extras extras = new Extras();
            Map<?, ?> fields = SORTED.readValue(json, Map.class);
            fields.forEach((name, value) -> extras.fields.put((String) name, value));
            return extras.isFor(stored) ? extras : new Extras();
        } catch (RuntimeException notOurs) {
            return new Extras();
        }
    }

    /** Throws if a value has another type. */
    private boolean isFor(Message stored) {
        metadata();
        media();
        boolean silent = stored.getContent().isEmpty() || stored.getContent().equals(SILENT);
        boolean fits = NAMES.containsAll(fields.keySet())
                && (!fields.containsKey(TEXT) || (silent && orEmpty(textOr("")).isEmpty()))
                && part() >= 0
                && (parts() > 0 || silent);
        int calls = fields.get(TOOL_CALLS) instanceof List<?> found ? found.size() : stored.getToolCallsCount();
        return fits && calls == stored.getToolCallsCount();
    }

    static String orEmpty(String text) {
        return text == null ? "" : text;
    }

    String json() {
        return SORTED.writeValueAsString(fields);
    }

    boolean isEmpty() {
        return fields.isEmpty();
    }

    /** A text that differs from the content: null, or empty. */
    void putText(String text) {
        fields.put(TEXT, text);
    }

    String textOr(String content) {
        return fields.containsKey(TEXT) ? (String) fields.get(TEXT) : content;
    }

    /** A field that is empty in the contract, and null in the message. */
    void putNull(String name) {
        fields.put(name, null);
    }

    String orNull(String name, String value) {
        return fields.containsKey(name) ? null : value;
    }

    Extras putMetadata(Map<String, Object> metadata) {
        if (!metadata.isEmpty()) {
            fields.put(METADATA, Values.written(metadata));
        }
        return this;
    }

    Map<String, Object> metadata() {
        return fields.containsKey(METADATA) ? Values.readMap(fields.get(METADATA)) : Map.of();
    }

    /** The index among several messages of the contract; absent for a single one. */
    void putPart(int part, int parts) {
        if (parts != 1) {
            fields.put(PART, part);
            fields.put(PARTS, parts);
        }
    }

    int part() {
        return (Integer) fields.getOrDefault(PART, 0);
    }

    int parts() {
        return (Integer) fields.getOrDefault(PARTS, 1);
    }

    void putToolCalls(List<AssistantMessage.ToolCall> calls) {
        fields.put(TOOL_CALLS, calls.stream().map(Extras::written).toList());
    }

    /** Omits the arguments, which may be long and are in the field of the contract. */
    List<AssistantMessage.ToolCall> toolCallsOr(List<AssistantMessage.ToolCall> plain) {
        if (!fields.containsKey(TOOL_CALLS)) {
            return plain;
        }
        List<AssistantMessage.ToolCall> calls = new ArrayList<>();
        for (Object one : (List<?>) fields.get(TOOL_CALLS)) {
            Map<?, ?> call = (Map<?, ?>) one;
            AssistantMessage.ToolCall stored = plain.get(calls.size());
            String arguments = Boolean.TRUE.equals(call.get("arguments")) ? stored.arguments() : null;
            calls.add(new AssistantMessage.ToolCall(
                    (String) call.get("id"), (String) call.get("type"), stored.name(), arguments));
        }
        return calls;
    }

    private static Map<String, Object> written(AssistantMessage.ToolCall call) {
        Map<String, Object> written = new LinkedHashMap<>();
        written.put("id", call.id());
        written.put("type", call.type());
        written.put("arguments", call.arguments() != null);
        return written;
    }

    void putMedia(List<Media> media) {
        if (!media.isEmpty()) {
            fields.put(MEDIA, media.stream().map(Extras::written).toList());
        }
    }

    List<Media> media() {
        List<Media> media = new ArrayList<>();
        for (Object one : (List<?>) fields.getOrDefault(MEDIA, List.of())) {
            media.add(media((Map<?, ?>) one));
        }
        return media;
    }

    private static Map<String, Object> written(Media media) {
        Map<String, Object> written = new LinkedHashMap<>();
        written.put("mimeType", media.getMimeType().toString());
        written.put("id", media.getId());
        written.put("name", media.getName());
        boolean isUrl = media.getData() instanceof URL;
        written.put(isUrl ? "url" : "data", isUrl ? media.getData().toString() : Values.written(media.getData()));
        return written;
    }

    private static Media media(Map<?, ?> written) {
        Media.Builder media = Media.builder()
                .mimeType(MimeType.valueOf((String) written.get("mimeType")))
                .name((String) written.get("name"));
        if (written.get("id") != null) {
            media.id((String) written.get("id"));
        }
        if (written.get("url") != null) {
            return media.data(url((String) written.get("url"))).build();
        }
        Object data = Values.read(written.get("data"));
        return (data instanceof byte[] bytes ? media.data(bytes) : media.data((String) data)).build();
    }

    private static URL url(String text) {
        try {
            return URI.create(text).toURL();
        } catch (MalformedURLException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }
}
