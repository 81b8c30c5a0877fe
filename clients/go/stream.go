package memsidecar

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// read gives what a stream answers, and at last the error that ended it, where one did.
func read[Answer any](
	ctx context.Context, c *Client, stream interface{ Recv() (*Answer, error) },
) iter.Seq2[*Answer, *Error] {
	return func(yield func(*Answer, *Error) bool) {
		for {
			answer, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, c.failure(ctx, err, nil))
				return
			}
			if !yield(answer, nil) {
				return
			}
		}
	}
}

// subscribe reads the answers to one request. It is sent again until something is answered; from then on whoever reads
// knows where to go on.
func subscribe[Request proto.Message, Answer any](
	ctx context.Context,
	c *Client,
	open func(context.Context, Request, ...grpc.CallOption) (grpc.ServerStreamingClient[Answer], error),
	request Request,
) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		tries, answered := attempts{most: c.attempts}, false
		for {
			var failed *Error
			for answer, broken := range subscribeOnce(ctx, c, open, request) {
				if failed = broken; failed != nil {
					break
				}
				answered = true
				if !yield(answer, nil) {
					return
				}
			}
			if failed == nil {
				return
			}
			if answered {
				yield(nil, failed)
				return
			}
			if err := c.pause(ctx, &tries, failed); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

func subscribeOnce[Request proto.Message, Answer any](
	ctx context.Context,
	c *Client,
	open func(context.Context, Request, ...grpc.CallOption) (grpc.ServerStreamingClient[Answer], error),
	request Request,
) iter.Seq2[*Answer, *Error] {
	return func(yield func(*Answer, *Error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := open(ctx, request)
		if err != nil {
			yield(nil, c.failure(ctx, err, request))
			return
		}
		read(ctx, c, stream)(yield)
	}
}

// exchange sends what next gives, until that is over, and gives what is answered meanwhile. When it is over itself,
// nobody asks next any more.
func exchange[Request, Answer any, Sent interface {
	*Request
	proto.Message
}](
	ctx context.Context,
	c *Client,
	open func(context.Context, ...grpc.CallOption) (grpc.BidiStreamingClient[Request, Answer], error),
	next func(context.Context) (Sent, bool),
) iter.Seq2[*Answer, *Error] {
	return func(yield func(*Answer, *Error) bool) {
		var sending sync.WaitGroup
		defer sending.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := open(ctx)
		if err != nil {
			yield(nil, c.failure(ctx, err, nil))
			return
		}
		var unsendable error
		sending.Go(func() { unsendable = send(ctx, stream, next) })
		for answer, failed := range read(ctx, c, stream) {
			if failed != nil {
				cancel()
				if sending.Wait(); unsendable != nil {
					failed = unsendableError(unsendable)
				}
			}
			if !yield(answer, failed) {
				return
			}
		}
	}
}

// send gives an error where a request cannot be sent at all. Of a stream that broke, whoever reads is told.
func send[Request, Answer any, Sent interface {
	*Request
	proto.Message
}](
	ctx context.Context, stream grpc.BidiStreamingClient[Request, Answer], next func(context.Context) (Sent, bool),
) error {
	for request, ok := next(ctx); ok; request, ok = next(ctx) {
		if stream.Send(request) != nil {
			_, err := proto.Marshal(request)
			return err
		}
	}
	// It fails only where the stream is broken.
	_ = stream.CloseSend()
	return nil
}

// pump runs the caller's iterator in a goroutine of its own: a request may wait for the answer to the one before it,
// and streams come and go meanwhile. Whoever ends the context ends the iterator, when it gives its next request.
func pump[Request any](ctx context.Context, requests iter.Seq[Request]) <-chan Request {
	pumped := make(chan Request)
	go func() {
		defer func() {
			// Closed means that there are no more requests, and not that nobody wants them.
			if ctx.Err() == nil {
				close(pumped)
			}
		}()
		for request := range requests {
			select {
			case pumped <- request:
			case <-ctx.Done():
				return
			}
		}
	}()
	return pumped
}

// receive waits for what is pumped. It says no where that is over, or the context is.
func receive[Request any](ctx context.Context, pumped <-chan Request) (request Request, ok bool) {
	select {
	case request, ok = <-pumped:
	case <-ctx.Done():
	}
	return request, ok
}
