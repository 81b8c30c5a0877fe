package langchaingo

import (
	"context"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/schema"
)

// stepsKey is under which an executor returns what its agent did, if it is configured to.
const stepsKey = "intermediateSteps"

// AgentMemory is the memory of an agents.Executor. It is a memory.ConversationBuffer that also keeps the calls of tools
// and their results, where the executor was made with agents.WithReturnIntermediateSteps.
type AgentMemory struct {
	*memory.ConversationBuffer
	history *ChatMessageHistory
}

var _ schema.Memory = (*AgentMemory)(nil)

// NewAgentMemory is a memory over a history. The options are the buffer's own; the output key is "output" unless they
// say otherwise.
func NewAgentMemory(history *ChatMessageHistory, options ...memory.ConversationBufferOption) *AgentMemory {
	options = append([]memory.ConversationBufferOption{memory.WithOutputKey("output")}, options...)
	options = append(options, memory.WithChatHistory(history))
	return &AgentMemory{ConversationBuffer: memory.NewConversationBuffer(options...), history: history}
}

// SaveContext appends one turn, all or nothing: what the user said, each call of a tool with its result, and the answer.
// After an error, save the same turn again: it is not stored twice.
func (m *AgentMemory) SaveContext(ctx context.Context, inputs, outputs map[string]any) error {
	question, err := memory.GetInputValue(inputs, m.InputKey)
	if err != nil {
		return err
	}
	answer, err := memory.GetInputValue(outputs, m.OutputKey)
	if err != nil {
		return err
	}
	steps, _ := outputs[stepsKey].([]schema.AgentStep)
	return m.history.addMade(ctx, func(newID func() string) []llms.ChatMessage {
		turn := []llms.ChatMessage{llms.HumanChatMessage{Content: question}}
		for _, step := range steps {
			turn = append(turn, exchangeOf(step, newID)...)
		}
		return append(turn, llms.AIChatMessage{Content: answer})
	})
}

// exchangeOf is a call and its result, as the agent shows them to the model. A step without a tool is none: the
// executor makes it where the model's answer could not be read.
func exchangeOf(step schema.AgentStep, newID func() string) []llms.ChatMessage {
	if step.Action.Tool == "" {
		return nil
	}
	id := step.Action.ToolID
	if id == "" {
		id = newID()
	}
	call := llms.ToolCall{
		ID:           id,
		Type:         "function",
		FunctionCall: &llms.FunctionCall{Name: step.Action.Tool, Arguments: step.Action.ToolInput},
	}
	return []llms.ChatMessage{
		llms.AIChatMessage{Content: step.Action.Log, ToolCalls: []llms.ToolCall{call}},
		llms.ToolChatMessage{ID: id, Content: step.Observation},
	}
}
