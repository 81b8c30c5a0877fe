package dev.memsidecar.examples;

import dev.memsidecar.client.MemsidecarClient;
import dev.memsidecar.client.Messages;
import dev.memsidecar.v1.BuildContextRequest;
import dev.memsidecar.v1.BuildContextResponse;
import dev.memsidecar.v1.Fact;
import dev.memsidecar.v1.FactType;
import dev.memsidecar.v1.Message;
import dev.memsidecar.v1.PutFactsRequest;
import dev.memsidecar.v1.ReportUsageRequest;
import dev.memsidecar.v1.Role;
import dev.memsidecar.v1.Section;
import dev.memsidecar.v1.SectionReceipt;
import dev.memsidecar.v1.ToolCall;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An agent with a memory: calls a model, runs a tool, answers, and stores the messages. It needs only a sidecar, at
 * {@code MEMSIDECAR_ADDRESS} or 127.0.0.1:7600. Replace {@link #askModel} by your model.
 */
public final class Agent {
    private static final String MODEL = "gpt-4o";
    private static final String SYSTEM_PROMPT = "You answer questions about the weather.";
    private static final String TOOLS = """
            [{"name": "weather", "parameters": {"city": "string"}},
             {"name": "remember_home", "parameters": {"city": "string"}}]""";
    private static final Map<String, String> WEATHER =
            Map.of("Lisbon", "21 degrees and sunny", "Porto", "17 degrees and rain");

    private final MemsidecarClient memory;
    private final String userId;
    private final String sessionId;

    private Agent(MemsidecarClient memory, String userId, String sessionId) {
        this.memory = memory;
        this.userId = userId;
        this.sessionId = sessionId;
    }

    /**
     * Runs conversations of two days.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        try (MemsidecarClient memory = MemsidecarClient.create()) {
            memory.waitUntilReady(Duration.ofSeconds(10));
            String user = "ana-" + MemsidecarClient.newId().substring(30);
            say(memory, user, "monday", "What is the weather like?");
            say(memory, user, "monday", "I live in Lisbon.");
            say(memory, user, "tuesday", "How is the weather where I live?");
        }
    }

    private static void say(MemsidecarClient memory, String user, String day, String question) {
        System.out.printf("%-8s user:  %s%n", day, question);
        System.out.printf("%-8s agent: %s%n", "", new Agent(memory, user, user + "/" + day).turn(question));
    }

    /** An answer of a provider: a text or tool calls, and the charged tokens. */
    private record Answer(String text, List<ToolCall> calls, int chargedTokens) {}

    /** A fake model: looks for a city in its input, calls the weather tool, then answers. */
    private static Answer askModel(BuildContextResponse context) {
        List<Message> shown = context.getMessagesList();
        int charged = Math.max(1, shown.stream().mapToInt(Message::getTokens).sum());
        Message newest = shown.get(shown.size() - 1);
        if (newest.getRole() == Role.ROLE_TOOL) {
            return new Answer("It is " + newest.getContent() + ".", List.of(), charged);
        }
        Optional<String> city = WEATHER.keySet().stream()
                .filter(name ->
                        shown.stream().anyMatch(message -> message.getContent().contains(name)))
                .findFirst();
        if (city.isEmpty()) {
            return new Answer("Where do you live?", List.of(), charged);
        }
        List<String> wanted =
                newest.getContent().contains(city.get()) ? List.of("remember_home", "weather") : List.of("weather");
        return new Answer(
                "", wanted.stream().map(name -> call(name, city.get())).toList(), charged);
    }

    private static ToolCall call(String name, String city) {
        return ToolCall.newBuilder()
                .setId(MemsidecarClient.newId())
                .setName(name)
                .setArgumentsJson("{\"city\": \"" + city + "\"}")
                .build();
    }

    /** Stores each message at once, so no message is lost if the agent ends. */
    private String turn(String question) {
        memory.add(userId, sessionId, Messages.user(question));
        Answer answer = think();
        while (!answer.calls().isEmpty()) {
            memory.add(userId, sessionId, Messages.assistant(answer.text(), answer.calls()));
            for (ToolCall call : answer.calls()) {
                memory.add(userId, sessionId, Messages.tool(call, useTool(call)));
            }
            answer = think();
        }
        memory.add(userId, sessionId, Messages.assistant(answer.text()));
        return answer.text();
    }

    private Answer think() {
        BuildContextResponse context = memory.buildContext(BuildContextRequest.newBuilder()
                .setUserId(userId)
                .setSessionId(sessionId)
                .setModel(MODEL)
                .setMaxTokens(4_000)
                .setReserveOutputTokens(500)
                .setSystemPrompt(SYSTEM_PROMPT)
                .setToolSchemasJson(TOOLS)
                .build());
        Answer answer = askModel(context);
        memory.reportUsage(ReportUsageRequest.newBuilder()
                .setModel(MODEL)
                .setEstimatedTokens(context.getTotalTokens() - reserved(context))
                .setActualTokens(answer.chargedTokens())
                .build());
        return answer;
    }

    private String useTool(ToolCall call) {
        String city = call.getArgumentsJson().replaceFirst(".*: \"(.*)\"}", "$1");
        if (call.getName().equals("weather")) {
            return WEATHER.get(city);
        }
        memory.putFacts(PutFactsRequest.newBuilder()
                .setUserId(userId)
                .setSessionId(sessionId)
                .addFacts(Fact.newBuilder()
                        .setType(FactType.FACT_TYPE_USER_PROFILE)
                        .setKey("home")
                        .setValue(city))
                .build());
        return "remembered";
    }

    /** Tokens that are reserved for the answer and not sent. */
    private static int reserved(BuildContextResponse context) {
        return context.getReceipt().getSectionsList().stream()
                .filter(section -> section.getSection() == Section.SECTION_OUTPUT_RESERVE)
                .mapToInt(SectionReceipt::getUsedTokens)
                .sum();
    }
}
