package conversion

import (
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

var anthropicRoles = map[string]pb.Role{
	"user":      pb.Role_ROLE_USER,
	"assistant": pb.Role_ROLE_ASSISTANT,
	"system":    pb.Role_ROLE_SYSTEM,
}

// blockOwners are the blocks of one role only.
var blockOwners = map[string]string{
	"tool_use": "assistant", "thinking": "assistant", "redacted_thinking": "assistant", "tool_result": "user",
}

// MessagesFromAnthropic gives messages to add; system, unless nil, becomes the first. Each tool result becomes a
// message of its own. Thinking becomes the reasoning, redacted thinking is left out. What is not of the format is an
// [*Error].
func MessagesFromAnthropic(messages, system any) ([]*pb.Message, error) {
	instructions, err := valueOf(system, "system")
	if err != nil {
		return nil, err
	}
	converted := []*pb.Message{}
	if !instructions.isNull() {
		text, err := anthropicText(instructions)
		if err != nil {
			return nil, err
		}
		if text != "" {
			converted = append(converted, &pb.Message{Role: pb.Role_ROLE_SYSTEM, Content: text})
		}
	}
	given, err := valueOf(messages, "messages")
	if err != nil {
		return nil, err
	}
	lists, err := each(given, messagesOfAnthropic)
	for _, list := range lists {
		converted = append(converted, list...)
	}
	return converted, err
}

// AnthropicRequest is a part of a request to the Messages API, as maps.
type AnthropicRequest struct {
	System   []map[string]any `json:"system"`
	Messages []map[string]any `json:"messages"`
}

// AnthropicMessages gives system and messages of a request to the Messages API, with a cache breakpoint after each
// stable part. The stable system message becomes system. Retrieved memory, also a system message, becomes a text block
// of the newest user message: not every model accepts system messages elsewhere, and system stays the same for the
// cache.
func AnthropicMessages(context *pb.BuildContextResponse) AnthropicRequest {
	system := []map[string]any{}
	var turns turns
	var lastStable map[string]any
	for _, step := range stepsOf(context) {
		var text []map[string]any
		if strings.TrimSpace(step.text) != "" {
			text = append(text, map[string]any{"type": "text", "text": step.text})
		}
		if step.role == pb.Role_ROLE_SYSTEM && step.stable {
			system = append(system, text...)
			continue
		}
		if step.role == pb.Role_ROLE_ASSISTANT {
			turns.append("assistant", text)
		} else {
			turns.append("user", text)
		}
		// All results of parallel calls are in one message, before any text.
		var uses, results []map[string]any
		for _, call := range step.calls {
			uses = append(uses, useBlock(call))
			results = append(results, resultBlock(call))
		}
		turns.append("assistant", uses)
		turns.append("user", results)
		if step.stable {
			lastStable = turns.lastBlock()
		}
	}
	if len(system) > 0 {
		system[len(system)-1]["cache_control"] = map[string]any{"type": "ephemeral"}
	}
	if lastStable != nil {
		lastStable["cache_control"] = map[string]any{"type": "ephemeral"}
	}
	return AnthropicRequest{System: system, Messages: turns.messages()}
}

// turns are messages with alternating roles.
type turns []turn

type turn struct {
	role   string
	blocks []map[string]any
}

// append joins blocks of the same role to the last message.
func (t *turns) append(role string, blocks []map[string]any) {
	if len(blocks) == 0 {
		return
	}
	if last := len(*t) - 1; last >= 0 && (*t)[last].role == role {
		(*t)[last].blocks = append((*t)[last].blocks, blocks...)
		return
	}
	*t = append(*t, turn{role, blocks})
}

func (t turns) lastBlock() map[string]any {
	if len(t) == 0 {
		return nil
	}
	blocks := t[len(t)-1].blocks
	return blocks[len(blocks)-1]
}

// messages begin with the user's.
func (t turns) messages() []map[string]any {
	messages := []map[string]any{}
	if len(t) > 0 && t[0].role != "user" {
		blocks := []map[string]any{{"type": "text", "text": beginning}}
		messages = append(messages, map[string]any{"role": "user", "content": blocks})
	}
	for _, turn := range t {
		messages = append(messages, map[string]any{"role": turn.role, "content": turn.blocks})
	}
	return messages
}

func useBlock(call *call) map[string]any {
	input := objectOf(call.arguments, "arguments")
	return map[string]any{"type": "tool_use", "id": call.id, "name": call.name, "input": input}
}

func resultBlock(call *call) map[string]any {
	block := map[string]any{"type": "tool_result", "tool_use_id": call.id, "content": call.result}
	if call.isError {
		block["is_error"] = true
	}
	return block
}

func messagesOfAnthropic(given value) ([]*pb.Message, error) {
	role, err := given.oneOfAt("role", "user", "assistant", "system")
	if err != nil {
		return nil, err
	}
	content, _ := given.field("content")
	switch {
	case !content.isList():
		text, err := anthropicText(content)
		return []*pb.Message{{Role: anthropicRoles[role], Content: orEmpty(text)}}, err
	case role == "assistant":
		message, err := assistantFromAnthropic(content)
		return []*pb.Message{message}, err
	}
	return resultsAndTexts(content, role)
}

func assistantFromAnthropic(content value) (*pb.Message, error) {
	message := &pb.Message{Role: pb.Role_ROLE_ASSISTANT}
	var pieces, thoughts []piece
	var calls []value
	blocks, err := content.items()
	for _, block := range blocks {
		kind, kindErr := kindOfBlock(block, "assistant")
		if kindErr != nil {
			return nil, kindErr
		}
		switch kind {
		case "tool_use":
			var called *pb.ToolCall
			called, err = callFromAnthropic(block)
			message.ToolCalls = append(message.ToolCalls, called)
			calls = append(calls, block)
		case "thinking":
			var thought string
			thought, err = block.textAt("thinking")
			thoughts = append(thoughts, piece{text: thought})
		case "redacted_thinking":
		default:
			var next piece
			next, err = anthropicPiece(block, kind)
			pieces = append(pieces, next)
		}
		if err != nil {
			return nil, err
		}
	}
	message.Content = joined(pieces, true)
	message.Reasoning = joined(thoughts, false)
	if len(message.ToolCalls) == 0 {
		message.Content = orEmpty(message.Content)
	}
	if err == nil {
		err = checkDistinct(calls)
	}
	return message, err
}

// resultsAndTexts keeps the order of the blocks; texts between results are one message.
func resultsAndTexts(content value, role string) ([]*pb.Message, error) {
	var messages []*pb.Message
	var pieces []piece
	flush := func() {
		if text := joined(pieces, false); text != "" {
			messages = append(messages, &pb.Message{Role: anthropicRoles[role], Content: text})
		}
		pieces = nil
	}
	blocks, err := content.items()
	if err != nil {
		return nil, err
	}
	for _, block := range blocks {
		kind, err := kindOfBlock(block, role)
		if err != nil {
			return nil, err
		}
		if kind != "tool_result" {
			next, err := anthropicPiece(block, kind)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, next)
			continue
		}
		flush()
		result, err := resultFromAnthropic(block)
		if err != nil {
			return nil, err
		}
		messages = append(messages, result)
	}
	flush()
	if len(messages) == 0 {
		messages = append(messages, &pb.Message{Role: anthropicRoles[role], Content: emptyText})
	}
	return messages, nil
}

func resultFromAnthropic(block value) (*pb.Message, error) {
	isError, err := block.field("is_error")
	if err != nil {
		return nil, err
	}
	failed, isBoolean := isError.json.(bool)
	if !isBoolean && !isError.isNull() {
		return nil, isError.wrong("a boolean")
	}
	id, err := block.filledTextAt("tool_use_id")
	if err != nil {
		return nil, err
	}
	text := ""
	if content, _ := block.field("content"); !content.isNull() {
		if text, err = anthropicText(content); err != nil {
			return nil, err
		}
	}
	message := &pb.Message{Role: pb.Role_ROLE_TOOL, ToolCallId: id, Content: orEmpty(text)}
	if failed {
		fields := map[string]*structpb.Value{isErrorKey: structpb.NewBoolValue(true)}
		message.Metadata = &structpb.Struct{Fields: fields}
	}
	return message, nil
}

func callFromAnthropic(block value) (*pb.ToolCall, error) {
	input, err := block.field("input")
	if err != nil {
		return nil, err
	}
	object, isObject := input.json.(map[string]any)
	if !isObject && !input.isNull() {
		return nil, input.wrong("an object")
	}
	id, err := block.filledTextAt("id")
	if err != nil {
		return nil, err
	}
	name, err := block.filledTextAt("name")
	if err != nil {
		return nil, err
	}
	arguments := "{}"
	if isObject {
		arguments, err = encode(object)
	}
	return &pb.ToolCall{Id: id, Name: name, ArgumentsJson: arguments}, err
}

// anthropicText is the text of a content without tools.
func anthropicText(content value) (string, error) {
	switch found := content.json.(type) {
	case string:
		return found, nil
	case []any:
		pieces, err := each(content, func(block value) (piece, error) {
			kind, err := kindOfBlock(block, "")
			if err != nil {
				return piece{}, err
			}
			return anthropicPiece(block, kind)
		})
		return joined(pieces, false), err
	}
	return "", content.wrong("a text or a list of blocks")
}

func kindOfBlock(block value, role string) (string, error) {
	kind, err := block.filledTextAt("type")
	if err != nil {
		return "", err
	}
	if owner, owned := blockOwners[kind]; owned && owner != role {
		named, _ := block.field("type")
		return "", named.problem(`"` + kind + `" is only for the role ` + owner)
	}
	return kind, nil
}

func anthropicPiece(block value, kind string) (piece, error) {
	if kind != "text" {
		return placeholder(kind), nil
	}
	text, err := block.textAt("text")
	return piece{text: text}, err
}

func orEmpty(text string) string {
	if text == "" {
		return emptyText
	}
	return text
}
