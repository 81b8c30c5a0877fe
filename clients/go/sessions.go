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

// ListUsers lists one page of users by id: the owners of sessions, facts or documents. [Client.Users] goes through all of
// them.
func (c *Client) ListUsers(ctx context.Context, request *pb.ListUsersRequest) (*pb.ListUsersResponse, error) {
	return call(ctx, c, c.sessions.ListUsers, request)
}

// GetUsage reads what a namespace stores, and the limits of its quota. Both are zero where nothing is stored or limited.
func (c *Client) GetUsage(ctx context.Context, request *pb.GetUsageRequest) (*pb.GetUsageResponse, error) {
	return call(ctx, c, c.sessions.GetUsage, request)
}

// SetPolicy sets how a session prunes and summarises itself; without SessionId, the namespace's default. The policy
// replaces the one before as a whole.
func (c *Client) SetPolicy(ctx context.Context, request *pb.SetPolicyRequest) (*pb.SetPolicyResponse, error) {
	return call(ctx, c, c.sessions.SetPolicy, request)
}

// DeleteSession erases a session from every layer, facts that came from it alone included. It ends with [ErrNotFound]
// for an unknown session; also if a response was lost and the call was retried, because the first attempt did the work.
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

// Export streams what is stored, one record an answer, in an order that [Client.Import] accepts. It is retried until
// its first response. To resume a stream that is interrupted later, pass the last received Cursor in a new request. Its
// only deadline is that of the context. Leaving the loop ends it.
func (c *Client) Export(ctx context.Context, request *pb.ExportRequest) iter.Seq2[*pb.ExportResponse, error] {
	return subscribe(ctx, c, c.sessions.Export, request)
}

// Import stores records of an archive, or of a history from elsewhere: one answer for each durable batch. Records that
// exist already change nothing, so an interrupted import can be sent again; the client does not retry it. The requests
// are ranged over as those of [Client.AddStream] are.
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

// Watch streams change events, from now on or from a cursor. It is retried until its first response; after that, resume
// from the last Cursor. Its only deadline is that of the context. Leaving the loop ends it.
func (c *Client) Watch(ctx context.Context, request *pb.WatchRequest) iter.Seq2[*pb.WatchResponse, error] {
	return subscribe(ctx, c, c.sessions.Watch, request)
}
