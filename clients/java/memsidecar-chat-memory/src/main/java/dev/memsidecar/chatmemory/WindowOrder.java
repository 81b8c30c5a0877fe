package dev.memsidecar.chatmemory;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.memsidecar.v1.Message;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The messages of a window in order, by sequence, as in {@code "9,2-5"}. It is stored in the metadata of the then
 * newest message; later messages follow.
 */
final class WindowOrder {
    private static final String KEY = "chat_window";
    private static final String RANGE = "[0-9]{1,18}(-[0-9]{1,18})?";
    private static final Pattern ORDER = Pattern.compile("(" + RANGE + "(," + RANGE + ")*)?");

    /** Both included. */
    private record Range(long first, long last) {}

    private WindowOrder() {}

    static Struct written(List<Long> sequences) {
        Value text = Value.newBuilder().setStringValue(text(sequences)).build();
        return Struct.newBuilder().putFields(KEY, text).build();
    }

    /** Returns the messages of the window out of the session's messages, which are oldest first. */
    static List<Message> applied(List<Message> stored) {
        Message holder = stored.stream()
                .filter(WindowOrder::holdsOrder)
                .max(Comparator.comparingLong(Message::getSequence))
                .orElse(null);
        if (holder == null) {
            return stored;
        }
        NavigableMap<Long, Message> known = new TreeMap<>();
        stored.stream()
                .filter(message -> message.getSequence() <= holder.getSequence())
                .forEach(message -> known.put(message.getSequence(), message));
        // A message that is in the order but no longer stored was pruned by another program.
        Stream<Message> ordered = ranges(textOf(holder))
                .flatMap(range -> known.subMap(range.first, true, range.last, true).values().stream())
                .distinct();
        Stream<Message> later = stored.stream().filter(message -> message.getSequence() > holder.getSequence());
        return Stream.concat(ordered, later).toList();
    }

    /** Other programs may use the same key. */
    private static boolean holdsOrder(Message message) {
        return message.getMetadata()
                        .getFieldsOrDefault(KEY, Value.getDefaultInstance())
                        .hasStringValue()
                && ORDER.matcher(textOf(message)).matches()
                && ranges(textOf(message)).allMatch(range -> range.first <= range.last);
    }

    private static String textOf(Message holder) {
        return holder.getMetadata().getFieldsOrThrow(KEY).getStringValue();
    }

    static String text(List<Long> sequences) {
        List<String> ranges = new ArrayList<>();
        for (int begin = 0, end; begin < sequences.size(); begin = end) {
            end = begin + 1;
            while (end < sequences.size() && sequences.get(end) == sequences.get(end - 1) + 1) {
                end++;
            }
            long first = sequences.get(begin);
            long last = sequences.get(end - 1);
            ranges.add(first == last ? "" + first : first + "-" + last);
        }
        return String.join(",", ranges);
    }

    private static Stream<Range> ranges(String text) {
        return Stream.of(text.split(",")).filter(range -> !range.isEmpty()).map(range -> {
            String[] ends = range.split("-");
            return new Range(Long.parseLong(ends[0]), Long.parseLong(ends[ends.length - 1]));
        });
    }
}
