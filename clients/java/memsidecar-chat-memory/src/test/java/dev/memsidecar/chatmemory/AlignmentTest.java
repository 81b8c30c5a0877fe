package dev.memsidecar.chatmemory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.memsidecar.client.Messages;
import dev.memsidecar.v1.Message;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AlignmentTest {
    /** Builds messages; capital letters are system messages. */
    @ParameterizedTest
    @CsvSource({
        "nothing changed,                     a b c,   a b c,     0 1 2",
        "one came,                            a b,     a b c,     0 1 -1",
        "one left as another came,            a b c,   b c d,     1 2 -1",
        "a system message stays,              S a b,   S b c,     0 2 -1",
        "a system message is replaced,        S a b,   T a b,     -1 1 2",
        "a system message comes to the front, a b,     S a b,     -1 0 1",
        "one is told again,                   y o,     y o y,     0 1 -1",
        "a chat that repeats itself,          y o y o, y o y,     2 3 -1",
        "the beginning is summarised,         a b c d, s c d e,   -1 2 3 -1",
        "one is taken out,                    a b c,   a c,       0 2",
        "one is put in,                       a c,     a b c,     0 -1 1",
        "all are new,                         a b,     c d,       -1 -1",
        "the first,                           '',      a,         -1",
    })
    void whatIsThereIsFound(String why, String window, String wanted, String places) {
        int[] expected =
                Stream.of(places.split(" ")).mapToInt(Integer::parseInt).toArray();
        assertArrayEquals(expected, Alignment.of(bodies(window), bodies(wanted)), why);
    }

    @ParameterizedTest
    @CsvSource({"'', ''", "'7', '7'", "'2 3 4 5', '2-5'", "'9 2 3 7', '9,2-3,7'", "'5 4 3', '5,4,3'"})
    void anOrderIsWrittenInRanges(String sequences, String text) {
        List<Long> given = Stream.of(sequences.split(" "))
                .filter(item -> !item.isEmpty())
                .map(Long::parseLong)
                .toList();
        assertEquals(text, WindowOrder.text(given));
        assertEquals(given, sequences(WindowOrder.applied(session(given, text))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "1-", "-1", "3-2", "1,,2", "1;2", "99999999999999999999", " "})
    void whatIsNoOrderChangesNothing(String text) {
        List<Message> stored = session(List.of(1L, 2L), text);
        assertEquals(stored, WindowOrder.applied(stored));
    }

    @Test
    void anOrderOfAnotherProgramEndsAndDuplicatesNothing() {
        List<Message> stored = session(List.of(1L, 2L), "2,1-999999999999999999,2");
        assertEquals(List.of(2L, 1L, 10L), sequences(WindowOrder.applied(stored)));
    }

    /** Returns these messages, and a newest one with the order. */
    private static List<Message> session(List<Long> sequences, String order) {
        Value text = Value.newBuilder().setStringValue(order).build();
        Message holder = Message.newBuilder()
                .setSequence(10)
                .setMetadata(Struct.newBuilder().putFields("chat_window", text))
                .build();
        return Stream.concat(
                        sequences.stream()
                                .sorted()
                                .map(sequence -> Message.newBuilder()
                                        .setSequence(sequence)
                                        .build()),
                        Stream.of(holder))
                .toList();
    }

    private static List<Long> sequences(List<Message> messages) {
        return messages.stream().map(Message::getSequence).toList();
    }

    private static List<Body> bodies(String letters) {
        return Stream.of(letters.split(" "))
                .filter(letter -> !letter.isEmpty())
                .map(letter ->
                        Character.isUpperCase(letter.charAt(0)) ? Messages.system(letter) : Messages.user(letter))
                .map(Body::of)
                .toList();
    }
}
