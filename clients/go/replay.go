package memsidecar

import (
	"context"
	"iter"
	"sync"

	"google.golang.org/grpc/codes"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// addStream resumes an interrupted stream on a new one, with the unacknowledged messages.
func (c *Client) addStream(
	ctx context.Context, requests iter.Seq[*pb.AddStreamRequest], yield func(*pb.AddStreamResponse, error) bool,
) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source := pump(ctx, cancel, requests)
	sent := &replay{source: source}
	tries := attempts{max: c.attempts, worth: worthAnother}
	for !sent.isOver() {
		failed := errCutShort()
		for answer, broken := range exchange(ctx, c, c.memory.AddStream, sent.fromOldest()) {
			if broken != nil {
				failed = broken
				break
			}
			sent.answered()
			tries.progressed()
			if !yield(answer, nil) {
				return
			}
		}
		if sent.isOver() {
			return
		}
		if err := c.pause(ctx, &tries, failed); err != nil {
			source.fallHere()
			yield(nil, err)
			return
		}
	}
}

// errCutShort is for a stream that ended well before all of it was answered: no sidecar does that.
func errCutShort() *Error {
	return &Error{Code: codes.Unknown, Message: "the stream ended before all of it was answered"}
}

// replay keeps requests from when they are taken from their source until they are answered, which happens in order.
type replay struct {
	source *requestPump[*pb.AddStreamRequest]

	mu     sync.Mutex
	kept   []*pb.AddStreamRequest
	oldest int // the place in the stream of the first that is kept
	ended  bool
}

// fromOldest gives what one attempt sends: from the oldest request that is not answered on, to the source's end.
func (r *replay) fromOldest() func(context.Context) (*pb.AddStreamRequest, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	place := r.oldest
	return func(ctx context.Context) (*pb.AddStreamRequest, bool) {
		request, ok := r.at(place)
		if !ok {
			request, ok = r.take(ctx)
		}
		place++
		return request, ok
	}
}

func (r *replay) at(place int) (*pb.AddStreamRequest, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	index := place - r.oldest
	if index >= len(r.kept) {
		return nil, false
	}
	return r.kept[index], true
}

// take waits for the source. A resent message is recognised by its id, so it gets one at the start; the request is a
// copy already.
func (r *replay) take(ctx context.Context) (*pb.AddStreamRequest, bool) {
	request, ok := r.source.receive(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok {
		r.ended = r.ended || ctx.Err() == nil
		return nil, false
	}
	if lacksID(request.GetMessage()) {
		request.Message.Id = NewID()
	}
	r.kept = append(r.kept, request)
	return request, true
}

func (r *replay) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) > 0 {
		r.kept[0] = nil
		r.kept = r.kept[1:]
		r.oldest++
	}
}

func (r *replay) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended && len(r.kept) == 0
}
