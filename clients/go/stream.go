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

// subscribe reads the answers to one request. It is sent again until something is answered; from then on whoever reads
// knows where to go on.
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
		tries, answered := attempts{most: c.attempts, worth: worthAnother}, false
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

// send gives an error where a request must not be sent at all. Of a stream that broke, whoever reads is told.
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

// pumped is what the caller's iterator gives, in a goroutine of its own: a request may wait for the answer to the one
// before it, and streams come and go meanwhile.
type pumped[Request proto.Message] struct {
	requests chan Request
	// fall holds at most one function, which ends its goroutine as the iterator ended its own.
	fall chan func()
}

// pump begins. Whoever ends the context ends the iterator, when it gives its next request; an iterator that panics ends
// the context.
func pump[Request proto.Message](
	ctx context.Context, cancel context.CancelFunc, requests iter.Seq[Request],
) *pumped[Request] {
	p := &pumped[Request]{requests: make(chan Request), fall: make(chan func(), 1)}
	go func() {
		well := false
		defer func() {
			if !well {
				p.fell(recover())
				cancel()
				return
			}
			// Closed means that there are no more requests, and not that nobody wants them.
			if ctx.Err() == nil {
				close(p.requests)
			}
		}()
		p.run(ctx, requests)
		well = true
	}()
	return p
}

// run hands over copies, made while the iterator waits: it may use a request again for the next one.
func (p *pumped[Request]) run(ctx context.Context, requests iter.Seq[Request]) {
	for request := range requests {
		select {
		case p.requests <- proto.CloneOf(request):
		case <-ctx.Done():
			return
		}
	}
}

// fell keeps how the iterator ended: where there was no panic, by [runtime.Goexit], as a test does that fails.
func (p *pumped[Request]) fell(panicked any) {
	p.fall <- func() {
		if panicked == nil {
			runtime.Goexit()
		}
		panic(panicked)
	}
}

// fallHere ends the goroutine of whoever ranges over the answers, where the iterator did not end well. Nobody could
// recover a panic in a goroutine of ours.
func (p *pumped[Request]) fallHere() {
	select {
	case fall := <-p.fall:
		fall()
	default:
	}
}

// receive waits for what is pumped. It says no where that is over, or the context is.
func (p *pumped[Request]) receive(ctx context.Context) (request Request, ok bool) {
	select {
	case request, ok = <-p.requests:
	case <-ctx.Done():
	}
	return request, ok
}
