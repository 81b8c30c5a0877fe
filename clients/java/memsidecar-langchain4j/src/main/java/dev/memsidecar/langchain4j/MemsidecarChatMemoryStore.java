package dev.memsidecar.langchain4j;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.memsidecar.chatmemory.ChatWindow;
import dev.memsidecar.client.MemsidecarClient;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * The messages of LangChain4j's chat memories, in a sidecar: the memory's id is the session's. LangChain4j hands over
 * all messages of a memory each time; what is new is stored, once, and what the memory has evicted leaves the session's
 * window. It stays in the sidecar, where searches and contexts find it.
 *
 * <pre>{@code
 * ChatMemoryStore store = new MemsidecarChatMemoryStore(MemsidecarClient.create());
 * Assistant assistant = AiServices.builder(Assistant.class)
 *         .chatModel(model)
 *         .chatMemoryProvider(id -> MessageWindowChatMemory.builder()
 *                 .id(id)
 *                 .maxMessages(20)
 *                 .chatMemoryStore(store)
 *                 .build())
 *         .build();
 * }</pre>
 *
 * <p>Messages are returned unchanged. What the sidecar has no field for (contents that are no text, attributes) may
 * have 16 KiB in a message, else {@link dev.memsidecar.client.InvalidFieldException}: give images by their URL.
 *
 * <p>Any number of threads may share it. What it throws are the client's exceptions.
 */
public final class MemsidecarChatMemoryStore implements ChatMemoryStore {
    private final ChatWindow windows;
    private final Function<Object, String> userOf;

    /**
     * In the default namespace, of sessions without a user.
     *
     * @param client stays open when the store is done
     */
    public MemsidecarChatMemoryStore(MemsidecarClient client) {
        this(client, "", memoryId -> "");
    }

    /**
     * Of users, so that what one of them said in another session is found, too.
     *
     * @param client stays open when the store is done
     * @param namespace empty: the default one
     * @param userOf the owner of a memory, by its id; may be empty
     */
    public MemsidecarChatMemoryStore(MemsidecarClient client, String namespace, Function<Object, String> userOf) {
        this.windows = new ChatWindow(client, namespace, ChatMessages::handedBack);
        this.userOf = Objects.requireNonNull(userOf);
    }

    @Override
    public List<ChatMessage> getMessages(Object memoryId) {
        return windows.read(userOf.apply(memoryId), memoryId.toString()).stream()
                .map(ChatMessages::read)
                .toList();
    }

    @Override
    public void updateMessages(Object memoryId, List<ChatMessage> messages) {
        windows.replace(
                userOf.apply(memoryId),
                memoryId.toString(),
                messages.stream().map(ChatMessages::written).toList());
    }

    /** Erases the messages, evicted ones included; what was learned from them stays. */
    @Override
    public void deleteMessages(Object memoryId) {
        windows.clear(userOf.apply(memoryId), memoryId.toString());
    }
}
