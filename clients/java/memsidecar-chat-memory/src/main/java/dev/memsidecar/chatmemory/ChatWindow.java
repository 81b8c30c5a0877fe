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
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * The windows of chat memories, each in a session of a sidecar. A framework hands a window over as a whole, time and
 * again; here what is new in it is appended, and what has left it leaves the session's window. Nothing is lost by that:
 * the sidecar still finds it.
 *
 * <p>The order of a window is the order of its session, unless the framework moved or removed something in the middle.
 * So the newest message that was stored also says, in its metadata, which messages the window has before it. What
 * others append to the session belongs to the window, too.
 */
public final class ChatWindow {
    private static final int PAGE_SIZE = 1_000;
    /** How often to look again, because others wrote to the session at the same time. */
    private static final int MOST_LOOKS = 10;

    private final MemsidecarClient client;
    private final String namespace;

    /**
     * The windows of a namespace.
     *
     * @param client stays open when this is done
     * @param namespace empty: the default one
     */
    public ChatWindow(MemsidecarClient client, String namespace) {
        this.client = Objects.requireNonNull(client);
        this.namespace = Objects.requireNonNull(namespace);
    }

    /**
     * Reads a window.
     *
     * @param userId whose session it is; empty: nobody says
     * @param sessionId which session
     * @return in the order of the window; empty for a session that is not known
     */
    public List<Message> read(String userId, String sessionId) {
        return WindowOrder.applied(stored(userId, sessionId));
    }

    /**
     * Brings a window to what it shall be. To repeat it changes nothing.
     *
     * @param userId whose session it is; empty: nobody says
     * @param sessionId which session; it comes into being with its first message
     * @param wanted all messages of the window, without ids. What counts of a message is what was said, and the
     *     metadata that it carries
     */
    public void replace(String userId, String sessionId, List<Message> wanted) {
        for (int look = 1; ; look++) {
            try {
                replaceOnce(userId, sessionId, wanted);
                return;
            } catch (SequenceMismatchException moved) {
                if (look == MOST_LOOKS) {
                    throw moved;
                }
            }
        }
    }

    /**
     * Erases the messages of a session, from every layer.
     *
     * @param userId whose session it is; empty: nobody says
     * @param sessionId which session; one that is not known is empty already
     */
    public void clear(String userId, String sessionId) {
        client.clear(ClearRequest.newBuilder()
                .setNamespace(namespace)
                .setUserId(userId)
                .setSessionId(sessionId)
                .build());
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

    private void replaceOnce(String userId, String sessionId, List<Message> wanted) {
        // In this order: what others append in between is read, and what they append later is noticed.
        long counted = lastSequence(userId, sessionId);
        List<Message> stored = stored(userId, sessionId);
        long last = stored.stream().mapToLong(Message::getSequence).reduce(counted, Math::max);
        List<Message> window = WindowOrder.applied(stored);
        List<Long> sequences = sequences(window, wanted, last);
        if (!sequences.equals(window.stream().map(Message::getSequence).toList())) {
            write(userId, sessionId, stored, wanted, sequences, last);
        }
        prune(userId, sessionId, stored, wanted, sequences);
    }

    /** Where each of the wanted messages is, or will be. */
    private static List<Long> sequences(List<Message> window, List<Message> wanted, long last) {
        int[] places = Alignment.of(Body.all(window), Body.all(wanted));
        List<Long> sequences = new ArrayList<>();
        long next = last + 1;
        for (int place : places) {
            sequences.add(place < 0 ? next++ : window.get(place).getSequence());
        }
        return sequences;
    }

    private void write(
            String userId,
            String sessionId,
            List<Message> stored,
            List<Message> wanted,
            List<Long> sequences,
            long last) {
        Struct order = WindowOrder.written(sequences);
        List<Message> added = new ArrayList<>();
        for (int place = 0; place < wanted.size(); place++) {
            if (sequences.get(place) > last) {
                added.add(wanted.get(place));
            }
        }
        if (added.isEmpty()) {
            annotate(userId, sessionId, stored.get(stored.size() - 1), order);
        } else {
            append(userId, sessionId, added, order, last);
        }
    }

    private void append(String userId, String sessionId, List<Message> added, Struct order, long last) {
        AddBatchRequest.Builder request = AddBatchRequest.newBuilder()
                .setNamespace(namespace)
                .setUserId(userId)
                .setSessionId(sessionId)
                .setExpectedSequence(last);
        for (Message message : added) {
            request.addMessages(message.toBuilder().setId(MemsidecarClient.newId()));
        }
        Message.Builder newest = request.getMessagesBuilder(added.size() - 1);
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

    /** What is older than everything in the window leaves the sidecar's, too; system messages stay there. */
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
