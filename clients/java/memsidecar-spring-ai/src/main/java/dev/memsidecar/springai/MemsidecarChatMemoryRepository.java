package dev.memsidecar.springai;

import dev.memsidecar.chatmemory.ChatWindow;
import dev.memsidecar.client.MemsidecarClient;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.springframework.ai.chat.memory.ChatMemoryRepository;
import org.springframework.ai.chat.messages.Message;
import org.springframework.util.Assert;

/**
 * Stores conversations of Spring AI in a sidecar: the conversation id is the session id. Spring AI passes all messages
 * of a conversation each time. New messages are stored once, and removed messages are pruned from the session's window.
 * Searches and contexts still find them.
 *
 * <pre>{@code
 * ChatMemory memory = MessageWindowChatMemory.builder()
 *         .chatMemoryRepository(new MemsidecarChatMemoryRepository(MemsidecarClient.create()))
 *         .build();
 * ChatClient chat = ChatClient.builder(model)
 *         .defaultAdvisors(MessageChatMemoryAdvisor.builder(memory).build())
 *         .build();
 * }</pre>
 *
 * <p>Messages are returned unchanged: tool calls, their responses, media, and metadata that JSON can represent. Fields
 * that the contract lacks may have 16 KiB per message, else {@link dev.memsidecar.client.InvalidFieldException}: pass
 * media by URL.
 *
 * <p>Thread-safe. Throws the client's exceptions.
 */
public final class MemsidecarChatMemoryRepository implements ChatMemoryRepository {
    private final ChatWindow windows;
    private final Function<String, String> userOf;

    /**
     * Creates a repository for sessions without a user in the default namespace.
     *
     * @param client stays open when the repository is done
     */
    public MemsidecarChatMemoryRepository(MemsidecarClient client) {
        this(client, "", conversationId -> "");
    }

    /**
     * Creates a repository for sessions of users, so that a user's messages in other sessions are found, too.
     *
     * @param client stays open when the repository is done
     * @param namespace empty: the default one
     * @param userOf the owner of a conversation, by its id; may be empty
     */
    public MemsidecarChatMemoryRepository(MemsidecarClient client, String namespace, Function<String, String> userOf) {
        this.windows = new ChatWindow(client, namespace, stored -> ChatMessages.written(ChatMessages.read(stored)));
        this.userOf = Objects.requireNonNull(userOf);
    }

    /** Returns the ids of all conversations of the namespace that have messages, newest activity first. */
    @Override
    public List<String> findConversationIds() {
        return windows.sessionIds();
    }

    @Override
    public List<Message> findByConversationId(String conversationId) {
        check(conversationId);
        return ChatMessages.read(windows.read(userOf.apply(conversationId), conversationId));
    }

    @Override
    public void saveAll(String conversationId, List<Message> messages) {
        check(conversationId);
        Assert.notNull(messages, "messages cannot be null");
        Assert.noNullElements(messages, "messages cannot contain null elements");
        windows.replace(userOf.apply(conversationId), conversationId, ChatMessages.written(messages));
    }

    /** Erases the messages, including pruned ones; facts that were extracted from them stay. */
    @Override
    public void deleteByConversationId(String conversationId) {
        check(conversationId);
        windows.clear(userOf.apply(conversationId), conversationId);
    }

    private static void check(String conversationId) {
        Assert.hasText(conversationId, "conversationId cannot be null or empty");
    }
}
