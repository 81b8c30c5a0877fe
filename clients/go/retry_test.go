package memsidecar

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

func TestWaitsAreLongerEachTimeAndNeverTheSame(t *testing.T) {
	for range 200 {
		tries := attempts{most: 4}
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

func TestTheSidecarSaysHowLongToWait(t *testing.T) {
	said := time.Second
	for range 200 {
		tries := attempts{most: 4}
		wait, again := tries.waitAfter(t.Context(), &Error{Code: codes.Unavailable, Reason: "BUSY", retryAfter: &said})
		if !again || wait < said || wait > said*12/10 {
			t.Fatalf("%v", wait)
		}
	}
}

func TestNoAttemptComesAfterTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	tries := attempts{most: 4}
	if wait, again := tries.waitAfter(ctx, &Error{Code: codes.Unavailable}); again {
		t.Errorf("would wait %v", wait)
	}
}

func TestOnlyTheMomentAndTheWayAreWorthAnotherAttempt(t *testing.T) {
	for _, given := range []struct {
		code   codes.Code
		reason string
		worth  bool
	}{
		{codes.Unavailable, "", true},
		{codes.Unavailable, "STARTING", true},
		{codes.Internal, "", true},
		{codes.Unknown, "", true},
		{codes.Canceled, "", true},
		{codes.Internal, "BUG", false},
		{codes.DeadlineExceeded, "", false},
		{codes.ResourceExhausted, "RATE_LIMITED", false},
		{codes.NotFound, "", false},
	} {
		if worthAnother(&Error{Code: given.code, Reason: given.reason}) != given.worth {
			t.Errorf("%v", given)
		}
	}
}
