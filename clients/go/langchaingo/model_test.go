package langchaingo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// weatherModel pretends to be a model that can call a tool: it asks for the weather once, and then knows it from what
// it is shown.
type weatherModel struct {
	// shown is all that the model was asked, in order.
	shown [][]llms.MessageContent
}

var _ llms.Model = (*weatherModel)(nil)

func (m *weatherModel) GenerateContent(
	_ context.Context, messages []llms.MessageContent, _ ...llms.CallOption,
) (*llms.ContentResponse, error) {
	m.shown = append(m.shown, messages)
	choice := &llms.ContentChoice{Content: "It is 21 degrees and sunny."}
	if !strings.Contains(textOf(messages), "21 degrees and sunny") {
		function := &llms.FunctionCall{Name: "weather", Arguments: `{"__arg1": "Lisbon"}`}
		choice = &llms.ContentChoice{ToolCalls: []llms.ToolCall{{ID: "call_1", Type: "function", FunctionCall: function}}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

func (m *weatherModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// textOf is all of the messages, tool calls and results included, as one text.
func textOf(messages []llms.MessageContent) string {
	text, err := json.Marshal(messages)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// weatherTool is the tool that the model calls.
type weatherTool struct{ calls int }

func (*weatherTool) Name() string        { return "weather" }
func (*weatherTool) Description() string { return "Tells the weather in a city." }

func (t *weatherTool) Call(_ context.Context, city string) (string, error) {
	t.calls++
	if city != "Lisbon" {
		return "", fmt.Errorf("asked for %q", city)
	}
	return "21 degrees and sunny", nil
}
