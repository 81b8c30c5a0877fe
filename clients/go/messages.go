package memsidecar

import pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"

// SystemMessage is an instruction to the model.
func SystemMessage(content string) *pb.Message {
	return &pb.Message{Role: pb.Role_ROLE_SYSTEM, Content: content}
}

// UserMessage is something that the user said. It begins a turn.
func UserMessage(content string) *pb.Message {
	return &pb.Message{Role: pb.Role_ROLE_USER, Content: content}
}

// AssistantMessage is something that the model said, the tools that it calls, or both.
func AssistantMessage(content string, calls ...*pb.ToolCall) *pb.Message {
	return &pb.Message{Role: pb.Role_ROLE_ASSISTANT, Content: content, ToolCalls: calls}
}

// ToolMessage is the result of a tool: the answer to one call of an earlier assistant message.
func ToolMessage(call *pb.ToolCall, content string) *pb.Message {
	return &pb.Message{Role: pb.Role_ROLE_TOOL, Content: content, Name: call.GetName(), ToolCallId: call.GetId()}
}
