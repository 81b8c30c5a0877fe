package memsidecar

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

func said(id string) *pb.AddStreamRequest {
	return &pb.AddStreamRequest{SessionId: "s", Message: &pb.Message{Id: id, Role: pb.Role_ROLE_USER, Content: "hello"}}
}

// many gives requests with the ids 1, 2, 3 ... without an end.
func many(yield func(*pb.AddStreamRequest) bool) {
	for i := 1; yield(said(fmt.Sprint(i))); i++ {
	}
}

func TestARequestMayWaitForTheAnswerBeforeIt(t *testing.T) {
	client := serve(t, &fakeMemory{})
	answered := make(chan string, 1)
	requests := func(yield func(*pb.AddStreamRequest) bool) {
		for request := said("0"); yield(request); request = said(<-answered + "0") {
			if len(request.Message.Id) == 4 {
				return
			}
		}
	}
	var found []string
	for answer, err := range client.AddStream(t.Context(), requests) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, answer.Result.MessageId)
		answered <- answer.Result.MessageId
	}
	if fmt.Sprint(found) != "[0 00 000 0000]" {
		t.Errorf("%v", found)
	}
}

func TestLeavingTheLoopEndsTheStream(t *testing.T) {
	client := serve(t, &fakeMemory{})
	ended := make(chan struct{})
	requests := func(yield func(*pb.AddStreamRequest) bool) {
		defer close(ended)
		many(yield)
	}
	for answer, err := range client.AddStream(t.Context(), requests) {
		if err != nil || answer.Result.MessageId == "10" {
			break
		}
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the requests go on")
	}
}

func TestAStreamThatEndsTooSoonResumes(t *testing.T) {
	memory := &fakeMemory{}
	memory.endEarly.Store(1)
	client := serve(t, memory)
	requests := func(yield func(*pb.AddStreamRequest) bool) {
		for i := range 3 {
			if !yield(said(fmt.Sprint(i))) {
				return
			}
		}
	}
	var found []string
	for answer, err := range client.AddStream(t.Context(), requests) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, answer.Result.MessageId)
	}
	if fmt.Sprint(found) != "[0 1 2]" {
		t.Errorf("%v", found)
	}
}

func TestAStreamWithoutRequestsIsOver(t *testing.T) {
	client := serve(t, &fakeMemory{})
	for answer, err := range client.AddStream(t.Context(), func(func(*pb.AddStreamRequest) bool) {}) {
		t.Errorf("%v, %v", answer, err)
	}
}

func TestARequestThatCannotBeWrittenEndsItsStream(t *testing.T) {
	client := serve(t, &fakeMemory{})
	requests := func(yield func(*pb.AddStreamRequest) bool) {
		yield(&pb.AddStreamRequest{SessionId: "s", Message: UserMessage("\xff")})
	}
	errs := 0
	for _, err := range client.AddStream(t.Context(), requests) {
		if errs++; !errors.Is(err, ErrInvalidField) {
			t.Errorf("%v", err)
		}
	}
	if errs != 1 {
		t.Errorf("%d errors", errs)
	}
}

func TestAContextEndsAStream(t *testing.T) {
	client := serve(t, &fakeMemory{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for answer, err := range client.AddStream(ctx, many) {
		if last = err; answer.GetResult().GetMessageId() == "5" {
			cancel()
		}
	}
	if !errors.Is(last, ErrCanceled) || !errors.Is(last, context.Canceled) {
		t.Errorf("%v", last)
	}
}

func TestARequestMayBeUsedAgain(t *testing.T) {
	client := serve(t, &fakeMemory{})
	for _, given := range []bool{true, false} {
		requests := func(yield func(*pb.AddStreamRequest) bool) {
			request := said("")
			for i := range 200 {
				if given {
					request.Message.Id = fmt.Sprint(i)
				}
				if !yield(request) {
					return
				}
			}
		}
		found := map[string]bool{}
		for answer, err := range client.AddStream(t.Context(), requests) {
			if err != nil {
				t.Fatal(err)
			}
			found[answer.Result.MessageId] = true
		}
		if len(found) != 200 {
			t.Errorf("%d different messages of 200", len(found))
		}
	}
}

func TestAPanicOfTheRequestsReachesTheCaller(t *testing.T) {
	client := serve(t, &fakeMemory{})
	silence := said("1")
	silence.Message.Content = "silence"
	for _, before := range []*pb.AddStreamRequest{said("1"), silence} {
		requests := func(yield func(*pb.AddStreamRequest) bool) {
			yield(before)
			panic("no more")
		}
		func() {
			defer func() {
				if found := recover(); found != "no more" {
					t.Errorf("%v", found)
				}
			}()
			for _, err := range client.AddStream(t.Context(), requests) {
				if err != nil {
					t.Error(err)
				}
			}
			t.Error("the stream went on")
		}()
	}
}

func TestAPanicOfAnImportReachesTheCaller(t *testing.T) {
	client := serve(t, &fakeMemory{})
	defer func() {
		if recover() == nil {
			t.Error("the stream went on")
		}
	}()
	silence := func(func(*pb.ImportRequest) bool) { panic("no more") }
	for answer, err := range client.Import(t.Context(), silence) {
		t.Errorf("%v, %v", answer, err)
	}
}
