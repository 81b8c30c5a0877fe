package memsidecar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	pb "github.com/memsidecar/memsidecar/clients/go/memsidecarpb"
)

// Client is a sidecar, seen from the agent. One is enough for a process: any number of goroutines may share it.
type Client struct {
	address   string
	encrypted bool
	timeout   time.Duration
	attempts  int

	conn      *grpc.ClientConn
	memory    pb.MemoryServiceClient
	sessions  pb.SessionServiceClient
	knowledge pb.KnowledgeServiceClient

	closing sync.Once
	closed  chan struct{}
}

// New makes a client. What no option says, the environment does: MEMSIDECAR_ADDRESS, MEMSIDECAR_TOKEN,
// MEMSIDECAR_TOKEN_FILE, MEMSIDECAR_TLS, MEMSIDECAR_CA_FILE, MEMSIDECAR_CLIENT_CERTIFICATE_FILE and
// MEMSIDECAR_CLIENT_KEY_FILE. It connects with the first call.
//
// It is refused where the options do not go together, where a file cannot be read, and where a token would leave the
// machine in the clear (see [WithTokenInClear]).
func New(options ...Option) (*Client, error) {
	s, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	if s.attempts < 1 {
		return nil, errors.New("memsidecar: a call is sent at least once: attempts must be 1 or more")
	}
	if s.timeout < 0 {
		return nil, fmt.Errorf("memsidecar: the timeout must be more than 0, or 0 for none: %v is negative", s.timeout)
	}
	conn, err := connect(s)
	if err != nil {
		return nil, err
	}
	return &Client{
		address:   s.address,
		encrypted: s.encrypted(),
		timeout:   s.timeout,
		attempts:  s.attempts,
		conn:      conn,
		memory:    pb.NewMemoryServiceClient(conn),
		sessions:  pb.NewSessionServiceClient(conn),
		knowledge: pb.NewKnowledgeServiceClient(conn),
		closed:    make(chan struct{}),
	}, nil
}

// Close ends the connection; calls in progress end with [ErrClosed]. To close again is harmless.
func (c *Client) Close() error {
	var err error
	c.closing.Do(func() {
		close(c.closed)
		err = c.conn.Close()
	})
	return err
}

// call sends a request, again where the policy says so, until it is answered.
func call[Request proto.Message, Answer any](
	ctx context.Context,
	c *Client,
	send func(context.Context, Request, ...grpc.CallOption) (Answer, error),
	request Request,
) (Answer, error) {
	return callWhile(ctx, c, worthAnother, send, request)
}

// callWhile sends a request again while its errors are worth it.
func callWhile[Request proto.Message, Answer any](
	ctx context.Context,
	c *Client,
	worth func(*Error) bool,
	send func(context.Context, Request, ...grpc.CallOption) (Answer, error),
	request Request,
) (Answer, error) {
	var none Answer
	if unsendable := checkTexts(request); unsendable != nil {
		return none, unsendable
	}
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	tries := attempts{max: c.attempts, worth: worth}
	for {
		answer, err := send(ctx, request)
		if err == nil {
			return answer, nil
		}
		if err := c.pause(ctx, &tries, c.failure(ctx, err)); err != nil {
			return none, err
		}
	}
}

// withTimeout bounds a call that its context does not bound.
func (c *Client) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok || c.timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.timeout)
}

// pause waits until it is time for another attempt. Where there shall be none, it gives the error that the call ends
// with.
func (c *Client) pause(ctx context.Context, tries *attempts, failed *Error) error {
	wait, again := tries.waitAfter(ctx, failed)
	if !again || c.isClosed() {
		return failed
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.closed:
		return closedError()
	case <-ctx.Done():
		return contextError(ctx)
	}
}

// failure is our error for what one attempt ended with.
func (c *Client) failure(ctx context.Context, err error) *Error {
	found := errorOf(err)
	if found.Reason != "" {
		return found
	}
	switch {
	case ctx.Err() != nil && (found.Code == codes.Canceled || found.Code == codes.DeadlineExceeded):
		found.blame(ctx)
	case c.isClosed():
		return closedError()
	case found.Code == codes.Unavailable:
		found.Message = c.unreachable(found.Message)
	}
	return found
}

func (c *Client) isClosed() bool {
	select {
	case <-c.closed:
		return true
	default:
		return false
	}
}

// unreachable names the address, and adds a hint if probably only one side speaks TLS: a TLS server closes a plaintext
// connection. A server that is silent or speaks another protocol is no sign of TLS.
func (c *Client) unreachable(why string) string {
	hint := ""
	switch {
	case !c.encrypted && hungUp(why):
		hint = "; does it want TLS, which this client does not speak?"
	case c.encrypted && strings.Contains(why, "first record does not look like a TLS handshake"):
		hint = "; it does not speak TLS, which this client does"
	}
	return fmt.Sprintf("the sidecar at %s cannot be reached%s: %s", c.address, hint, why)
}

func hungUp(why string) bool {
	return strings.Contains(why, "error reading server preface") &&
		(strings.Contains(why, "EOF") || strings.Contains(why, "connection reset"))
}
