package dev.memsidecar.chatmemory;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.memsidecar.v1.Message;
import java.util.Optional;

/** Fields of a framework's message that the contract lacks, stored as text in the metadata of the message. */
public final class Payload {
    static final String KEY = "chat_message";

    private Payload() {}

    /**
     * Writes the payload.
     *
     * @param message gets it in addition to its metadata
     * @param text the payload; equal for equal messages
     */
    public static void set(Message.Builder message, String text) {
        Struct.Builder metadata = message.getMetadata().toBuilder();
        metadata.putFields(KEY, Value.newBuilder().setStringValue(text).build());
        message.setMetadata(metadata);
    }

    /**
     * Reads the payload.
     *
     * @param message as it is stored
     * @return empty if there is none, or if the key has another value
     */
    public static Optional<String> of(Message message) {
        Value found = message.getMetadata().getFieldsMap().get(KEY);
        return Optional.ofNullable(found).filter(Value::hasStringValue).map(Value::getStringValue);
    }
}
