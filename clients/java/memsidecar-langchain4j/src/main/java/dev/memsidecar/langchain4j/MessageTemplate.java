package dev.memsidecar.langchain4j;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.data.message.AiMessage;
import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.ChatMessageDeserializer;
import dev.langchain4j.data.message.ChatMessageSerializer;
import dev.langchain4j.data.message.Content;
import dev.langchain4j.data.message.TextContent;
import dev.langchain4j.data.message.ToolExecutionResultMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.memsidecar.v1.Message;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * A message in LangChain4j's own JSON, without long values that the contract's fields have: a text is replaced by its
 * length, thinking and tool arguments are empty. {@link #filled} restores them.
 */
final class MessageTemplate {
    /** Sorts map keys, so that equal messages have equal texts. */
    private static final ObjectMapper SORTED = JsonMapper.builder()
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private MessageTemplate() {}

    static String of(ChatMessage message) {
        try {
            String json = ChatMessageSerializer.messageToJson(bare(message));
            return SORTED.writeValueAsString(SORTED.readValue(json, Object.class));
        } catch (JsonProcessingException impossible) {
            throw new IllegalArgumentException(impossible);
        }
    }

    /** Empty if it is no template, or that of another message. */
    static Optional<ChatMessage> filled(String template, Message stored) {
        try {
            return Optional.ofNullable(filled(ChatMessageDeserializer.messageFromJson(template), stored));
        } catch (RuntimeException notOurs) {
            return Optional.empty();
        }
    }

    private static ChatMessage filled(ChatMessage bare, Message stored) {
        if (bare instanceof UserMessage user) {
            return user.toBuilder().contents(filled(user.contents(), stored)).build();
        } else if (bare instanceof ToolExecutionResultMessage result) {
            return result.toBuilder()
                    .text(null)
                    .contents(filled(result.contents(), stored))
                    .build();
        } else if (bare instanceof AiMessage ai) {
            return filled(ai, stored);
        }
        return bare;
    }

    private static ChatMessage bare(ChatMessage message) {
        if (message instanceof UserMessage user) {
            return user.toBuilder().contents(bare(user.contents())).build();
        } else if (message instanceof ToolExecutionResultMessage result) {
            return result.toBuilder()
                    .text(null)
                    .contents(bare(result.contents()))
                    .build();
        } else if (message instanceof AiMessage ai) {
            return bare(ai);
        }
        return message;
    }

    private static AiMessage bare(AiMessage message) {
        return message.toBuilder()
                .text(message.text() == null ? null : length(message.text()))
                .thinking(message.thinking() == null ? null : "")
                .toolExecutionRequests(message.toolExecutionRequests().stream()
                        .map(request -> request.toBuilder()
                                .arguments(request.arguments() == null ? null : "")
                                .build())
                        .toList())
                .build();
    }

    private static AiMessage filled(AiMessage bare, Message stored) {
        List<ToolExecutionRequest> requests = new ArrayList<>();
        for (ToolExecutionRequest request : bare.toolExecutionRequests()) {
            String arguments = stored.getToolCalls(requests.size()).getArgumentsJson();
            requests.add(
                    request.arguments() == null
                            ? request
                            : request.toBuilder().arguments(arguments).build());
        }
        return bare.toBuilder()
                .text(bare.text() == null ? null : stored.getContent().substring(0, Integer.parseInt(bare.text())))
                .thinking(bare.thinking() == null ? null : stored.getReasoning())
                .toolExecutionRequests(requests)
                .build();
    }

    private static List<Content> bare(List<Content> contents) {
        return contents.stream()
                .map(content -> content instanceof TextContent text ? TextContent.from(length(text.text())) : content)
                .toList();
    }

    private static List<Content> filled(List<Content> bare, Message stored) {
        List<Integer> lengths = bare.stream()
                .filter(TextContent.class::isInstance)
                .map(content -> Integer.parseInt(((TextContent) content).text()))
                .toList();
        Iterator<String> texts =
                ChatMessages.parted(stored.getContent(), lengths).iterator();
        return bare.stream()
                .map(content -> content instanceof TextContent ? TextContent.from(texts.next()) : content)
                .toList();
    }

    private static String length(String text) {
        return Integer.toString(text.length());
    }
}
