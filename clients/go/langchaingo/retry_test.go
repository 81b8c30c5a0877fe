package langchaingo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	"github.com/memsidecar/memsidecar/clients/go/langchaingo"
)

// lossy is a history whose next answers are lost, after the sidecar has done its work.
func lossy(t *testing.T, losses int) *langchaingo.ChatMessageHistory {
	t.Helper()
	lose := func(
		ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, send grpc.UnaryInvoker,
		options ...grpc.CallOption,
	) error {
		err := send(ctx, method, request, answer, conn, options...)
		if losses--; losses < 0 || err != nil {
			return err
		}
		return status.Error(codes.Unavailable, "the answer was lost")
	}
	client, err := memsidecar.New(memsidecar.WithAddress(address), memsidecar.WithAttempts(1),
		memsidecar.WithDialOptions(grpc.WithUnaryInterceptor(lose)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return langchaingo.NewChatMessageHistory(client, memsidecar.NewID())
}

func TestATurnThatIsSavedAgainIsNotStoredTwice(t *testing.T) {
	history := lossy(t, 2)
	memory := langchaingo.NewAgentMemory(history)
	// The call has no id: it gets one, and keeps it.
	step := schema.AgentStep{Action: schema.AgentAction{Tool: "weather", ToolInput: "Lisbon"}, Observation: "sunny"}
	save := func() error {
		return memory.SaveContext(t.Context(), map[string]any{"input": "How is the weather?"},
			map[string]any{"output": "It is sunny.", "intermediateSteps": []schema.AgentStep{step}})
	}
	for range 2 {
		if err := save(); !errors.Is(err, memsidecar.ErrUnreachable) {
			t.Fatal(err)
		}
	}
	for _, number := range []int{4, 8} {
		if err := save(); err != nil {
			t.Fatal(err)
		}
		// A turn that is saved again after a success is another turn.
		if found, err := history.Messages(t.Context()); err != nil || len(found) != number {
			t.Errorf("%d messages in place of %d: %+v, %v", len(found), number, found, err)
		}
	}
}

func TestMessagesThatAreAddedAgainAreNotStoredTwice(t *testing.T) {
	history := lossy(t, 2)
	for _, text := range []string{"one", "two"} {
		if err := history.AddUserMessage(t.Context(), text); !errors.Is(err, memsidecar.ErrUnreachable) {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"one", "two", "two"} {
		if err := history.AddUserMessage(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	expectMessages(t, history, []llms.ChatMessage{
		llms.HumanChatMessage{Content: "one"}, llms.HumanChatMessage{Content: "two"}, llms.HumanChatMessage{Content: "two"},
	})
}

func TestClearedMessagesAreAddedAgain(t *testing.T) {
	history := lossy(t, 1)
	if err := history.AddUserMessage(t.Context(), "hello"); !errors.Is(err, memsidecar.ErrUnreachable) {
		t.Fatal(err)
	}
	if err := history.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := history.AddUserMessage(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	expectMessages(t, history, []llms.ChatMessage{llms.HumanChatMessage{Content: "hello"}})
}
