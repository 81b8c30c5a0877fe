package langchaingo

import (
	"errors"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// emptyText stands for a text that is empty, where the contract wants one. A search finds it; a reader of the history
// gets the empty text back.
const emptyText = "(empty)"

var errNoFunction = errors.New("memsidecar: a call of a tool has no function with a name")

// Contents makes messages of the contract, such as those that BuildContext answers, into what llms.Model takes.
func Contents(messages []*pb.Message) []llms.MessageContent {
	contents := make([]llms.MessageContent, len(messages))
	for i, message := range messages {
		contents[i] = contentOf(message)
	}
	return contents
}

func contentOf(message *pb.Message) llms.MessageContent {
	switch found := fromContract(message).(type) {
	case llms.AIChatMessage:
		return llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: partsOf(found)}
	case llms.ToolChatMessage:
		response := llms.ToolCallResponse{ToolCallID: found.ID, Name: message.Name, Content: found.Content}
		return llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{response}}
	case llms.FunctionChatMessage:
		response := llms.ToolCallResponse{Name: found.Name, Content: found.Content}
		return llms.MessageContent{Role: llms.ChatMessageTypeFunction, Parts: []llms.ContentPart{response}}
	default:
		return llms.TextParts(found.GetType(), found.GetContent())
	}
}

func partsOf(message llms.AIChatMessage) []llms.ContentPart {
	var parts []llms.ContentPart
	if message.Content != "" {
		parts = append(parts, llms.TextPart(message.Content))
	}
	if message.FunctionCall != nil {
		parts = append(parts, llms.ToolCall{Type: "function", FunctionCall: message.FunctionCall})
	}
	for _, call := range message.ToolCalls {
		parts = append(parts, call)
	}
	return parts
}

func allToContract(messages []llms.ChatMessage) ([]*pb.Message, error) {
	converted := make([]*pb.Message, len(messages))
	for i, message := range messages {
		var err error
		if converted[i], err = toContract(message); err != nil {
			return nil, err
		}
	}
	return converted, nil
}

// toContract makes a message of the contract, with metadata for fields that the contract lacks.
func toContract(message llms.ChatMessage) (*pb.Message, error) {
	var found *pb.Message
	var extra extraFields
	var err error
	switch message := message.(type) {
	case llms.SystemChatMessage:
		found = &pb.Message{Role: pb.Role_ROLE_SYSTEM}
	case llms.HumanChatMessage:
		found = &pb.Message{Role: pb.Role_ROLE_USER}
	case llms.AIChatMessage:
		found = &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Reasoning: message.ReasoningContent}
		found.ToolCalls, extra, err = callsToContract(message)
	case llms.ToolChatMessage:
		found = &pb.Message{Role: pb.Role_ROLE_TOOL, ToolCallId: message.ID}
	case llms.FunctionChatMessage:
		found = &pb.Message{Role: pb.Role_ROLE_TOOL, Name: message.Name, ToolCallId: functionID(message.Name)}
		extra = extraFields{Type: llms.ChatMessageTypeFunction}
	case llms.GenericChatMessage:
		found = &pb.Message{Role: roleOf(message.Role), Name: message.Name}
		extra = extraFields{Type: llms.ChatMessageTypeGeneric, Role: message.Role}
	default:
		err = fmt.Errorf("memsidecar: %w: %T", llms.ErrUnexpectedChatMessageType, message)
	}
	if err != nil {
		return nil, err
	}
	found.Content = message.GetContent()
	if found.Content == "" && len(found.ToolCalls) == 0 {
		found.Content, extra.Empty = emptyText, true
	}
	found.Metadata, err = extra.metadata()
	return found, err
}

// fromContract returns the message as it was added, or the nearest langchaingo message for one that another program
// added.
func fromContract(message *pb.Message) llms.ChatMessage {
	extra, content := extraFieldsOf(message), message.Content
	if extra.Empty {
		content = ""
	}
	if extra.Type == llms.ChatMessageTypeGeneric {
		return llms.GenericChatMessage{Content: content, Role: extra.Role, Name: message.Name}
	}
	switch message.Role {
	case pb.Role_ROLE_SYSTEM:
		return llms.SystemChatMessage{Content: content}
	case pb.Role_ROLE_ASSISTANT:
		return assistantFromContract(message, content, extra)
	case pb.Role_ROLE_TOOL:
		if extra.Type == llms.ChatMessageTypeFunction {
			return llms.FunctionChatMessage{Name: message.Name, Content: content}
		}
		return llms.ToolChatMessage{ID: message.ToolCallId, Content: content}
	default:
		return llms.HumanChatMessage{Content: content}
	}
}

func assistantFromContract(message *pb.Message, content string, extra extraFields) llms.AIChatMessage {
	found := llms.AIChatMessage{Content: content, ReasoningContent: message.Reasoning}
	calls := message.ToolCalls
	if extra.FunctionCall && len(calls) > 0 {
		found.FunctionCall, calls = functionOf(calls[0]), calls[1:]
	}
	for i, call := range calls {
		made := llms.ToolCall{ID: call.Id, Type: "function", FunctionCall: functionOf(call)}
		if mark, ok := extra.Calls[i]; ok {
			made.ID, made.Type = mark.ID, mark.Type
		}
		found.ToolCalls = append(found.ToolCalls, made)
	}
	return found
}

// callsToContract puts the call of a function, as models had it before they had tools, before the calls of tools.
func callsToContract(message llms.AIChatMessage) ([]*pb.ToolCall, extraFields, error) {
	var calls []*pb.ToolCall
	extra := extraFields{FunctionCall: message.FunctionCall != nil, Calls: map[int]callFields{}}
	if extra.FunctionCall {
		calls = append(calls, callToContract(functionID(message.FunctionCall.Name), message.FunctionCall))
	}
	for i, call := range message.ToolCalls {
		if call.FunctionCall == nil || call.FunctionCall.Name == "" {
			return nil, extra, errNoFunction
		}
		id := call.ID
		if id == "" {
			id = fmt.Sprintf("call-%d", i)
		}
		if id != call.ID || call.Type != "function" {
			extra.Calls[i] = callFields{ID: call.ID, Type: call.Type}
		}
		calls = append(calls, callToContract(id, call.FunctionCall))
	}
	return calls, extra, nil
}

func callToContract(id string, function *llms.FunctionCall) *pb.ToolCall {
	return &pb.ToolCall{Id: id, Name: function.Name, ArgumentsJson: function.Arguments}
}

func functionOf(call *pb.ToolCall) *llms.FunctionCall {
	return &llms.FunctionCall{Name: call.Name, Arguments: call.ArgumentsJson}
}

// functionID holds the call of a function and its result together, which have no id of their own.
func functionID(name string) string {
	return "function-" + name
}

// roleOf returns the nearest role of the contract.
func roleOf(role string) pb.Role {
	switch role {
	case "system":
		return pb.Role_ROLE_SYSTEM
	case "assistant", "ai":
		return pb.Role_ROLE_ASSISTANT
	}
	return pb.Role_ROLE_USER
}
