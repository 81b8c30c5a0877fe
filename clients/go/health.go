package memsidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	health "google.golang.org/grpc/health/grpc_health_v1"
)

const pollInterval = 50 * time.Millisecond

// WaitUntilReady returns as soon as the sidecar says that it serves. It ends with [ErrDeadlineExceeded] when that does
// not happen before the deadline of the context, or within the client's timeout where there is none.
func (c *Client) WaitUntilReady(ctx context.Context) error {
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if serves, err := c.serves(ctx); serves || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-c.closed:
			return closedError()
		case <-ctx.Done():
			return c.notReady(contextError(ctx))
		}
	}
}

// serves asks once. It gives an error where to ask again would not help.
func (c *Client) serves(ctx context.Context) (bool, error) {
	answer, err := health.NewHealthClient(c.conn).Check(ctx, &health.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err == nil {
		return answer.Status == health.HealthCheckResponse_SERVING, nil
	}
	failed := c.failure(ctx, err)
	if ctx.Err() == nil && !c.isClosed() && isWorthWaiting(failed) {
		return false, nil
	}
	return false, c.notReady(failed)
}

// isWorthWaiting says whether the sidecar may serve later. One that does not know its own health yet says NOT_FOUND.
func isWorthWaiting(failed *Error) bool {
	switch failed.Code {
	case codes.Unavailable:
		return true
	case codes.NotFound, codes.Canceled:
		return failed.Reason == ""
	}
	return false
}

func (c *Client) notReady(failed *Error) *Error {
	if errors.Is(failed, ErrDeadlineExceeded) {
		failed.Message = fmt.Sprintf("the sidecar at %s was not ready in time: %s", c.address, failed.Message)
	}
	return failed
}
