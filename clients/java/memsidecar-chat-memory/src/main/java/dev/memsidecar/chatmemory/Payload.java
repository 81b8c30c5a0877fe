package dev.memsidecar.chatmemory;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.memsidecar.v1.Message;
import java.util.Optional;

/** What a framework's message has and the contract has no field for: a text in the metadata of the stored message. */
public final class Payload {
    static final String KEY = "chat_message";

    private Payload() {}

    /**
     * Writes it down.
     *
     * @param message gets it, beside the metadata that it has
     * @param text of which the same message always has the same
     */
    public static void set(Message.Builder message, String text) {
        Struct.Builder metadata = message.getMetadata().toBuilder();
        metadata.putFields(KEY, Value.newBuilder().setStringValue(text).build());
        message.setMetadata(metadata);
    }

    /**
     * Reads it.
     *
     * @param message as it is stored
     * @return empty where the fields of the contract say everything, or something else has this name
     */
    public static Optional<String> of(Message message) {
        Value found = message.getMetadata().getFieldsMap().get(KEY);
        return Optional.ofNullable(found).filter(Value::hasStringValue).map(Value::getStringValue);
    }
}
