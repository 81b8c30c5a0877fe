package conversion

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

type testCase struct {
	Name              string            `json:"name"`
	Messages          json.RawMessage   `json:"messages"`
	System            any               `json:"system"`
	Expected          []json.RawMessage `json:"expected"`
	Error             *Error            `json:"error"`
	StablePrefixCount int32             `json:"stable_prefix_count"`
	OpenAIMessages    any               `json:"openai_messages"`
	OpenAIInput       any               `json:"openai_input"`
	AnthropicMessages any               `json:"anthropic_messages"`
}

// cases runs a test for each case of a list in clients/scenarios/conversion.json, which all clients run.
func cases(t *testing.T, list string, run func(t *testing.T, given testCase)) {
	text, err := os.ReadFile("../../scenarios/conversion.json")
	if err != nil {
		t.Fatal(err)
	}
	var table map[string]json.RawMessage
	var found []testCase
	if err := errors.Join(json.Unmarshal(text, &table), json.Unmarshal(table[list], &found)); err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no cases")
	}
	for _, given := range found {
		t.Run(given.Name, func(t *testing.T) { run(t, given) })
	}
}

func verify(t *testing.T, given testCase, converted []*pb.Message, err error) {
	t.Helper()
	if given.Error != nil {
		var failed *Error
		if !errors.As(err, &failed) || *failed != *given.Error {
			t.Fatalf("got %v, expected %v", err, given.Error)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	expected := messagesOf(t, given.Expected)
	if len(converted) != len(expected) {
		t.Fatalf("got %v, expected %v", converted, expected)
	}
	for i, message := range converted {
		if !proto.Equal(comparable(message), comparable(expected[i])) {
			t.Errorf("got %v, expected %v", message, expected[i])
		}
	}
}

// comparable has the arguments of calls in one form, if they are JSON.
func comparable(message *pb.Message) *pb.Message {
	for _, call := range message.ToolCalls {
		if decoded, err := decode(call.ArgumentsJson); err == nil {
			call.ArgumentsJson, _ = encode(decoded)
		}
	}
	return message
}

func messagesOf(t *testing.T, given []json.RawMessage) []*pb.Message {
	t.Helper()
	messages := make([]*pb.Message, len(given))
	for i, text := range given {
		messages[i] = &pb.Message{}
		if err := protojson.Unmarshal(text, messages[i]); err != nil {
			t.Fatal(err)
		}
	}
	return messages
}

func sameJSON(t *testing.T, got, expected any) {
	t.Helper()
	if !reflect.DeepEqual(plainJSON(t, got), plainJSON(t, expected)) {
		t.Errorf("got %v, expected %v", plainJSON(t, got), plainJSON(t, expected))
	}
}

func plainJSON(t *testing.T, value any) (decoded any) {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err := errors.Join(err, json.Unmarshal(encoded, &decoded)); err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestMessagesOfOpenAIBecomeMessagesOrAnError(t *testing.T) {
	cases(t, "messages_from_openai", func(t *testing.T, given testCase) {
		converted, err := MessagesFromOpenAI(given.Messages)
		verify(t, given, converted, err)
	})
}

func TestMessagesOfAnthropicBecomeMessagesOrAnError(t *testing.T) {
	cases(t, "messages_from_anthropic", func(t *testing.T, given testCase) {
		converted, err := MessagesFromAnthropic(given.Messages, given.System)
		verify(t, given, converted, err)
	})
}

func TestAContextBecomesTheRequestsOfProviders(t *testing.T) {
	cases(t, "contexts", func(t *testing.T, given testCase) {
		var messages []json.RawMessage
		if err := json.Unmarshal(given.Messages, &messages); err != nil {
			t.Fatal(err)
		}
		context := &pb.BuildContextResponse{
			Messages: messagesOf(t, messages), StablePrefixCount: given.StablePrefixCount,
		}
		before := proto.Clone(context)
		sameJSON(t, OpenAIMessages(context), given.OpenAIMessages)
		sameJSON(t, OpenAIInput(context), given.OpenAIInput)
		sameJSON(t, AnthropicMessages(context), given.AnthropicMessages)
		if !proto.Equal(context, before) {
			t.Error("the context was changed")
		}
	})
}

func TestMessagesOfOpenAIReturnUnchanged(t *testing.T) {
	cases(t, "openai_round_trips", func(t *testing.T, given testCase) {
		converted, err := MessagesFromOpenAI(given.Messages)
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, OpenAIMessages(&pb.BuildContextResponse{Messages: converted}), given.Messages)
	})
}

func TestMessagesOfAnthropicReturnUnchanged(t *testing.T) {
	cases(t, "anthropic_round_trips", func(t *testing.T, given testCase) {
		converted, err := MessagesFromAnthropic(given.Messages, nil)
		if err != nil {
			t.Fatal(err)
		}
		request := AnthropicMessages(&pb.BuildContextResponse{Messages: converted})
		sameJSON(t, request.Messages, given.Messages)
		sameJSON(t, request.System, []any{})
	})
}

func TestMapsAndStructsAreConverted(t *testing.T) {
	type typed struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	for _, messages := range []any{
		[]map[string]any{{"role": "user", "content": "Hi"}},
		[]any{map[string]string{"role": "user", "content": "Hi"}},
		[]typed{{"user", "Hi"}},
	} {
		converted, err := MessagesFromOpenAI(messages)
		if err != nil || len(converted) != 1 || converted[0].Content != "Hi" {
			t.Errorf("%v: %v, %v", messages, converted, err)
		}
	}
}

func TestWhatIsNoJSONIsAnError(t *testing.T) {
	var failed *Error
	_, err := MessagesFromOpenAI([]any{func() {}})
	if !errors.As(err, &failed) || failed.Field != "messages" {
		t.Error(err)
	}
	_, err = MessagesFromAnthropic([]any{}, make(chan int))
	if !errors.As(err, &failed) || failed.Field != "system" {
		t.Error(err)
	}
}

func TestNumbersOfArgumentsStayExact(t *testing.T) {
	use := `[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"id":12345678901234567890}}]}]`
	converted, err := MessagesFromAnthropic(json.RawMessage(use), nil)
	if err != nil || converted[0].ToolCalls[0].ArgumentsJson != `{"id":12345678901234567890}` {
		t.Fatal(converted, err)
	}
	request, err := json.Marshal(AnthropicMessages(&pb.BuildContextResponse{Messages: converted}))
	if err != nil || !strings.Contains(string(request), "12345678901234567890") {
		t.Error(string(request), err)
	}
}

func TestArgumentsNestedTooDeeplyAreSentAsText(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	for _, arguments := range []string{deep, deep + strings.Repeat("]", 100_000)} {
		call := &pb.ToolCall{Id: "c1", Name: "run", ArgumentsJson: arguments}
		message := &pb.Message{Role: pb.Role_ROLE_ASSISTANT, ToolCalls: []*pb.ToolCall{call}}
		request := AnthropicMessages(&pb.BuildContextResponse{Messages: []*pb.Message{message}})
		block := request.Messages[1]["content"].([]map[string]any)[0]
		if !reflect.DeepEqual(block["input"], map[string]any{"arguments": arguments}) {
			t.Error("the arguments were changed")
		}
	}
}

func TestNoContextIsAnEmptyRequest(t *testing.T) {
	if len(OpenAIMessages(nil)) != 0 || len(AnthropicMessages(nil).Messages) != 0 {
		t.Error("a message of no context")
	}
}
