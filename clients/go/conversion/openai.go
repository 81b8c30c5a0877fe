package conversion

import pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"

var openAIRoles = map[string]pb.Role{
	"system":    pb.Role_ROLE_SYSTEM,
	"developer": pb.Role_ROLE_SYSTEM,
	"user":      pb.Role_ROLE_USER,
	"assistant": pb.Role_ROLE_ASSISTANT,
	"tool":      pb.Role_ROLE_TOOL,
}

var openAINames = map[pb.Role]string{
	pb.Role_ROLE_SYSTEM:    "system",
	pb.Role_ROLE_USER:      "user",
	pb.Role_ROLE_ASSISTANT: "assistant",
}

// openAITexts are the parts that are text, with the key of their text.
var openAITexts = map[string]string{
	"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal",
}

// MessagesFromOpenAI gives messages to add, one for each message of chat completions. The role "developer" is stored
// as system. The text of reasoning_content or reasoning becomes the reasoning. The deprecated role "function" and
// function_call are errors, as is everything that is not of the format: an [*Error].
func MessagesFromOpenAI(messages any) ([]*pb.Message, error) {
	given, err := valueOf(messages, "messages")
	if err != nil {
		return nil, err
	}
	return each(given, messageFromOpenAI)
}

// OpenAIMessages gives the messages of a request to chat completions.
func OpenAIMessages(context *pb.BuildContextResponse) []map[string]any {
	messages := []map[string]any{}
	for _, step := range stepsOf(context) {
		message := map[string]any{"role": openAINames[step.role], "content": step.text}
		messages = append(messages, message)
		if len(step.calls) == 0 {
			continue
		}
		if step.text == "" {
			message["content"] = nil
		}
		calls := make([]map[string]any, len(step.calls))
		for i, call := range step.calls {
			function := map[string]any{"name": call.name, "arguments": call.arguments}
			calls[i] = map[string]any{"id": call.id, "type": "function", "function": function}
			result := map[string]any{"role": "tool", "tool_call_id": call.id, "content": call.result}
			messages = append(messages, result)
		}
		message["tool_calls"] = calls
	}
	return messages
}

// OpenAIInput gives the input of a request to the Responses API, in which calls and results are separate items.
func OpenAIInput(context *pb.BuildContextResponse) []map[string]any {
	items := []map[string]any{}
	for _, step := range stepsOf(context) {
		if step.text != "" {
			items = append(items, map[string]any{"role": openAINames[step.role], "content": step.text})
		}
		for _, call := range step.calls {
			items = append(items, map[string]any{
				"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments,
			})
		}
		for _, call := range step.calls {
			items = append(items, map[string]any{
				"type": "function_call_output", "call_id": call.id, "output": call.result,
			})
		}
	}
	return items
}

func messageFromOpenAI(given value) (*pb.Message, error) {
	role, err := given.oneOfAt("role", "system", "developer", "user", "assistant", "tool")
	if err != nil {
		return nil, err
	}
	message := &pb.Message{Role: openAIRoles[role]}
	if message.Name, err = given.optionalTextAt("name"); err != nil {
		return nil, err
	}
	if message.Content, err = openAIContent(given, message.Role); err != nil {
		return nil, err
	}
	if message.Role == pb.Role_ROLE_ASSISTANT {
		err = fillAssistant(message, given)
	} else {
		err = rejectCalls(given)
	}
	if err == nil && message.Role == pb.Role_ROLE_TOOL {
		message.ToolCallId, err = given.filledTextAt("tool_call_id")
	}
	if err != nil {
		return nil, err
	}
	if message.Content == "" && len(message.ToolCalls) == 0 {
		message.Content = emptyText
	}
	return message, nil
}

func rejectCalls(given value) error {
	calls, err := given.field("tool_calls")
	if list, isList := calls.json.([]any); calls.isNull() || isList && len(list) == 0 {
		return err
	}
	return calls.problem("only an assistant message has tool calls")
}

func openAIContent(given value, role pb.Role) (string, error) {
	content, err := given.field("content")
	if err != nil {
		return "", err
	}
	switch found := content.json.(type) {
	case string:
		return found, nil
	case []any:
		pieces, err := each(content, openAIPiece)
		return joined(pieces, role == pb.Role_ROLE_ASSISTANT), err
	case nil:
		if role == pb.Role_ROLE_ASSISTANT {
			return "", nil
		}
	}
	return "", content.wrong("a text or a list of parts")
}

func openAIPiece(part value) (piece, error) {
	kind, err := part.filledTextAt("type")
	if err != nil {
		return piece{}, err
	}
	key, isText := openAITexts[kind]
	if !isText {
		return placeholder(kind), nil
	}
	text, err := part.textAt(key)
	return piece{text: text}, err
}

func fillAssistant(message *pb.Message, given value) error {
	function, err := given.field("function_call")
	if err != nil {
		return err
	}
	if !function.isNull() {
		return function.problem("function_call is not supported; use tool_calls")
	}
	if message.Content == "" {
		if message.Content, err = refusalOrAudio(given); err != nil {
			return err
		}
	}
	for _, key := range []string{"reasoning_content", "reasoning"} {
		thought, _ := given.field(key)
		if text, isText := thought.json.(string); isText && message.Reasoning == "" {
			message.Reasoning = text
		}
	}
	calls, _ := given.field("tool_calls")
	if calls.isNull() {
		return nil
	}
	if message.ToolCalls, err = each(calls, callFromOpenAI); err != nil {
		return err
	}
	items, _ := calls.items()
	return checkDistinct(items)
}

// refusalOrAudio is what an answer without content says.
func refusalOrAudio(given value) (string, error) {
	refusal, err := given.optionalTextAt("refusal")
	if err != nil || refusal != "" {
		return refusal, err
	}
	audio, _ := given.field("audio")
	if audio.isNull() {
		return "", nil
	}
	transcript, err := audio.optionalTextAt("transcript")
	if err == nil && transcript == "" {
		transcript = placeholder("audio").text
	}
	return transcript, err
}

func callFromOpenAI(given value) (*pb.ToolCall, error) {
	id, err := given.filledTextAt("id")
	if err != nil {
		return nil, err
	}
	kind := "function"
	if named, _ := given.field("type"); !named.isNull() {
		if kind, err = named.oneOf("function", "custom"); err != nil {
			return nil, err
		}
	}
	called, _ := given.field(kind)
	key := map[string]string{"function": "arguments", "custom": "input"}[kind]
	arguments, err := called.optionalTextAt(key)
	if err != nil {
		return nil, err
	}
	name, err := called.filledTextAt("name")
	return &pb.ToolCall{Id: id, Name: name, ArgumentsJson: arguments}, err
}

func each[Converted any](list value, convert func(value) (Converted, error)) ([]Converted, error) {
	items, err := list.items()
	if err != nil {
		return nil, err
	}
	converted := make([]Converted, len(items))
	for i, item := range items {
		if converted[i], err = convert(item); err != nil {
			return nil, err
		}
	}
	return converted, nil
}
