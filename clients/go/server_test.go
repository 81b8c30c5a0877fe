package memsidecar

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// fakeMemory answers a few calls without storing anything, for what no scenario can see.
type fakeMemory struct {
	pb.UnimplementedMemoryServiceServer

	counts  atomic.Int32
	onCount func(context.Context) error
	usages  atomic.Int32
	onUsage func(context.Context) error
	// endEarly streams end well after one answer.
	endEarly atomic.Int32
}

func (f *fakeMemory) Add(_ context.Context, request *pb.AddRequest) (*pb.AddResponse, error) {
	return &pb.AddResponse{MessageId: request.Message.Id}, nil
}

func (f *fakeMemory) Count(ctx context.Context, _ *pb.CountRequest) (*pb.CountResponse, error) {
	f.counts.Add(1)
	if f.onCount != nil {
		return nil, f.onCount(ctx)
	}
	return &pb.CountResponse{}, nil
}

func (f *fakeMemory) ReportUsage(ctx context.Context, _ *pb.ReportUsageRequest) (*pb.ReportUsageResponse, error) {
	f.usages.Add(1)
	return nil, f.onUsage(ctx)
}

func (f *fakeMemory) AddStream(stream grpc.BidiStreamingServer[pb.AddStreamRequest, pb.AddStreamResponse]) error {
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if request.Message.Content == "silence" {
			continue
		}
		if err := stream.Send(&pb.AddStreamResponse{Result: &pb.Added{MessageId: request.Message.Id}}); err != nil {
			return err
		}
		if f.endEarly.Add(-1) >= 0 {
			return nil
		}
	}
}

// serve gives a client of a server of its own. When the test ends, nothing of either may be left.
func serve(t *testing.T, memory *fakeMemory, options ...Option) *Client {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() { expectGoroutines(t, before) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterMemoryServiceServer(server, memory)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	client, err := New(append([]Option{WithAddress(listener.Addr().String())}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func expectGoroutines(t *testing.T, limit int) {
	t.Helper()
	for range 3000 {
		if runtime.NumGoroutine() <= limit {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
}

// overloadedFor is how the sidecar says when to come again.
func overloadedFor(wait time.Duration) error {
	refused, err := status.New(codes.Unavailable, "not now").WithDetails(
		&errdetails.ErrorInfo{Domain: domain, Reason: "OVERLOADED"},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)},
	)
	if err != nil {
		return err
	}
	return refused.Err()
}

func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}
