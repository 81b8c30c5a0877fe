package dev.memsidecar.chatmemory;

import com.google.protobuf.Struct;
import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.client.SequenceMismatchException;
import dev.memsidecar.v1.AddBatchRequest;
import dev.memsidecar.v1.AnnotateRequest;
import dev.memsidecar.v1.ClearRequest;
import dev.memsidecar.v1.CountRequest;
import dev.memsidecar.v1.GetAllRequest;
import dev.memsidecar.v1.ListSessionsRequest;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.PruneRequest;
import dev.memsidecar.v1.PruneStrategy;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.Session;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * The windows of chat memories, each in a session of a sidecar. A framework passes its whole window each time. This
 * class appends new messages, and prunes messages that have left the window. Nothing is lost: the sidecar still finds
 * pruned messages.
 *
 * <p>The order of a window is the order of its session, unless the framework moved or removed something in the middle.
 * Therefore the metadata of the newest stored message lists the messages of the window before it. Messages that others
 * append to the session belong to the window, too.
 */
public final class ChatWindow {
    private static final int PAGE_SIZE = 1_000;
    /** Maximum attempts when others write to the session at the same time. */
    private static final int MAX_READS = 10;

    private final MemsidecarClient client;
    private final String namespace;
    private final UnaryOperator<List<Message>> handedBack;

    /** By session: the ids of messages whose append failed, for the next replacement. */
    private final Map<Owned, Set<String>> unanswered = new ConcurrentHashMap<>();

    private record Owned(String userId, String sessionId) {}

    /**
     * The windows of a namespace.
     *
     * @param client stays open when this is done
     * @param namespace empty: the default one
     * @param handedBack converts stored messages as the framework returns them after a read: for messages that others
     *     stored, some fields may be lost. Each stays one message
     */
    public ChatWindow(MemsidecarClient client, String namespace, UnaryOperator<List<Message>> handedBack) {
        this.client = Objects.requireNonNull(client);
        this.namespace = Objects.requireNonNull(namespace);
        this.handedBack = Objects.requireNonNull(handedBack);
    }

    /**
     * Reads a window, without messages of a failed replacement, because the framework will add them again.
     *
     * @param userId the owner of the session; may be empty
     * @param sessionId which session
     * @return in the order of the window; empty for a session that is not known
     */
    public List<Message> read(String userId, String sessionId) {
        Set<String> left = unanswered.getOrDefault(new Owned(userId, sessionId), Set.of());
        return WindowOrder.applied(stored(userId, sessionId)).stream()
                .filter(message -> !left.contains(message.getId()))
                .toList();
    }

    /**
     * Replaces a window. Repeating it changes nothing, also after an error.
     *
     * @param userId the owner of the session; may be empty
     * @param sessionId the session; its first message creates it
     * @param wanted all messages of the window, without ids. Messages are compared by their fields and by the payload
     *     of the adapter
     */
    public void replace(String userId, String sessionId, List<Message> wanted) {
        Owned session = new Owned(userId, sessionId);
        Set<String> added = new HashSet<>();
        try {
            replace(userId, sessionId, wanted, added);
            unanswered.remove(session);
        } catch (RuntimeException failed) {
            // They may have been stored. A framework that reads the window now and adds the same messages again must
            // find it unchanged.
            if (!added.isEmpty()) {
                unanswered.merge(session, added, ChatWindow::both);
            }
            throw failed;
        }
    }

    private static Set<String> both(Set<String> some, Set<String> more) {
        Set<String> all = new HashSet<>(some);
        all.addAll(more);
        return all;
    }

    private void replace(String userId, String sessionId, List<Message> wanted, Set<String> added) {
        for (int look = 1; ; look++) {
            try {
                replaceOnce(userId, sessionId, wanted, added);
                return;
            } catch (SequenceMismatchException moved) {
                if (look == MAX_READS) {
                    throw moved;
                }
            }
        }
    }

    /**
     * Erases the messages of a session, from every layer.
     *
     * @param userId the owner of the session; may be empty
     * @param sessionId the session; an unknown one is empty already
     */
    public void clear(String userId, String sessionId) {
        client.clear(ClearRequest.newBuilder()
                .setNamespace(namespace)
                .setUserId(userId)
                .setSessionId(sessionId)
                .build());
        unanswered.remove(new Owned(userId, sessionId));
    }

    /**
     * The sessions that have messages.
     *
     * @return newest activity first
     */
    public List<String> sessionIds() {
        return client
                .sessions(ListSessionsRequest.newBuilder()
                        .setNamespace(namespace)
                        .setPageSize(PAGE_SIZE)
                        .build())
                .stream()
                .filter(session -> session.getStats().getMessageCount() > 0)
                .map(Session::getSessionId)
                .toList();
    }

    private void replaceOnce(String userId, String sessionId, List<Message> wanted, Set<String> added) {
        // In this order, messages that others append in between are read, and later ones cause a conflict.
        long counted = lastSequence(userId, sessionId);
        List<Message> stored = stored(userId, sessionId);
        long last = stored.stream().mapToLong(Message::getSequence).reduce(counted, Math::max);
        List<Message> window = WindowOrder.applied(stored);
        List<Long> sequences = sequences(window, wanted, last);
        if (!sequences.equals(window.stream().map(Message::getSequence).toList())) {
            List<Message> fresh = fresh(wanted, sequences, last);
            fresh.forEach(message -> added.add(message.getId()));
            write(userId, sessionId, stored, fresh, sequences, last);
        }
        prune(userId, sessionId, stored, wanted, sequences);
    }

    /** Returns the sequence of each wanted message, stored or new. */
    private List<Long> sequences(List<Message> window, List<Message> wanted, long last) {
        int[] places = Alignment.of(Body.all(handedBack.apply(window)), Body.all(wanted));
        List<Long> sequences = new ArrayList<>();
        long next = last + 1;
        for (int place : places) {
            sequences.add(place < 0 ? next++ : window.get(place).getSequence());
        }
        return sequences;
    }

    /** Returns the new messages, with ids. */
    private static List<Message> fresh(List<Message> wanted, List<Long> sequences, long last) {
        List<Message> fresh = new ArrayList<>();
        for (int place = 0; place < wanted.size(); place++) {
            if (sequences.get(place) > last) {
                fresh.add(wanted.get(place).toBuilder()
                        .setId(MemsidecarClient.newId())
                        .build());
            }
        }
        return fresh;
    }

    private void write(
            String userId,
            String sessionId,
            List<Message> stored,
            List<Message> fresh,
            List<Long> sequences,
            long last) {
        Struct order = WindowOrder.written(sequences);
        if (fresh.isEmpty()) {
            annotate(userId, sessionId, stored.get(stored.size() - 1), order);
        } else {
            append(userId, sessionId, fresh, order, last);
        }
    }

    private void append(String userId, String sessionId, List<Message> fresh, Struct order, long last) {
        AddBatchRequest.Builder request = AddBatchRequest.newBuilder()
                .setNamespace(namespace)
                .setUserId(userId)
                .setSessionId(sessionId)
                .setExpectedSequence(last)
                .addAllMessages(fresh);
        Message.Builder newest = request.getMessagesBuilder(fresh.size() - 1);
        newest.setMetadata(newest.getMetadata().toBuilder().mergeFrom(order));
        client.addBatch(request.build());
    }

    private void annotate(String userId, String sessionId, Message newest, Struct order) {
        client.annotate(AnnotateRequest.newBuilder()
                .setNamespace(namespace)
                .setUserId(userId)
                .setSessionId(sessionId)
                .setMessageId(newest.getId())
                .setMetadata(order)
                .build());
    }

    /** Prunes messages that are older than the whole window, except system messages. */
    private void prune(
            String userId, String sessionId, List<Message> stored, List<Message> wanted, List<Long> sequences) {
        Set<Long> spoken = new TreeSet<>();
        stored.stream().filter(ChatWindow::isSpoken).map(Message::getSequence).forEach(spoken::add);
        long oldest = Long.MAX_VALUE;
        for (int place = 0; place < wanted.size(); place++) {
            if (isSpoken(wanted.get(place))) {
                spoken.add(sequences.get(place));
                oldest = Math.min(oldest, sequences.get(place));
            }
        }
        long first = oldest;
        long kept = spoken.stream().filter(sequence -> sequence >= first).count();
        if (kept > 0 && kept < spoken.size()) {
            client.prune(PruneRequest.newBuilder()
                    .setNamespace(namespace)
                    .setUserId(userId)
                    .setSessionId(sessionId)
                    .setStrategy(PruneStrategy.PRUNE_STRATEGY_WINDOW)
                    .setWindow((int) kept)
                    .setMinMessages(1)
                    .build());
        }
    }

    private static boolean isSpoken(Message message) {
        return message.getRole() != Role.ROLE_SYSTEM;
    }

    private long lastSequence(String userId, String sessionId) {
        return client.count(CountRequest.newBuilder()
                        .setNamespace(namespace)
                        .setUserId(userId)
                        .setSessionId(sessionId)
                        .build())
                .getStats()
                .getLastSequence();
    }

    /** The sidecar's own window, oldest first. */
    private List<Message> stored(String userId, String sessionId) {
        return client
                .messages(GetAllRequest.newBuilder()
                        .setNamespace(namespace)
                        .setUserId(userId)
                        .setSessionId(sessionId)
                        .setPageSize(PAGE_SIZE)
                        .build())
                .stream()
                .toList();
    }
}
