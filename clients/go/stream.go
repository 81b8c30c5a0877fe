package memsidecar

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
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
				yield(nil, c.failure(ctx, err))
				return
			}
			if !yield(answer, nil) {
				return
			}
		}
	}
}

// subscribe reads the answers to one request. The client retries it until the first response. After that the caller
// resumes from the last cursor.
func subscribe[Request proto.Message, Answer any](
	ctx context.Context,
	c *Client,
	open func(context.Context, Request, ...grpc.CallOption) (grpc.ServerStreamingClient[Answer], error),
	request Request,
) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		if unsendable := checkTexts(request); unsendable != nil {
			yield(nil, unsendable)
			return
		}
		tries, answered := attempts{max: c.attempts, worth: worthAnother}, false
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
			yield(nil, c.failure(ctx, err))
			return
		}
		read(ctx, c, stream)(yield)
	}
}

// exchange sends what next gives, until that is over, and gives what is answered meanwhile. When it is over itself, no
// caller asks for the next one.
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
			yield(nil, c.failure(ctx, err))
			return
		}
		var unsendable *Error
		sending.Go(func() {
			if unsendable = send(ctx, stream, next); unsendable != nil {
				cancel()
			}
		})
		for answer, failed := range read(ctx, c, stream) {
			if failed != nil {
				cancel()
				if sending.Wait(); unsendable != nil {
					failed = unsendable
				}
			}
			if !yield(answer, failed) {
				return
			}
		}
	}
}

// send gives an error where a request must not be sent at all. The reader reports a broken stream.
func send[Request, Answer any, Sent interface {
	*Request
	proto.Message
}](
	ctx context.Context, stream grpc.BidiStreamingClient[Request, Answer], next func(context.Context) (Sent, bool),
) *Error {
	for request, ok := next(ctx); ok; request, ok = next(ctx) {
		if unsendable := checkTexts(request); unsendable != nil {
			return unsendable
		}
		if stream.Send(request) != nil {
			return nil
		}
	}
	// It fails only where the stream is broken.
	_ = stream.CloseSend()
	return nil
}

// requestPump is what the caller's iterator gives, in a goroutine of its own: a request may wait for the answer to the one
// before it, and streams come and go meanwhile.
type requestPump[Request proto.Message] struct {
	requests chan Request
	// fall holds at most one function, which ends its goroutine as the iterator ended its own.
	fall chan func()
}

// pump begins. Ending the context ends the iterator at its next request; an iterator that panics ends the context.
func pump[Request proto.Message](
	ctx context.Context, cancel context.CancelFunc, requests iter.Seq[Request],
) *requestPump[Request] {
	p := &requestPump[Request]{requests: make(chan Request), fall: make(chan func(), 1)}
	go func() {
		well := false
		defer func() {
			if !well {
				p.fell(recover())
				cancel()
				return
			}
			// Closed means that there are no more requests, not that they are unwanted.
			if ctx.Err() == nil {
				close(p.requests)
			}
		}()
		p.run(ctx, requests)
		well = true
	}()
	return p
}

// run sends copies, made while the iterator waits, because the iterator may reuse a request.
func (p *requestPump[Request]) run(ctx context.Context, requests iter.Seq[Request]) {
	for request := range requests {
		select {
		case p.requests <- proto.CloneOf(request):
		case <-ctx.Done():
			return
		}
	}
}

// fell keeps how the iterator ended: where there was no panic, by [runtime.Goexit], as a test does that fails.
func (p *requestPump[Request]) fell(panicked any) {
	p.fall <- func() {
		if panicked == nil {
			runtime.Goexit()
		}
		panic(panicked)
	}
}

// fallHere ends the goroutine that ranges over the responses, if the iterator panicked. No caller could recover a panic
// in a goroutine of ours.
func (p *requestPump[Request]) fallHere() {
	select {
	case fall := <-p.fall:
		fall()
	default:
	}
}

// receive waits for what is requestPump. It says no where that is over, or the context is.
func (p *requestPump[Request]) receive(ctx context.Context) (request Request, ok bool) {
	select {
	case request, ok = <-p.requests:
	case <-ctx.Done():
	}
	return request, ok
}
