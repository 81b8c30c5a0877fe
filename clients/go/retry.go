package memsidecar

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
)

// The waits are 0.4, 1.2 and 3.6 seconds, each a fifth more or less: a sidecar restarts within that.
const (
	firstWait  = 400 * time.Millisecond
	waitFactor = 3
	jitter     = 0.2
)

// attempts is one call's way through the one policy by which it is sent again.
type attempts struct {
	most int
	made int
}

// progressed says that something was answered: whatever breaks now is another mishap, not the same again.
func (a *attempts) progressed() {
	a.made = 0
}

// waitAfter says how long to wait before the next attempt, and whether there shall be one.
func (a *attempts) waitAfter(ctx context.Context, failed *Error) (time.Duration, bool) {
	a.made++
	if ctx.Err() != nil || !worthAnother(failed) || a.made >= a.most {
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
		return time.Duration(float64(said) * (1 + jitter*rand.Float64()))
	}
	wait := float64(firstWait) * math.Pow(waitFactor, float64(a.made-1))
	return time.Duration(wait * (1 - jitter + 2*jitter*rand.Float64()))
}

// worthAnother says whether it was the moment or the way, and not the call. A transport that broke is told by several
// codes, where no reason says that the sidecar gave them. Writes carry ids, so none is stored twice.
func worthAnother(failed *Error) bool {
	switch failed.Code {
	case codes.Unavailable:
		return true
	case codes.Internal, codes.Unknown, codes.Canceled:
		return failed.Reason == ""
	}
	return false
}
