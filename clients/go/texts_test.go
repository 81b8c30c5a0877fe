package memsidecar

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

const broken = "a\xffb"

func metadata(key string, value *structpb.Value) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{"good": structpb.NewStringValue("good"), key: value}}
}

func TestATextThatIsNoUTF8IsNamedAtAnyDepth(t *testing.T) {
	list := structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{
		structpb.NewNullValue(), structpb.NewStructValue(metadata("deep", structpb.NewStringValue(broken))),
	}})
	for field, request := range map[string]proto.Message{
		"session_id":      &pb.AddRequest{SessionId: broken},
		"message.content": &pb.AddRequest{Message: UserMessage(broken)},
		"message.tool_calls[1].arguments_json": &pb.AddRequest{
			Message: AssistantMessage("", &pb.ToolCall{}, &pb.ToolCall{ArgumentsJson: broken}),
		},
		"messages[2].name":               &pb.AddBatchRequest{Messages: []*pb.Message{nil, {}, {Name: broken}}},
		"facts[0].source_message_ids[1]": &pb.PutFactsRequest{Facts: []*pb.Fact{{SourceMessageIds: []string{"good", broken}}}},
		"message.metadata.note":          &pb.AddRequest{Message: &pb.Message{Metadata: metadata("note", structpb.NewStringValue(broken))}},
		"message.metadata":               &pb.AddRequest{Message: &pb.Message{Metadata: metadata(broken, structpb.NewBoolValue(true))}},
		"metadata_filter.list[1].deep":   &pb.SearchRequest{MetadataFilter: metadata("list", list)},
		"record.message.content": &pb.ImportRequest{Record: &pb.ArchiveRecord{
			Record: &pb.ArchiveRecord_Message{Message: UserMessage(broken)},
		}},
	} {
		failed := checkTexts(request)
		if failed == nil || failed.Field != field || !strings.Contains(failed.Message, field) {
			t.Errorf("%s: %v", field, failed)
		}
	}
}

func TestGoodTextsAreLeftAlone(t *testing.T) {
	var none *pb.AddRequest
	for _, request := range []proto.Message{
		none, &pb.AddRequest{}, &pb.AddRequest{Message: UserMessage("21 °C, 👩‍👩‍👧, \x00")},
		&pb.AddBatchRequest{Messages: []*pb.Message{nil}},
		&pb.SearchRequest{MetadataFilter: &structpb.Struct{Fields: map[string]*structpb.Value{"none": nil}}},
	} {
		if failed := checkTexts(request); failed != nil {
			t.Errorf("%v: %v", request, failed)
		}
	}
}

// Nothing listens at the address, so a request that is sent fails differently.
func TestInvalidUTF8IsRejectedBeforeTheCall(t *testing.T) {
	client, err := New(WithAddress("127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = client.Add(t.Context(), &pb.AddRequest{Message: UserMessage(broken)})
	refusedFor(t, err, "message.content")
	_, err = client.ReportUsage(t.Context(), &pb.ReportUsageRequest{Model: broken})
	refusedFor(t, err, "model")
	refusedFor(t, endOf(client.Messages(t.Context(), &pb.GetAllRequest{SessionId: broken})), "session_id")
	refusedFor(t, endOf(client.Export(t.Context(), &pb.ExportRequest{Namespace: broken})), "namespace")
}

func TestABrokenTextEndsAStreamAndIsNotSent(t *testing.T) {
	client := serve(t, &fakeMemory{})
	requests := slices.Values([]*pb.AddStreamRequest{{SessionId: "s", Message: UserMessage(broken)}, said("2")})
	refusedFor(t, endOf(client.AddStream(t.Context(), requests)), "message.content")
}

func refusedFor(t *testing.T, err error, field string) {
	t.Helper()
	var failed *Error
	if !errors.Is(err, ErrInvalidField) || !errors.As(err, &failed) || failed.Field != field {
		t.Errorf("%s: %v", field, err)
	}
}

func endOf[Item any](items iter.Seq2[Item, error]) (end error) {
	for _, err := range items {
		end = err
	}
	return end
}

func BenchmarkGoodTexts(b *testing.B) {
	request := &pb.AddRequest{SessionId: "s", UserId: "ana", Message: UserMessage(strings.Repeat("good ", 100))}
	b.ReportAllocs()
	for b.Loop() {
		if checkTexts(request) != nil {
			b.Fatal("refused")
		}
	}
}
