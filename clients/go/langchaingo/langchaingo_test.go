package langchaingo_test

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/tools"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	"github.com/memsidecar/memsidecar/clients/go/langchaingo"
	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

func call(id, kind, name, arguments string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: kind, FunctionCall: &llms.FunctionCall{Name: name, Arguments: arguments}}
}

// everyKind are messages of all types, with all that they can have.
var everyKind = []llms.ChatMessage{
	llms.SystemChatMessage{Content: "You answer questions about the weather."},
	llms.HumanChatMessage{Content: "How is the weather in Lisbon and Porto?"},
	llms.AIChatMessage{
		Content:          "I will look.",
		ReasoningContent: "Two cities, two calls.",
		ToolCalls: []llms.ToolCall{
			call("call_1", "function", "weather", `{"city": "Lisbon"}`),
			call("call_2", "function", "weather", `{"city": "Porto"}`),
		},
	},
	llms.ToolChatMessage{ID: "call_1", Content: "21 degrees and sunny"},
	llms.ToolChatMessage{ID: "call_2", Content: ""},
	llms.AIChatMessage{ToolCalls: []llms.ToolCall{call("call_1", "function", "weather", "no JSON {")}},
	llms.ToolChatMessage{ID: "call_1", Content: "that is no city"},
	llms.AIChatMessage{ToolCalls: []llms.ToolCall{
		call("", "function", "weather", "{}"), call("", "custom", "weather", ""), call("call_3", "", "weather", "{}"),
	}},
	llms.ToolChatMessage{Content: "an answer without a call"},
	llms.AIChatMessage{FunctionCall: &llms.FunctionCall{Name: "weather", Arguments: `{"city": "Faro"}`}},
	llms.FunctionChatMessage{Name: "weather", Content: "24 degrees"},
	llms.AIChatMessage{
		FunctionCall: &llms.FunctionCall{Name: "weather", Arguments: "{}"},
		ToolCalls:    []llms.ToolCall{call("call_4", "custom", "weather", "{}")},
	},
	llms.AIChatMessage{Content: ""},
	llms.HumanChatMessage{Content: ""},
	llms.GenericChatMessage{Role: "moderator", Name: "Rita", Content: "Go on."},
	llms.GenericChatMessage{Role: "assistant", Content: "It is 21 degrees and sunny."},
	llms.HumanChatMessage{Content: "(empty)"},
}

func TestAHistoryReturnsTheMessagesItStored(t *testing.T) {
	session := memsidecar.NewID()
	history := langchaingo.NewChatMessageHistory(client, session, langchaingo.WithUser("ana"))
	for _, message := range everyKind {
		if err := history.AddMessage(t.Context(), message); err != nil {
			t.Fatalf("%+v: %v", message, err)
		}
	}
	expectMessages(t, langchaingo.NewChatMessageHistory(client, session), everyKind)
}

func TestAHistoryIsReplacedAndCleared(t *testing.T) {
	history := langchaingo.NewChatMessageHistory(client, "s", langchaingo.WithNamespace(memsidecar.NewID()))
	expectMessages(t, history, []llms.ChatMessage{})
	if err := history.AddUserMessage(t.Context(), "something else"); err != nil {
		t.Fatal(err)
	}
	if err := history.SetMessages(t.Context(), everyKind); err != nil {
		t.Fatal(err)
	}
	expectMessages(t, history, everyKind)
	if err := history.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	expectMessages(t, history, []llms.ChatMessage{})
}

func TestMessagesThatCannotBeStoredAreRejected(t *testing.T) {
	history := langchaingo.NewChatMessageHistory(client, memsidecar.NewID())
	if err := history.AddUserMessage(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	strange := struct{ llms.HumanChatMessage }{}
	if err := history.AddMessage(t.Context(), strange); !errors.Is(err, llms.ErrUnexpectedChatMessageType) {
		t.Errorf("%v", err)
	}
	if err := history.AddUserMessage(t.Context(), "\xff"); !errors.Is(err, memsidecar.ErrInvalidField) {
		t.Errorf("%v", err)
	}
	nameless := llms.AIChatMessage{ToolCalls: []llms.ToolCall{{ID: "call_1"}}}
	if err := history.SetMessages(t.Context(), []llms.ChatMessage{nameless}); err == nil {
		t.Error("a call without a function was taken")
	}
	expectMessages(t, history, []llms.ChatMessage{llms.HumanChatMessage{Content: "hello"}})
}

func TestAConversationGoesOnWithTheBuffersOfLangchaingo(t *testing.T) {
	session := memsidecar.NewID()
	for _, step := range []struct{ said, shown string }{
		{"How is the weather?", "Human: How is the weather?"},
		{"And now?", "Human: How is the weather?\nAI: It is 21 degrees and sunny.\nHuman: And now?"},
	} {
		model := &weatherModel{}
		history := langchaingo.NewChatMessageHistory(client, session)
		if _, err := history.Messages(t.Context()); err != nil {
			t.Fatal(err)
		}
		conversation := chains.NewConversation(model, memory.NewConversationBuffer(memory.WithChatHistory(history)))
		// The model gets the weather as a message, because a conversation has no tools.
		conversation.Prompt = prompts.NewPromptTemplate(
			"21 degrees and sunny.\n{{.history}}\nHuman: {{.input}}", []string{"history", "input"},
		)
		if _, err := chains.Run(t.Context(), conversation, step.said); err != nil {
			t.Fatal(err)
		}
		if text := model.shown[0][0].Parts[0].(llms.TextContent).Text; !strings.HasSuffix(text, step.shown) {
			t.Errorf("the model was shown %q", text)
		}
	}
	window := memory.NewConversationWindowBuffer(
		1, memory.WithChatHistory(langchaingo.NewChatMessageHistory(client, session)), memory.WithReturnMessages(true),
	)
	loaded, err := window.LoadMemoryVariables(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	last := []llms.ChatMessage{
		llms.HumanChatMessage{Content: "And now?"}, llms.AIChatMessage{Content: "It is 21 degrees and sunny."},
	}
	if !reflect.DeepEqual(loaded["history"], last) {
		t.Errorf("%+v", loaded)
	}
}

func TestAnAgentKeepsItsCallsOfTools(t *testing.T) {
	session, tool := memsidecar.NewID(), &weatherTool{}
	var models []*weatherModel
	for _, question := range []string{"How is the weather in Lisbon?", "And what should I wear?"} {
		// Everything but the session is new, as after a restart.
		model := &weatherModel{}
		models = append(models, model)
		history := langchaingo.NewChatMessageHistory(client, session, langchaingo.WithUser("ana"))
		said := prompts.NewSystemMessagePromptTemplate("Until now:\n{{.history}}", []string{"history"})
		agent := agents.NewOpenAIFunctionsAgent(model, []tools.Tool{tool},
			agents.NewOpenAIOption().WithExtraMessages([]prompts.MessageFormatter{said}))
		executor := agents.NewExecutor(agent,
			agents.WithMemory(langchaingo.NewAgentMemory(history)), agents.WithReturnIntermediateSteps())
		answer, err := chains.Call(t.Context(), executor, map[string]any{"input": question})
		if err != nil {
			t.Fatal(err)
		}
		if answer["output"] != "It is 21 degrees and sunny." {
			t.Errorf("%v", answer)
		}
	}
	if tool.calls != 1 || len(models[0].shown) != 2 || len(models[1].shown) != 1 {
		t.Errorf("the tool was called %d times, the models %d and %d", tool.calls, len(models[0].shown), len(models[1].shown))
	}
	if text := textOf(models[1].shown[0]); !strings.Contains(text, "tool: 21 degrees and sunny") {
		t.Errorf("the model was shown %s", text)
	}
	const log = "Invoking: weather with {\"__arg1\": \"Lisbon\"} \n"
	expectMessages(t, langchaingo.NewChatMessageHistory(client, session), []llms.ChatMessage{
		llms.HumanChatMessage{Content: "How is the weather in Lisbon?"},
		llms.AIChatMessage{Content: log, ToolCalls: []llms.ToolCall{call("call_1", "function", "weather", "Lisbon")}},
		llms.ToolChatMessage{ID: "call_1", Content: "21 degrees and sunny"},
		llms.AIChatMessage{Content: "It is 21 degrees and sunny."},
		llms.HumanChatMessage{Content: "And what should I wear?"},
		llms.AIChatMessage{Content: "It is 21 degrees and sunny."},
	})
}

func TestAContextIsShownToTheModelWithItsCallsOfTools(t *testing.T) {
	session, model, tool := memsidecar.NewID(), &weatherModel{}, &weatherTool{}
	history := langchaingo.NewChatMessageHistory(client, session)
	for _, question := range []string{"How is the weather in Lisbon?", "And what should I wear?"} {
		if err := history.AddUserMessage(t.Context(), question); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			choice := ask(t, model, session)
			said := llms.AIChatMessage{Content: choice.Content, ToolCalls: choice.ToolCalls}
			if err := history.AddMessage(t.Context(), said); err != nil {
				t.Fatal(err)
			}
			if len(choice.ToolCalls) == 0 {
				break
			}
			result, err := tool.Call(t.Context(), "Lisbon")
			if err != nil {
				t.Fatal(err)
			}
			answer := llms.ToolChatMessage{ID: choice.ToolCalls[0].ID, Content: result}
			if err := history.AddMessage(t.Context(), answer); err != nil {
				t.Fatal(err)
			}
		}
	}
	if tool.calls != 1 || len(model.shown) != 3 {
		t.Errorf("the tool was called %d times, the model %d times", tool.calls, len(model.shown))
	}
	last := model.shown[len(model.shown)-1]
	expected := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeHuman, "How is the weather in Lisbon?"),
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
			call("call_1", "function", "weather", `{"__arg1": "Lisbon"}`),
		}},
		{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: "call_1", Content: "21 degrees and sunny"},
		}},
		llms.TextParts(llms.ChatMessageTypeAI, "It is 21 degrees and sunny."),
		llms.TextParts(llms.ChatMessageTypeHuman, "And what should I wear?"),
	}
	if !reflect.DeepEqual(last, expected) {
		t.Errorf("the model was shown %+v", last)
	}
}

func TestTheExamplesRun(t *testing.T) {
	for folder, expected := range map[string]string{
		".":  "  tool   21 degrees and sunny in Lisbon\n",
		"..": "tuesday  user:  How is the weather where I live?\n         agent: It is 21 degrees and sunny.\n",
	} {
		example := exec.CommandContext(t.Context(), "go", "run", "./examples/agent")
		example.Dir = folder
		example.Env = append(os.Environ(), "MEMSIDECAR_ADDRESS="+address)
		if output, err := example.CombinedOutput(); err != nil || !strings.Contains(string(output), expected) {
			t.Errorf("%s: %v\n%s", folder, err, output)
		}
	}
}

// ask shows to the model what the sidecar says that it should see.
func ask(t *testing.T, model llms.Model, session string) *llms.ContentChoice {
	t.Helper()
	shown, err := client.BuildContext(t.Context(), &pb.BuildContextRequest{SessionId: session})
	if err != nil {
		t.Fatal(err)
	}
	response, err := model.GenerateContent(t.Context(), langchaingo.Contents(shown.Messages))
	if err != nil {
		t.Fatal(err)
	}
	return response.Choices[0]
}

func expectMessages(t *testing.T, history *langchaingo.ChatMessageHistory, expected []llms.ChatMessage) {
	t.Helper()
	found, err := history.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(expected) {
		t.Fatalf("%d messages in place of %d: %+v", len(found), len(expected), found)
	}
	for i := range expected {
		if !reflect.DeepEqual(found[i], expected[i]) {
			t.Errorf("message %d is %+v, not %+v", i, found[i], expected[i])
		}
	}
}
