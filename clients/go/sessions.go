package memsidecar

import (
	"context"
	"iter"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// ListSessions lists one page of sessions, newest activity first. [Client.Sessions] goes through all of them.
func (c *Client) ListSessions(ctx context.Context, request *pb.ListSessionsRequest) (*pb.ListSessionsResponse, error) {
	return call(ctx, c, c.sessions.ListSessions, request)
}

// GetSession reads one session. The answer is without Session where it is not known.
func (c *Client) GetSession(ctx context.Context, request *pb.GetSessionRequest) (*pb.GetSessionResponse, error) {
	return call(ctx, c, c.sessions.GetSession, request)
}

// SetPolicy sets how a session prunes and summarises itself; without SessionId, the namespace's default. The policy
// replaces the one before as a whole.
func (c *Client) SetPolicy(ctx context.Context, request *pb.SetPolicyRequest) (*pb.SetPolicyResponse, error) {
	return call(ctx, c, c.sessions.SetPolicy, request)
}

// DeleteSession erases a session from every layer, facts that came from it alone included. It ends with
// [ErrNotFound] for an unknown session; also where an answer was lost and the call was sent again, because the first
// attempt did the work.
func (c *Client) DeleteSession(
	ctx context.Context, request *pb.DeleteSessionRequest,
) (*pb.DeleteSessionResponse, error) {
	return call(ctx, c, c.sessions.DeleteSession, request)
}

// ForgetMessage erases one message from every layer, and what was derived from it alone. It ends with [ErrNotFound]
// when the session has no such message.
func (c *Client) ForgetMessage(
	ctx context.Context, request *pb.ForgetMessageRequest,
) (*pb.ForgetMessageResponse, error) {
	return call(ctx, c, c.sessions.ForgetMessage, request)
}

// ForgetUser erases a user from every layer: all their sessions, facts, patterns, summaries, artifacts and documents.
func (c *Client) ForgetUser(ctx context.Context, request *pb.ForgetUserRequest) (*pb.ForgetUserResponse, error) {
	return call(ctx, c, c.sessions.ForgetUser, request)
}

// Export streams what is stored, one record an answer, in an order that [Client.Import] accepts. It is sent again until
// its first answer; a stream that breaks off later goes on where its request names the last Cursor that was received.
// It has no deadline but that of the context, and whoever leaves the loop ends it.
func (c *Client) Export(ctx context.Context, request *pb.ExportRequest) iter.Seq2[*pb.ExportResponse, error] {
	return subscribe(ctx, c, c.sessions.Export, request)
}

// Import stores records of an archive, or of a history from elsewhere: one answer for each durable batch. Records that
// are there already change nothing, so an interrupted import can be sent again; the client does not do that by itself.
// The requests are ranged over as those of [Client.AddStream] are.
func (c *Client) Import(
	ctx context.Context, requests iter.Seq[*pb.ImportRequest],
) iter.Seq2[*pb.ImportResponse, error] {
	return func(yield func(*pb.ImportResponse, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		source := pump(ctx, cancel, requests)
		for answer, failed := range exchange(ctx, c, c.sessions.Import, source.receive) {
			if failed != nil {
				source.fallHere()
				yield(nil, failed)
				return
			}
			if !yield(answer, nil) {
				return
			}
		}
		source.fallHere()
	}
}

// Watch streams what happens from now on, or from a cursor. It is sent again until its first answer; after that, go on
// from the last Cursor. It has no deadline but that of the context, and whoever leaves the loop ends it.
func (c *Client) Watch(ctx context.Context, request *pb.WatchRequest) iter.Seq2[*pb.WatchResponse, error] {
	return subscribe(ctx, c, c.sessions.Watch, request)
}
