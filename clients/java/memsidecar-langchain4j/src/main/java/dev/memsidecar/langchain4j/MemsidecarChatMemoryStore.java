package dev.memsidecar.langchain4j;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.store.memory.chat.ChatMemoryStore;
import dev.memsidecar.chatmemory.ChatWindow;
import dev.memsidecar.client.MemsidecarClient;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * Stores LangChain4j's chat memories in a sidecar: the memory id is the session id. LangChain4j passes all messages of
 * a memory each time. New messages are stored once, and evicted messages are pruned from the session's window. Searches
 * and contexts still find them.
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
 * <p>Messages are returned unchanged. Fields that the contract lacks (non-text contents, attributes) may have 16 KiB
 * per message, else {@link dev.memsidecar.client.InvalidFieldException}: pass images by URL.
 *
 * <p>Thread-safe. Throws the client's exceptions.
 */
public final class MemsidecarChatMemoryStore implements ChatMemoryStore {
    private final ChatWindow windows;
    private final Function<Object, String> userOf;

    /**
     * Creates a store for sessions without a user in the default namespace.
     *
     * @param client stays open when the store is done
     */
    public MemsidecarChatMemoryStore(MemsidecarClient client) {
        this(client, "", memoryId -> "");
    }

    /**
     * Creates a store for sessions of users, so that a user's messages in other sessions are found, too.
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

    /** Erases the messages, including evicted ones; facts that were extracted from them stay. */
    @Override
    public void deleteMessages(Object memoryId) {
        windows.clear(userOf.apply(memoryId), memoryId.toString());
    }
}
