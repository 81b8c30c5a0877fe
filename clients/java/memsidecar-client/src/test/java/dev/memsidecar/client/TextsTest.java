package dev.memsidecar.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.memsidecar.v1.AddBatchRequest;
import dev.memsidecar.v1.AddRequest;
import dev.memsidecar.v1.ArchiveRecord;
import dev.memsidecar.v1.ExportRequest;
import dev.memsidecar.v1.Fact;
import dev.memsidecar.v1.GetAllRequest;
import dev.memsidecar.v1.ImportRequest;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.PutFactsRequest;
import dev.memsidecar.v1.SearchRequest;
import dev.memsidecar.v1.ToolCall;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class TextsTest {
    /** An unpaired surrogate, as {@code substring} leaves it inside an emoji. */
    private static final String BROKEN = "sunny \uD83C";

    private static Value text(String content) {
        return Value.newBuilder().setStringValue(content).build();
    }

    private static Struct metadata(String key, Value value) {
        return Struct.newBuilder()
                .putFields("whole", text("whole"))
                .putFields(key, value)
                .build();
    }

    private static AddRequest described(Struct metadata) {
        return AddRequest.newBuilder()
                .setMessage(Message.newBuilder().setMetadata(metadata))
                .build();
    }

    static Stream<Arguments> broken() {
        Message user = Messages.user(BROKEN);
        ToolCall call = ToolCall.newBuilder().setArgumentsJson(BROKEN).build();
        Value list = Value.newBuilder()
                .setListValue(ListValue.newBuilder()
                        .addValues(Value.getDefaultInstance())
                        .addValues(Value.newBuilder().setStructValue(metadata("deep", text(BROKEN)))))
                .build();
        return Stream.of(
                Arguments.of(
                        "session_id",
                        AddRequest.newBuilder().setSessionId(BROKEN).build()),
                Arguments.of(
                        "message.content",
                        AddRequest.newBuilder().setMessage(user).build()),
                Arguments.of(
                        "message.tool_calls[1].arguments_json",
                        AddRequest.newBuilder()
                                .setMessage(Messages.assistant("", List.of(ToolCall.getDefaultInstance(), call)))
                                .build()),
                Arguments.of(
                        "messages[1].content",
                        AddBatchRequest.newBuilder()
                                .addMessages(Messages.user("whole"))
                                .addMessages(user)
                                .build()),
                Arguments.of(
                        "facts[0].source_message_ids[1]",
                        PutFactsRequest.newBuilder()
                                .addFacts(Fact.newBuilder()
                                        .addSourceMessageIds("whole")
                                        .addSourceMessageIds(BROKEN))
                                .build()),
                Arguments.of("message.metadata.note", described(metadata("note", text(BROKEN)))),
                Arguments.of("message.metadata", described(metadata(BROKEN, text("whole")))),
                Arguments.of(
                        "metadata_filter.list[1].deep",
                        SearchRequest.newBuilder()
                                .setMetadataFilter(metadata("list", list))
                                .build()),
                Arguments.of(
                        "record.message.content",
                        ImportRequest.newBuilder()
                                .setRecord(ArchiveRecord.newBuilder().setMessage(user))
                                .build()));
    }

    @ParameterizedTest
    @MethodSource("broken")
    void aBrokenTextIsNamedAtAnyDepth(String field, Object request) {
        refused(field, () -> Texts.checked(request));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uD83C", "\uDF1E", "\uDF1E\uD83C", "\uD83C\uD83C\uDF1E", "\uD83C\uDF1E\uDF1E", "a\uD83Cb"})
    void halfOfAPairIsNoText(String text) {
        refused(
                "query",
                () -> Texts.checked(SearchRequest.newBuilder().setQuery(text).build()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "sunny", "21 °C", "\uD83C\uDF1E", "a\uD83C\uDF1E\uD83C\uDF1Eb", "\u0000\uFFFD\uFFFF"})
    void aWholeTextIsSentAsItIs(String text) {
        SearchRequest request = SearchRequest.newBuilder()
                .setQuery(text)
                .setMetadataFilter(metadata(text + "!", text(text)))
                .build();
        assertSame(request, Texts.checked(request));
    }

    /** Nothing listens at the address, so a request that is sent fails differently. */
    @Test
    void nothingIsSentOfABrokenText() {
        try (MemsidecarClient memory =
                MemsidecarClient.builder().address("127.0.0.1:1").build()) {
            GetAllRequest all = GetAllRequest.newBuilder().setSessionId(BROKEN).build();
            ExportRequest export =
                    ExportRequest.newBuilder().setNamespace(BROKEN).build();
            refused("message.content", () -> memory.add("", "s", Messages.user(BROKEN)));
            refused(
                    "session_id",
                    () -> memory.messages(all).stream().findFirst().isPresent());
            refused("namespace", () -> memory.export(export).hasNext());

            AsyncMemsidecarClient async = memory.async();
            failed("message.content", async.add("", "s", Messages.user(BROKEN)));
            failed("session_id", async.messages(all).toList());
            failed("namespace", async.export(export).toList());
        }
    }

    private static void failed(String field, CompletableFuture<?> future) {
        Throwable cause = assertThrows(CompletionException.class, future::join).getCause();
        told(field, assertInstanceOf(IllegalArgumentException.class, cause));
    }

    private static void refused(String field, Executable call) {
        told(field, assertThrows(IllegalArgumentException.class, call));
    }

    private static void told(String field, IllegalArgumentException refused) {
        assertTrue(refused.getMessage().contains("Unicode"), refused.getMessage());
        assertEquals(field, refused.getMessage().split(" ")[0]);
    }
}
