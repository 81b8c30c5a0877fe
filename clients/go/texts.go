package memsidecar

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// checkTexts looks at every text of a request before it is sent: gRPC would find one that is no UTF-8 only when it has a
// connection, and would not say where it is.
func checkTexts(request proto.Message) *Error {
	if path, found := brokenText(request.ProtoReflect()); found {
		return brokenTextError(strings.TrimPrefix(path, "."))
	}
	return nil
}

// brokenText gives the path of the first text in a message that is no UTF-8. It is put together on the way back, so that
// good texts cost nothing but to be looked at.
func brokenText(message protoreflect.Message) (path string, found bool) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !holdsText(field) || !message.Has(field) {
			continue
		}
		if rest, found := brokenField(field, message.Get(field)); found {
			return nameOf(field) + rest, true
		}
	}
	return "", false
}

func brokenField(field protoreflect.FieldDescriptor, value protoreflect.Value) (path string, found bool) {
	switch {
	case field.IsMap():
		return brokenEntry(field, value.Map())
	case field.IsList():
		return brokenItem(field, value.List())
	}
	return brokenValue(field, value)
}

// brokenEntry does not name a key that is no text itself.
func brokenEntry(field protoreflect.FieldDescriptor, entries protoreflect.Map) (path string, found bool) {
	entries.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		if _, found = brokenValue(field.MapKey(), key.Value()); found {
			return false
		}
		if path, found = brokenValue(field.MapValue(), value); found {
			path = "." + key.String() + path
		}
		return !found
	})
	return path, found
}

func brokenItem(field protoreflect.FieldDescriptor, items protoreflect.List) (path string, found bool) {
	for i := range items.Len() {
		if path, found = brokenValue(field, items.Get(i)); found {
			return "[" + strconv.Itoa(i) + "]" + path, true
		}
	}
	return "", false
}

func brokenValue(field protoreflect.FieldDescriptor, value protoreflect.Value) (path string, found bool) {
	switch field.Kind() {
	case protoreflect.StringKind:
		return "", !utf8.ValidString(value.String())
	case protoreflect.MessageKind:
		return brokenText(value.Message())
	}
	return "", false
}

func holdsText(field protoreflect.FieldDescriptor) bool {
	return field.Kind() == protoreflect.StringKind || field.Kind() == protoreflect.MessageKind
}

// nameOf is the field's part of a path. Those of protobuf's own Struct and Value have none: a caller that fills
// metadata does not see them.
func nameOf(field protoreflect.FieldDescriptor) string {
	if field.ParentFile().Package() == "google.protobuf" {
		return ""
	}
	return "." + string(field.Name())
}
