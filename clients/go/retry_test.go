package memsidecar

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

func TestBackoffGrowsAndHasJitter(t *testing.T) {
	for range 200 {
		tries := attempts{max: 4, worth: worthAnother}
		for _, middle := range []time.Duration{400, 1200, 3600} {
			wait, again := tries.waitAfter(t.Context(), &Error{Code: codes.Unavailable})
			low, high := middle*time.Millisecond*8/10, middle*time.Millisecond*12/10
			if !again || wait < low || wait > high {
				t.Fatalf("%v is not from %v to %v", wait, low, high)
			}
		}
		if _, again := tries.waitAfter(t.Context(), &Error{Code: codes.Unavailable}); again {
			t.Fatal("a fifth attempt")
		}
	}
}

func TestTheThirdWaitIsTheLongest(t *testing.T) {
	tries := attempts{max: 5_000, worth: worthAnother}
	for range 4_000 {
		wait, again := tries.waitAfter(t.Context(), &Error{Code: codes.Unavailable})
		if !again || wait <= 0 || wait > 3600*time.Millisecond*12/10 {
			t.Fatalf("%v", wait)
		}
	}
}

func TestARetryWaitsAsLongAsRetryInfoSays(t *testing.T) {
	said := time.Second
	for range 200 {
		tries := attempts{max: 4, worth: worthAnother}
		wait, again := tries.waitAfter(t.Context(), &Error{Code: codes.Unavailable, Reason: "OVERLOADED", retryAfter: &said})
		if !again || wait < said || wait > said*12/10 {
			t.Fatalf("%v", wait)
		}
	}
}

func TestNoAttemptComesAfterTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	tries := attempts{max: 4, worth: worthAnother}
	if wait, again := tries.waitAfter(ctx, &Error{Code: codes.Unavailable}); again {
		t.Errorf("would wait %v", wait)
	}
}

func TestOnlyTransientAndTransportErrorsAreRetried(t *testing.T) {
	for _, given := range []struct {
		code   codes.Code
		reason string
		worth  bool
		counts bool // worth it also for a call that counts each time
	}{
		{codes.Unavailable, "", true, false},
		{codes.Unavailable, "STARTING", true, true},
		{codes.Internal, "", true, false},
		{codes.Unknown, "", true, false},
		{codes.Canceled, "", true, false},
		{codes.Internal, "INTERNAL", false, false},
		{codes.DeadlineExceeded, "", false, false},
		{codes.ResourceExhausted, "RATE_LIMITED", false, false},
		{codes.NotFound, "", false, false},
	} {
		failed := &Error{Code: given.code, Reason: given.reason}
		if worthAnother(failed) != given.worth || wasRefused(failed) != given.counts {
			t.Errorf("%v", given)
		}
	}
}
