package memsidecar

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

func TestTheCallersRequestStaysAsItIs(t *testing.T) {
	client := serve(t, &fakeMemory{})
	request := &pb.AddRequest{SessionId: "s", Message: UserMessage("hello")}
	one, err := client.Add(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	other, err := client.Add(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if request.Message.Id != "" || one.MessageId == other.MessageId || len(one.MessageId) != 36 {
		t.Errorf("%q, %q, %q", request.Message.Id, one.MessageId, other.MessageId)
	}
}

func TestARequestThatCannotBeWrittenIsNotSentAgain(t *testing.T) {
	client := serve(t, &fakeMemory{})
	// To connect takes its time.
	if _, err := client.Count(t.Context(), &pb.CountRequest{}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err := client.Add(t.Context(), &pb.AddRequest{SessionId: "s", Message: UserMessage("\xff")})
	if !errors.Is(err, ErrInvalidField) || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took > 300*time.Millisecond {
		t.Errorf("it took %v", took)
	}
}

func TestACancelledCallReturnsTheCause(t *testing.T) {
	client := serve(t, &fakeMemory{onCount: untilDone})
	why := errors.New("the user has left")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	_, err := client.Count(ctx, &pb.CountRequest{})
	for _, kind := range []error{ErrCanceled, context.Canceled, why} {
		if !errors.Is(err, kind) {
			t.Errorf("%v is not: %v", err, kind)
		}
	}
	if errors.Is(err, ErrClosed) || status.Code(err) != codes.Canceled {
		t.Errorf("%v", err)
	}
}

func TestTheTimeoutHoldsWhereTheContextHasNoDeadline(t *testing.T) {
	client := serve(t, &fakeMemory{onCount: untilDone}, WithTimeout(100*time.Millisecond))
	begin := time.Now()
	_, err := client.Count(t.Context(), &pb.CountRequest{})
	if !errors.Is(err, ErrDeadlineExceeded) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err = client.Count(ctx, &pb.CountRequest{}); !errors.Is(err, ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took < 400*time.Millisecond {
		t.Errorf("both took %v", took)
	}
}

func TestClosingAClientEndsWaitingCalls(t *testing.T) {
	called := make(chan struct{}, 1)
	memory := &fakeMemory{onCount: func(context.Context) error {
		called <- struct{}{}
		return overloadedFor(8 * time.Second)
	}}
	client := serve(t, memory)
	var begin time.Time
	go func() {
		<-called
		time.Sleep(100 * time.Millisecond) // it probably waits for the next attempt, for eight seconds
		begin = time.Now()
		client.Close()
	}()
	_, err := client.Count(t.Context(), &pb.CountRequest{})
	if !errors.Is(err, ErrClosed) || !errors.Is(err, ErrCanceled) || errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took > 6*time.Second || memory.counts.Load() != 1 {
		t.Errorf("it took %v and %d calls", took, memory.counts.Load())
	}
	if err := client.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if _, err := client.Count(t.Context(), &pb.CountRequest{}); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
	if err := client.WaitUntilReady(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}

func TestIDsAreUUIDsThatSortByWhenTheyWereMade(t *testing.T) {
	last := ""
	for range 20_000 {
		id := NewID()
		if len(id) != 36 || id[14] != '7' || !strings.ContainsRune("89ab", rune(id[19])) || id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
}

func TestNoIDIsMadeTwice(t *testing.T) {
	var seen sync.Map
	var making sync.WaitGroup
	for range 8 {
		making.Go(func() {
			for range 2_000 {
				id := NewID()
				if _, known := seen.LoadOrStore(id[:18], true); known {
					t.Errorf("%s has the time and count of another", id)
				}
			}
		})
	}
	making.Wait()
}

func TestACallWithoutAnIdempotencyKeyIsRetriedOnlyIfItWasRejected(t *testing.T) {
	for _, given := range []struct {
		answer error
		sent   int32
	}{{overloadedFor(time.Millisecond), 4}, {status.Error(codes.Unavailable, "lost"), 1}, {status.Error(codes.Internal, "lost"), 1}} {
		memory := &fakeMemory{onUsage: func(context.Context) error { return given.answer }}
		_, err := serve(t, memory).ReportUsage(t.Context(), &pb.ReportUsageRequest{})
		if err == nil || memory.usages.Load() != given.sent {
			t.Errorf("%v: %d times", err, memory.usages.Load())
		}
	}
}

func TestGRPCsOwnSizeLimitIsErrTooLarge(t *testing.T) {
	client := serve(t, &fakeMemory{})
	text := strings.Repeat("x", 5<<20)
	_, err := client.Add(t.Context(), &pb.AddRequest{SessionId: "s", Message: UserMessage(text)})
	var failed *Error
	if !errors.Is(err, ErrTooLarge) || !errors.As(err, &failed) || failed.Reason != "" {
		t.Errorf("%.200v", err)
	}
}

func TestTheTLSHintAppearsOnlyIfTheServerClosedTheConnection(t *testing.T) {
	web, safe := httptest.NewServer(nil), httptest.NewTLSServer(nil)
	safe.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer web.Close()
	defer safe.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for address, guessed := range map[net.Addr]bool{
		silent.Addr(): false, web.Listener.Addr(): false, safe.Listener.Addr(): true,
	} {
		client, err := New(WithAddress(address.String()), WithAttempts(1))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		_, err = client.Count(t.Context(), &pb.CountRequest{})
		if !errors.Is(err, ErrUnreachable) || strings.Contains(err.Error(), "TLS") != guessed {
			t.Errorf("%v", err)
		}
	}
}
