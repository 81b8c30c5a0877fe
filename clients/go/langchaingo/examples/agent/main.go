// Command agent is an agent of langchaingo whose memory is a sidecar: it calls a tool, and on the next turn, made anew
// as after a restart, it still knows the result.
//
//	go run ./examples/agent         # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600
//
// The model here is fake, so that the example runs offline; put one of langchaingo's in its place.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/tools"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	"github.com/memsidecar/memsidecar/clients/go/langchaingo"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := memsidecar.New()
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.WaitUntilReady(ctx); err != nil {
		return err
	}
	session, user := memsidecar.NewID(), "ana-"+memsidecar.NewID()[30:]
	for _, question := range []string{"How is the weather in Lisbon?", "Is that warm enough for the beach?"} {
		history := langchaingo.NewChatMessageHistory(client, session, langchaingo.WithUser(user))
		answer, err := chains.Call(ctx, newAgent(history), map[string]any{"input": question})
		if err != nil {
			return err
		}
		fmt.Printf("user:  %s\nagent: %s\n", question, answer["output"])
	}
	return show(ctx, langchaingo.NewChatMessageHistory(client, session))
}

func newAgent(history *langchaingo.ChatMessageHistory) *agents.Executor {
	until := prompts.NewSystemMessagePromptTemplate("Until now:\n{{.history}}", []string{"history"})
	agent := agents.NewOpenAIFunctionsAgent(fakeModel{}, []tools.Tool{weather{}},
		agents.NewOpenAIOption().WithExtraMessages([]prompts.MessageFormatter{until}))
	return agents.NewExecutor(agent,
		agents.WithMemory(langchaingo.NewAgentMemory(history)), agents.WithReturnIntermediateSteps())
}

// show tells what is kept: the calls of tools and their results, too.
func show(ctx context.Context, history *langchaingo.ChatMessageHistory) error {
	messages, err := history.Messages(ctx)
	if err != nil {
		return err
	}
	fmt.Println("kept:")
	for _, message := range messages {
		fmt.Printf("  %-6s %s\n", message.GetType(), strings.TrimSpace(message.GetContent()))
	}
	return nil
}

// weather is a tool.
type weather struct{}

func (weather) Name() string        { return "weather" }
func (weather) Description() string { return "Tells the weather in a city." }

func (weather) Call(_ context.Context, city string) (string, error) {
	return "21 degrees and sunny in " + city, nil
}

// fakeModel calls the tool until it is shown its result.
type fakeModel struct{}

func (fakeModel) GenerateContent(
	_ context.Context, messages []llms.MessageContent, _ ...llms.CallOption,
) (*llms.ContentResponse, error) {
	shown, err := json.Marshal(messages)
	if err != nil {
		return nil, err
	}
	choice := &llms.ContentChoice{Content: "It is 21 degrees and sunny."}
	if !strings.Contains(string(shown), "21 degrees") {
		function := &llms.FunctionCall{Name: "weather", Arguments: `{"__arg1": "Lisbon"}`}
		call := llms.ToolCall{ID: memsidecar.NewID(), Type: "function", FunctionCall: function}
		choice = &llms.ContentChoice{ToolCalls: []llms.ToolCall{call}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

func (m fakeModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}
