package langchaingo

import (
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
	"google.golang.org/protobuf/types/known/structpb"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// metadataKey is the metadata key of extraFields.
const metadataKey = "langchaingo"

// extraFields are the fields of a langchaingo message that the contract lacks. Most messages have none.
type extraFields struct {
	// Type is that of a generic message, or of the result of a function.
	Type llms.ChatMessageType `json:"type,omitempty"`
	// Role is that of a generic message.
	Role string `json:"role,omitempty"`
	// Empty says that the text is.
	Empty bool `json:"empty,omitempty"`
	// FunctionCall says that the first call is of a function, and not of a tool.
	FunctionCall bool `json:"function_call,omitempty"`
	// Calls are those of tools that differ, by their places.
	Calls map[int]callFields `json:"calls,omitempty"`
}

type callFields struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// metadata is nil where there is nothing to keep.
func (m *extraFields) metadata() (*structpb.Struct, error) {
	text, err := json.Marshal(map[string]*extraFields{metadataKey: m})
	if err != nil || string(text) == `{"`+metadataKey+`":{}}` {
		return nil, err
	}
	metadata := &structpb.Struct{}
	return metadata, metadata.UnmarshalJSON(text)
}

// extraFieldsOf returns no fields if another program wrote different metadata.
func extraFieldsOf(message *pb.Message) extraFields {
	var found extraFields
	kept, ok := message.GetMetadata().GetFields()[metadataKey]
	if !ok {
		return found
	}
	text, err := kept.MarshalJSON()
	if err != nil || json.Unmarshal(text, &found) != nil {
		return extraFields{}
	}
	return found
}
