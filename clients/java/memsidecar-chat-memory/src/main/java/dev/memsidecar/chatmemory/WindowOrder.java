package dev.memsidecar.chatmemory;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.memsidecar.v1.Message;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Which messages a window has, and in which order: their sequences, as in {@code "9,2-5"}. It stands in the metadata of
 * the newest message of that time; whatever came later follows.
 */
final class WindowOrder {
    private static final String KEY = "chat_window";

    private WindowOrder() {}

    static Struct written(List<Long> sequences) {
        Value text = Value.newBuilder().setStringValue(text(sequences)).build();
        return Struct.newBuilder().putFields(KEY, text).build();
    }

    /** What of the session's messages, oldest first, is in the window. */
    static List<Message> applied(List<Message> stored) {
        Message holder = stored.stream()
                .filter(message -> message.getMetadata().containsFields(KEY))
                .max(Comparator.comparingLong(Message::getSequence))
                .orElse(null);
        if (holder == null) {
            return stored;
        }
        Map<Long, Message> bySequence =
                stored.stream().collect(Collectors.toMap(Message::getSequence, Function.identity()));
        String text = holder.getMetadata().getFieldsOrThrow(KEY).getStringValue();
        // What is in the order and not there any more was pruned by somebody else.
        Stream<Message> ordered = parsed(text).mapToObj(bySequence::get).filter(Objects::nonNull);
        Stream<Message> later = stored.stream().filter(message -> message.getSequence() > holder.getSequence());
        return Stream.concat(ordered, later).toList();
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

    static LongStream parsed(String text) {
        return Stream.of(text.split(",")).filter(range -> !range.isEmpty()).flatMapToLong(range -> {
            String[] ends = range.split("-");
            return LongStream.rangeClosed(Long.parseLong(ends[0]), Long.parseLong(ends[ends.length - 1]));
        });
    }
}
