// Package conversion converts messages of OpenAI and Anthropic to messages of the sidecar, and contexts to requests.
// It needs no package of a provider.
//
//	messages, err := conversion.MessagesFromOpenAI(said)
//	memory.AddBatch(ctx, &pb.AddBatchRequest{UserId: "ana", SessionId: "s1", Messages: messages})
//	request["messages"] = conversion.OpenAIMessages(built)
//
// Input is anything that [encoding/json] marshals to the format: maps and slices, raw JSON, or the types of a
// provider's package. Output is maps and slices.
//
// Parts that the sidecar cannot store, such as images, are stored as their type: "[image]". A message without text is
// stored as "[empty]". A tool result that is an error has is_error in its metadata. Reasoning is stored without
// signatures, and not sent. Keys of the input of an Anthropic call are sorted, because Go's maps have no order.
package conversion
