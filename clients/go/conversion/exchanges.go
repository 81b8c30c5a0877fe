package conversion

import (
	"strconv"
	"strings"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

const (
	noResult     = "[no result was recorded]"
	beginning    = "(The conversation begins.)"
	maxIDChars   = 40
	maxNameChars = 64
)

type call struct {
	id, name, arguments string
	result              string
	isError             bool
}

// step is one message with its calls. stable: it belongs to the prefix that stays the same in the next turn.
type step struct {
	role   pb.Role
	text   string
	stable bool
	calls  []*call
}

// stepsOf brings the messages of a context into the order that providers require. The sidecar keeps messages in the
// order of their arrival. Providers are stricter: results directly follow the message with the calls, each call has one
// result, and ids do not repeat. So a late result moves up to its call, a call without a result gets noResult, a result
// without a call becomes a user message, and an id that is repeated, too long or contains special characters is
// replaced.
func stepsOf(context *pb.BuildContextResponse) []step {
	var steps []step
	open := map[string][]*call{}
	ids := map[string]bool{}
	for i, message := range context.GetMessages() {
		stable := i < int(context.GetStablePrefixCount())
		if message.GetRole() != pb.Role_ROLE_TOOL {
			next := step{role: roleOf(message), text: textOf(message), stable: stable}
			for _, given := range message.GetToolCalls() {
				made := callOf(given, ids)
				next.calls = append(next.calls, made)
				open[given.GetId()] = append(open[given.GetId()], made)
			}
			steps = append(steps, next)
			continue
		}
		calls := open[message.GetToolCallId()]
		if len(calls) == 0 {
			text := "Result of a tool: " + message.GetContent()
			steps = append(steps, step{role: pb.Role_ROLE_USER, text: text, stable: stable})
			continue
		}
		answered := calls[len(calls)-1]
		open[message.GetToolCallId()] = calls[:len(calls)-1]
		answered.result = message.GetContent()
		answered.isError = message.GetMetadata().GetFields()[isErrorKey].GetBoolValue()
	}
	return steps
}

// roleOf gives the user's role for one that a later contract adds.
func roleOf(message *pb.Message) pb.Role {
	switch role := message.GetRole(); role {
	case pb.Role_ROLE_SYSTEM, pb.Role_ROLE_ASSISTANT:
		return role
	}
	return pb.Role_ROLE_USER
}

// textOf begins with the speaker's name, because most providers have no field for it.
func textOf(message *pb.Message) string {
	if message.GetName() != "" && roleOf(message) == pb.Role_ROLE_USER {
		return message.GetName() + ": " + message.GetContent()
	}
	return message.GetContent()
}

func callOf(given *pb.ToolCall, ids map[string]bool) *call {
	made := &call{
		id:        uniqueID(given.GetId(), ids),
		name:      plain(given.GetName(), maxNameChars),
		arguments: given.GetArgumentsJson(),
		result:    noResult,
	}
	if made.name == "" {
		made.name = "tool"
	}
	if strings.TrimSpace(made.arguments) == "" {
		made.arguments = "{}"
	}
	return made
}

func uniqueID(id string, ids map[string]bool) string {
	base := plain(id, maxIDChars)
	if base == "" {
		base = "call"
	}
	unique := base
	for number := 2; ids[unique]; number++ {
		suffix := "_" + strconv.Itoa(number)
		unique = base[:min(len(base), maxIDChars-len(suffix))] + suffix
	}
	ids[unique] = true
	return unique
}

// plain writes the text in the characters that all providers accept.
func plain(text string, maxChars int) string {
	replaced := strings.Map(func(char rune) rune {
		switch {
		case 'a' <= char && char <= 'z', 'A' <= char && char <= 'Z', '0' <= char && char <= '9', char == '_', char == '-':
			return char
		}
		return '_'
	}, text)
	return replaced[:min(len(replaced), maxChars)]
}
