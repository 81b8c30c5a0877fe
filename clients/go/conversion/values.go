package conversion

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// emptyText is the content of a message without any text: the sidecar stores no empty one, except with tool calls.
const emptyText = "[empty]"

// isErrorKey is the metadata key of a tool result that is an error; only Anthropic's format has a field for it.
const isErrorKey = "is_error"

// Error is about input that is not of the format. Nothing was converted.
type Error struct {
	// Field is the path of the wrong value, as in "messages[3].tool_calls[0].function.name".
	Field string
	// Problem is for people; it may change.
	Problem string
}

func (e *Error) Error() string {
	return e.Field + ": " + e.Problem
}

// value is a part of the input. Absent fields are null.
type value struct {
	json any
	path string
}

func valueOf(input any, path string) (value, error) {
	encoded, err := json.Marshal(input)
	if err != nil {
		return value{}, &Error{Field: path, Problem: "is not JSON: " + err.Error()}
	}
	decoded, err := decode(string(encoded))
	if err != nil {
		return value{}, &Error{Field: path, Problem: "is not JSON: " + err.Error()}
	}
	return value{decoded, path}, nil
}

// decode keeps numbers as they are written.
func decode(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text after the value")
	}
	return decoded, nil
}

func (v value) isNull() bool {
	return v.json == nil
}

func (v value) isList() bool {
	_, ok := v.json.([]any)
	return ok
}

func (v value) field(name string) (value, error) {
	object, ok := v.json.(map[string]any)
	if !ok {
		return value{}, v.wrong("an object")
	}
	return value{object[name], v.path + "." + name}, nil
}

func (v value) items() ([]value, error) {
	list, ok := v.json.([]any)
	if !ok {
		return nil, v.wrong("a list")
	}
	items := make([]value, len(list))
	for i, item := range list {
		items[i] = value{item, fmt.Sprintf("%s[%d]", v.path, i)}
	}
	return items, nil
}

func (v value) text() (string, error) {
	text, ok := v.json.(string)
	if !ok {
		return "", v.wrong("a text")
	}
	return text, nil
}

func (v value) optionalText() (string, error) {
	if v.isNull() {
		return "", nil
	}
	return v.text()
}

// filledText is a text that the contract requires, as ids and names of tools.
func (v value) filledText() (string, error) {
	text, err := v.text()
	if err == nil && text == "" {
		err = v.problem("a text is required, not an empty one")
	}
	return text, err
}

func (v value) oneOf(names ...string) (string, error) {
	text, err := v.text()
	if err == nil && !slices.Contains(names, text) {
		err = v.problem(fmt.Sprintf(`"%s" is none of %s`, text, strings.Join(names, ", ")))
	}
	return text, err
}

// checkDistinct gives an error if two calls of a message have the same id: a result would belong to either.
func checkDistinct(calls []value) error {
	seen := make(map[any]bool, len(calls))
	for _, call := range calls {
		id, err := call.field("id")
		if err != nil {
			return err
		}
		if seen[id.json] {
			return id.problem(fmt.Sprintf(`"%s" is the id of an earlier call of the message`, id.json))
		}
		seen[id.json] = true
	}
	return nil
}

// The fields of an object, each by its kind of text.

func (v value) textAt(name string) (string, error) {
	field, err := v.field(name)
	if err != nil {
		return "", err
	}
	return field.text()
}

func (v value) optionalTextAt(name string) (string, error) {
	field, err := v.field(name)
	if err != nil {
		return "", err
	}
	return field.optionalText()
}

func (v value) filledTextAt(name string) (string, error) {
	field, err := v.field(name)
	if err != nil {
		return "", err
	}
	return field.filledText()
}

func (v value) oneOfAt(name string, names ...string) (string, error) {
	field, err := v.field(name)
	if err != nil {
		return "", err
	}
	return field.oneOf(names...)
}

func (v value) problem(problem string) error {
	return &Error{Field: v.path, Problem: problem}
}

func (v value) wrong(required string) error {
	return v.problem(required + " is required, not " + kindOf(v.json))
}

func kindOf(json any) string {
	switch json.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "a number"
}

// piece is the text of one part. A part that cannot be stored, as an image, has its type as a placeholder.
type piece struct {
	text        string
	placeholder bool
}

func placeholder(kind string) piece {
	return piece{"[" + kind + "]", true}
}

// joined puts each piece on its own line. Texts of a model are joined: it splits them at citations.
func joined(pieces []piece, model bool) string {
	var text strings.Builder
	previous := piece{placeholder: true}
	for _, next := range pieces {
		if next.text == "" {
			continue
		}
		continues := model && !next.placeholder && !previous.placeholder
		if text.Len() > 0 && !continues {
			text.WriteByte('\n')
		}
		text.WriteString(next.text)
		previous = next
	}
	return text.String()
}

// encode gives compact JSON.
func encode(decoded any) (string, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(decoded)
	return strings.TrimSuffix(buffer.String(), "\n"), err
}

// objectOf is the JSON object in a text; any other text becomes the value of a key.
func objectOf(text, otherwise string) map[string]any {
	decoded, err := decode(text)
	if err != nil {
		decoded = text
	}
	if object, ok := decoded.(map[string]any); ok {
		return object
	}
	return map[string]any{otherwise: decoded}
}
