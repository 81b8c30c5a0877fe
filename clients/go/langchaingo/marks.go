package langchaingo

import (
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
	"google.golang.org/protobuf/types/known/structpb"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// metadataKey is where marks are kept.
const metadataKey = "langchaingo"

// marks are what a message of langchaingo has and the contract has no field for. Most messages have none.
type marks struct {
	// Type is that of a generic message, or of the result of a function.
	Type llms.ChatMessageType `json:"type,omitempty"`
	// Role is that of a generic message.
	Role string `json:"role,omitempty"`
	// Empty says that the text is.
	Empty bool `json:"empty,omitempty"`
	// FunctionCall says that the first call is of a function, and not of a tool.
	FunctionCall bool `json:"function_call,omitempty"`
	// Calls are those of tools that differ, by their places.
	Calls map[int]callMark `json:"calls,omitempty"`
}

type callMark struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// metadata is nil where there is nothing to keep.
func (m *marks) metadata() (*structpb.Struct, error) {
	text, err := json.Marshal(map[string]*marks{metadataKey: m})
	if err != nil || string(text) == `{"`+metadataKey+`":{}}` {
		return nil, err
	}
	metadata := &structpb.Struct{}
	return metadata, metadata.UnmarshalJSON(text)
}

// marksOf gives none where somebody else wrote the metadata, and wrote something else.
func marksOf(message *pb.Message) marks {
	var found marks
	kept, ok := message.GetMetadata().GetFields()[metadataKey]
	if !ok {
		return found
	}
	text, err := kept.MarshalJSON()
	if err != nil || json.Unmarshal(text, &found) != nil {
		return marks{}
	}
	return found
}
