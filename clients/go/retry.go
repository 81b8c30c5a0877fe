package memsidecar

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
)

// waits are each a fifth more or less: a sidecar restarts within their sum. Further attempts use the last one.
var waits = [...]time.Duration{400 * time.Millisecond, 1200 * time.Millisecond, 3600 * time.Millisecond}

const (
	jitter = 0.2
	// century is longer than any useful deadline, and does not overflow.
	century = 100 * 365 * 24 * time.Hour
)

// attempts applies the retry policy to one call.
type attempts struct {
	max   int
	made  int
	worth func(*Error) bool
}

// progressed resets the attempts: after a response, a further failure is a new one.
func (a *attempts) progressed() {
	a.made = 0
}

// waitAfter says how long to wait before the next attempt, and whether there shall be one.
func (a *attempts) waitAfter(ctx context.Context, failed *Error) (time.Duration, bool) {
	a.made++
	if ctx.Err() != nil || !a.worth(failed) || a.made >= a.max {
		return 0, false
	}
	wait := a.wait(failed)
	if deadline, ok := ctx.Deadline(); ok && wait >= time.Until(deadline) {
		return 0, false
	}
	return wait, true
}

// wait is as long as the sidecar said, and a little more; else longer each time.
func (a *attempts) wait(failed *Error) time.Duration {
	if said, ok := failed.RetryAfter(); ok {
		return time.Duration(float64(min(said, century)) * (1 + jitter*rand.Float64()))
	}
	wait := waits[min(a.made, len(waits))-1]
	return time.Duration(float64(wait) * (1 - jitter + 2*jitter*rand.Float64()))
}

// worthAnother says whether it was the moment or the way, and not the call. A broken transport is reported by several
// codes, where no reason says that the sidecar gave them. Writes carry ids, so none is stored twice; but for those that
// have none, see wasRefused.
func worthAnother(failed *Error) bool {
	switch failed.Code {
	case codes.Unavailable:
		return true
	case codes.Internal, codes.Unknown, codes.Canceled:
		return failed.Reason == ""
	}
	return false
}

// wasRefused is for a call that has no id and counts each time: only where the sidecar itself says that it did nothing,
// it is sent again.
func wasRefused(failed *Error) bool {
	return failed.Code == codes.Unavailable && failed.Reason != "" && !errors.Is(failed, ErrJournalUnavailable)
}
