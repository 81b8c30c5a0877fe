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
 * The conversations of Spring AI, in a sidecar: the id of the conversation is the session's. Spring AI hands over all
 * messages of a conversation each time; what is new is stored, once, and what has left the conversation leaves the
 * session's window. It stays in the sidecar, where searches and contexts find it.
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
 * <p>Messages are returned unchanged: tool calls, their responses, media, and metadata of what JSON can say. What the
 * sidecar has no field for may have 16 KiB in a message, else {@link dev.memsidecar.client.InvalidFieldException}: give
 * media by their URL.
 *
 * <p>Any number of threads may share it. What it throws are the client's exceptions.
 */
public final class MemsidecarChatMemoryRepository implements ChatMemoryRepository {
    private final ChatWindow windows;
    private final Function<String, String> userOf;

    /**
     * In the default namespace, of sessions without a user.
     *
     * @param client stays open when the repository is done
     */
    public MemsidecarChatMemoryRepository(MemsidecarClient client) {
        this(client, "", conversationId -> "");
    }

    /**
     * Of users, so that what one of them said in another session is found, too.
     *
     * @param client stays open when the repository is done
     * @param namespace empty: the default one
     * @param userOf the owner of a conversation, by its id; may be empty
     */
    public MemsidecarChatMemoryRepository(MemsidecarClient client, String namespace, Function<String, String> userOf) {
        this.windows = new ChatWindow(client, namespace, stored -> ChatMessages.written(ChatMessages.read(stored)));
        this.userOf = Objects.requireNonNull(userOf);
    }

    /** Of all conversations of the namespace that have messages, newest activity first. */
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

    /** Erases the messages, those that have left the conversation included; what was learned from them stays. */
    @Override
    public void deleteByConversationId(String conversationId) {
        check(conversationId);
        windows.clear(userOf.apply(conversationId), conversationId);
    }

    private static void check(String conversationId) {
        Assert.hasText(conversationId, "conversationId cannot be null or empty");
    }
}
