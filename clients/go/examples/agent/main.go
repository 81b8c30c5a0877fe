// Command agent is an agent with a memory: it asks a model, lets it call a tool, answers, and remembers. It needs a
// sidecar and nothing else.
//
//	go run ./examples/agent         # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600
//
// The model here is fake, so that the example runs offline; askModel is where yours goes.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"slices"
	"strings"

	memsidecar "github.com/memsidecar/memsidecar/clients/go"
	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

const (
	model        = "gpt-4o"
	systemPrompt = "You answer questions about the weather."
	tools        = `[{"name": "weather", "parameters": {"city": "string"}},
		{"name": "remember_home", "parameters": {"city": "string"}}]`
)

var weather = map[string]string{"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}

// answer is what a provider answers: a text or calls of tools, and what it charged.
type answer struct {
	text          string
	calls         []*pb.ToolCall
	chargedTokens int32
}

// askModel pretends to be a model: it looks for a city in all that it is shown, asks for its weather, then tells it.
func askModel(shown *pb.BuildContextResponse) answer {
	charged := shown.TotalTokens
	newest := shown.Messages[len(shown.Messages)-1]
	if newest.Role == pb.Role_ROLE_TOOL {
		return answer{text: fmt.Sprintf("It is %s.", newest.Content), chargedTokens: charged}
	}
	city := newestCity(shown.Messages)
	if city == "" {
		return answer{text: "Where do you live?", chargedTokens: charged}
	}
	wanted := []string{"weather"}
	if strings.Contains(newest.Content, city) {
		wanted = []string{"remember_home", "weather"}
	}
	var calls []*pb.ToolCall
	for _, name := range wanted {
		arguments := fmt.Sprintf(`{"city": %q}`, city)
		calls = append(calls, &pb.ToolCall{Id: memsidecar.NewID(), Name: name, ArgumentsJson: arguments})
	}
	return answer{calls: calls, chargedTokens: charged}
}

func newestCity(messages []*pb.Message) string {
	for _, message := range slices.Backward(messages) {
		for city := range weather {
			if strings.Contains(message.Content, city) {
				return city
			}
		}
	}
	return ""
}

type agent struct {
	memory    *memsidecar.Client
	userID    string
	sessionID string
}

// turn stores each message at once, so no message is lost if the agent ends.
func (a *agent) turn(ctx context.Context, question string) (string, error) {
	if err := a.say(ctx, memsidecar.UserMessage(question)); err != nil {
		return "", err
	}
	for {
		answer, err := a.think(ctx)
		if err != nil {
			return "", err
		}
		if err := a.say(ctx, memsidecar.AssistantMessage(answer.text, answer.calls...)); err != nil {
			return "", err
		}
		if len(answer.calls) == 0 {
			return answer.text, nil
		}
		if err := a.useTools(ctx, answer.calls); err != nil {
			return "", err
		}
	}
}

func (a *agent) say(ctx context.Context, message *pb.Message) error {
	_, err := a.memory.Add(ctx, &pb.AddRequest{SessionId: a.sessionID, UserId: a.userID, Message: message})
	return err
}

func (a *agent) think(ctx context.Context) (answer, error) {
	shown, err := a.memory.BuildContext(ctx, &pb.BuildContextRequest{
		SessionId:           a.sessionID,
		UserId:              a.userID,
		Model:               model,
		MaxTokens:           4_000,
		ReserveOutputTokens: 500,
		SystemPrompt:        systemPrompt,
		ToolSchemasJson:     tools,
	})
	if err != nil {
		return answer{}, err
	}
	answered := askModel(shown)
	_, err = a.memory.ReportUsage(ctx, &pb.ReportUsageRequest{
		Model:           model,
		EstimatedTokens: shown.TotalTokens - reserved(shown),
		ActualTokens:    answered.chargedTokens,
	})
	return answered, err
}

// reserved tokens are for the answer and were not sent.
func reserved(shown *pb.BuildContextResponse) int32 {
	var tokens int32
	for _, section := range shown.Receipt.Sections {
		if section.Section == pb.Section_SECTION_OUTPUT_RESERVE {
			tokens += section.UsedTokens
		}
	}
	return tokens
}

func (a *agent) useTools(ctx context.Context, calls []*pb.ToolCall) error {
	for _, call := range calls {
		result, err := a.useTool(ctx, call)
		if err != nil {
			return err
		}
		if err := a.say(ctx, memsidecar.ToolMessage(call, result)); err != nil {
			return err
		}
	}
	return nil
}

func (a *agent) useTool(ctx context.Context, call *pb.ToolCall) (string, error) {
	var arguments struct{ City string }
	if err := json.Unmarshal([]byte(call.ArgumentsJson), &arguments); err != nil {
		return "", err
	}
	if call.Name == "weather" {
		return weather[arguments.City], nil
	}
	home := &pb.Fact{Type: pb.FactType_FACT_TYPE_USER_PROFILE, Key: "home", Value: arguments.City}
	_, err := a.memory.PutFacts(ctx, &pb.PutFactsRequest{
		UserId: a.userID, SessionId: a.sessionID, Facts: []*pb.Fact{home},
	})
	return "remembered", err
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	memory, err := memsidecar.New()
	if err != nil {
		return err
	}
	defer memory.Close()
	if err := memory.WaitUntilReady(ctx); err != nil {
		return err
	}
	user := "ana-" + memsidecar.NewID()[30:]
	for _, said := range []struct{ day, question string }{
		{"monday", "What is the weather like?"},
		{"monday", "I live in Lisbon."},
		{"tuesday", "How is the weather where I live?"},
	} {
		agent := &agent{memory: memory, userID: user, sessionID: user + "/" + said.day}
		answered, err := agent.turn(ctx, said.question)
		if err != nil {
			return err
		}
		fmt.Printf("%-8s user:  %s\n", said.day, said.question)
		fmt.Printf("%-8s agent: %s\n", "", answered)
	}
	return nil
}
