package memsidecar

import (
	"context"
	"iter"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// Add appends one message. When it returns, the message is on disk and every later read sees it. A message without an
// id gets one, which the answer tells.
//
// It ends with [ErrIDConflict] for a known id with another body, and with [ErrSequenceMismatch] when ExpectedSequence
// does not match.
func (c *Client) Add(ctx context.Context, request *pb.AddRequest) (*pb.AddResponse, error) {
	return call(ctx, c, c.memory.Add, identifiedAdd(request))
}

// AddBatch appends messages of one session, all or nothing. Errors are as with [Client.Add].
func (c *Client) AddBatch(ctx context.Context, request *pb.AddBatchRequest) (*pb.AddBatchResponse, error) {
	return call(ctx, c, c.memory.AddBatch, identifiedBatch(request))
}

// AddStream appends in bulk: one answer for each request, in order, each given when it is durable. Requests may name
// different sessions. An invalid one ends the stream with its error; what was answered stays.
//
// An interrupted stream resumes with the unacknowledged messages and stores no message twice. Its only deadline is that
// of the context.
//
// Nothing is sent before the caller ranges over the responses. Leaving the loop ends the stream. The requests are
// ranged over in a goroutine of its own, so that one may wait for the answer to another. That goroutine ends when the
// requests do, or, after the stream has ended, when they give another one. The client copies a request before it asks
// for the next one, so the caller may reuse it. A panic in the requests continues in the goroutine that ranges over the
// responses; after the stream has ended, it is dropped.
func (c *Client) AddStream(
	ctx context.Context, requests iter.Seq[*pb.AddStreamRequest],
) iter.Seq2[*pb.AddStreamResponse, error] {
	return func(yield func(*pb.AddStreamResponse, error) bool) { c.addStream(ctx, requests, yield) }
}

// StoreInteraction appends one user and one assistant message as one turn, all or nothing. Errors are as with
// [Client.Add].
func (c *Client) StoreInteraction(
	ctx context.Context, request *pb.StoreInteractionRequest,
) (*pb.StoreInteractionResponse, error) {
	return call(ctx, c, c.memory.StoreInteraction, identifiedInteraction(request))
}

// Annotate sets what is learned about a message later: its evaluation score and tags. It ends with [ErrNotFound]
// when the session has no such message.
func (c *Client) Annotate(ctx context.Context, request *pb.AnnotateRequest) (*pb.AnnotateResponse, error) {
	return call(ctx, c, c.memory.Annotate, request)
}

// GetAll reads one page of a session, oldest first. [Client.Messages] goes through all of them.
func (c *Client) GetAll(ctx context.Context, request *pb.GetAllRequest) (*pb.GetAllResponse, error) {
	return call(ctx, c, c.memory.GetAll, request)
}

// GetRecent reads the newest N messages of the window, oldest first.
func (c *Client) GetRecent(ctx context.Context, request *pb.GetRecentRequest) (*pb.GetRecentResponse, error) {
	return call(ctx, c, c.memory.GetRecent, request)
}

// GetByRole reads the messages of one role in the window, oldest first.
func (c *Client) GetByRole(ctx context.Context, request *pb.GetByRoleRequest) (*pb.GetByRoleResponse, error) {
	return call(ctx, c, c.memory.GetByRole, request)
}

// Search finds messages, best first: by words and meaning together, by one of them, or by a substring (Mode). It sees
// every message at once, pruned ones included. When the index or the embedder is unavailable, the search uses the
// remaining signals, and Degraded says so. This is one page; [Client.Hits] goes through all of them.
func (c *Client) Search(ctx context.Context, request *pb.SearchRequest) (*pb.SearchResponse, error) {
	return call(ctx, c, c.memory.Search, request)
}

// Count counts messages and tokens of a session.
func (c *Client) Count(ctx context.Context, request *pb.CountRequest) (*pb.CountResponse, error) {
	return call(ctx, c, c.memory.Count, request)
}

// Prune brings a session under a budget. Pruned messages leave the window, not the memory: they are still found. System
// messages stay, and a tool call stays with its results. If a response was lost and the call was retried, the answer
// may say that nothing was pruned, because the first attempt did the work.
func (c *Client) Prune(ctx context.Context, request *pb.PruneRequest) (*pb.PruneResponse, error) {
	return call(ctx, c, c.memory.Prune, request)
}

// Clear erases the session's messages and summary, from every layer. Facts stay, and sequence numbers continue. If a
// response was lost and the call was retried, the response may say that nothing was erased, because the first attempt
// did the work.
func (c *Client) Clear(ctx context.Context, request *pb.ClearRequest) (*pb.ClearResponse, error) {
	return call(ctx, c, c.memory.Clear, request)
}

// BuildContext builds what the model should see, within a budget, and accounts for it. What cannot be retrieved in time
// is left out, and Degraded says so. It ends with [ErrBudgetTooSmall] when what must stay does not fit.
func (c *Client) BuildContext(ctx context.Context, request *pb.BuildContextRequest) (*pb.BuildContextResponse, error) {
	return call(ctx, c, c.memory.BuildContext, request)
}

// ReportUsage tells what the provider charged, so that estimates for that model are corrected. It has no id, and counts
// each time: it is retried only if the sidecar rejected it ([ErrStarting], [ErrShuttingDown], [ErrOverloaded],
// [ErrIndexUnavailable]), and not where the connection broke.
func (c *Client) ReportUsage(ctx context.Context, request *pb.ReportUsageRequest) (*pb.ReportUsageResponse, error) {
	return callWhile(ctx, c, wasRefused, c.memory.ReportUsage, request)
}
