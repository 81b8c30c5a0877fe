package memsidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What a call can fail with, to compare by [errors.Is]. The details are in [*Error].
var (
	// ErrInvalidField: a field of the request is wrong. Error.Field names it.
	ErrInvalidField = errors.New("a field is wrong")
	// ErrNotFound: the call acts on something that is not there.
	ErrNotFound = errors.New("not found")
	// ErrIDConflict: the message id is known with another body.
	ErrIDConflict = errors.New("the id is known with another body")
	// ErrSequenceMismatch: the session has moved on. Error.LastSequence says how far.
	ErrSequenceMismatch = errors.New("the session has moved on")
	// ErrSessionOwnerMismatch: the session belongs to another user.
	ErrSessionOwnerMismatch = errors.New("the session belongs to another user")
	// ErrBudgetTooSmall: what must stay in a context does not fit. Error.RequiredTokens says what does.
	ErrBudgetTooSmall = errors.New("the budget is too small")
	// ErrTooLarge: a message, a request, a batch or a document is too large. Do not send it again.
	ErrTooLarge = errors.New("too large")
	// ErrRateLimited: too many calls. Error.RetryAfter says when to come back.
	ErrRateLimited = errors.New("too many calls")
	// ErrQuotaExceeded: no more may be kept. "quota" and "limit" in Error.Metadata say of what.
	ErrQuotaExceeded = errors.New("the quota is used up")
	// ErrDiskFull: there is no room; reads go on.
	ErrDiskFull = errors.New("the disk is full")
	// ErrUnauthenticated: no token, or one that is not good.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrPermissionDenied: the token is not for this namespace, or not for this call.
	ErrPermissionDenied = errors.New("permission denied")
	// ErrStarting: the sidecar is still opening its files. The call was sent again already.
	ErrStarting = errors.New("the sidecar is starting")
	// ErrShuttingDown: the sidecar is about to stop. The call was sent again already.
	ErrShuttingDown = errors.New("the sidecar is shutting down")
	// ErrIndexUnavailable: what was asked needs the index, and it is not open. The call was sent again already.
	ErrIndexUnavailable = errors.New("the index is not available")
	// ErrOverloaded: too much is waiting already. The call was sent again already.
	ErrOverloaded = errors.New("the sidecar is overloaded")
	// ErrDataCorrupted: what is stored cannot be read. "file" in Error.Metadata names it.
	ErrDataCorrupted = errors.New("stored data is corrupted")
	// ErrNotImplemented: this version of the sidecar does not have it.
	ErrNotImplemented = errors.New("not implemented")
	// ErrInternal: the sidecar's log says more.
	ErrInternal = errors.New("internal error of the sidecar")

	// ErrUnreachable: nothing answers at the address, or the connection broke. The call was sent again already; a
	// write may have been stored.
	ErrUnreachable = errors.New("the sidecar cannot be reached")
	// ErrDeadlineExceeded: the time was over; a write may have been stored. Such an error is context.DeadlineExceeded,
	// too.
	ErrDeadlineExceeded = errors.New("the deadline has passed")
	// ErrCanceled: the call was given up; a write may have been stored. Where the caller's context was canceled, such
	// an error is context.Canceled and the context's cause, too.
	ErrCanceled = errors.New("the call was canceled")
	// ErrClosed: the client was closed. Such an error is ErrCanceled, too.
	ErrClosed = errors.New("the client is closed")
)

// domain is how the sidecar signs its reasons.
const domain = "memsidecar.dev"

// byReason are the sentinels for what the sidecar says, by the reasons of the contract.
var byReason = map[string]error{
	"INVALID_FIELD":          ErrInvalidField,
	"NOT_FOUND":              ErrNotFound,
	"ID_CONFLICT":            ErrIDConflict,
	"SEQUENCE_MISMATCH":      ErrSequenceMismatch,
	"SESSION_OWNER_MISMATCH": ErrSessionOwnerMismatch,
	"BUDGET_TOO_SMALL":       ErrBudgetTooSmall,
	"TOO_LARGE":              ErrTooLarge,
	"RATE_LIMITED":           ErrRateLimited,
	"QUOTA_EXCEEDED":         ErrQuotaExceeded,
	"DISK_FULL":              ErrDiskFull,
	"UNAUTHENTICATED":        ErrUnauthenticated,
	"PERMISSION_DENIED":      ErrPermissionDenied,
	"STARTING":               ErrStarting,
	"SHUTTING_DOWN":          ErrShuttingDown,
	"INDEX_UNAVAILABLE":      ErrIndexUnavailable,
	"OVERLOADED":             ErrOverloaded,
	"DATA_CORRUPTED":         ErrDataCorrupted,
	"NOT_IMPLEMENTED":        ErrNotImplemented,
	"INTERNAL":               ErrInternal,
}

// byCode are the sentinels for what gRPC says itself.
var byCode = map[codes.Code][]error{
	codes.Unavailable:      {ErrUnreachable},
	codes.DeadlineExceeded: {ErrDeadlineExceeded, context.DeadlineExceeded},
	codes.Canceled:         {ErrCanceled},
	// gRPC's own limit on the size of a message, at either side.
	codes.ResourceExhausted: {ErrTooLarge},
}

// Error is a call that was refused, or that nobody answered. [errors.Is] tells which of the sentinels it is; an error
// whose reason this client does not know yet is none of them.
type Error struct {
	// Code is gRPC's.
	Code codes.Code
	// Reason is the sidecar's, as in "ID_CONFLICT"; empty for what gRPC says itself.
	Reason string
	// Field is the path of the field that is wrong, as in "messages[3].role"; empty for other errors.
	Field string
	// Metadata is what else the sidecar says, by name.
	Metadata map[string]string
	// Message is for people; it may change.
	Message string

	retryAfter *time.Duration
	kinds      []error
}

// Error tells the message, the code and the reason.
func (e *Error) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("memsidecar: %s (%s)", e.Message, e.Code)
	}
	return fmt.Sprintf("memsidecar: %s (%s, %s)", e.Message, e.Code, e.Reason)
}

// Unwrap gives the sentinels that the error is, and what the context says where that ended the call.
func (e *Error) Unwrap() []error {
	return e.kinds
}

// GRPCStatus is for gRPC's package status, so that status.Code(err) gives the code.
func (e *Error) GRPCStatus() *status.Status {
	return status.New(e.Code, e.Message)
}

// RetryAfter says how long to wait before the call is worth another try, where the sidecar does.
func (e *Error) RetryAfter() (wait time.Duration, ok bool) {
	if e.retryAfter == nil {
		return 0, false
	}
	return *e.retryAfter, true
}

// LastSequence is the session's newest sequence, for ErrSequenceMismatch.
func (e *Error) LastSequence() (sequence int64, ok bool) {
	return e.number("last_sequence", 64)
}

// RequiredTokens is the smallest MaxTokens that would do, for ErrBudgetTooSmall.
func (e *Error) RequiredTokens() (tokens int32, ok bool) {
	number, ok := e.number("required_tokens", 32)
	return int32(number), ok
}

// number is 0 where there is none of so many bits.
func (e *Error) number(name string, bits int) (int64, bool) {
	number, err := strconv.ParseInt(e.Metadata[name], 10, bits)
	if err != nil {
		return 0, false
	}
	return number, true
}

// errorOf is our error for one of gRPC's.
func errorOf(err error) *Error {
	given := status.Convert(err)
	found := &Error{Code: given.Code(), Message: given.Message()}
	found.read(given.Details())
	if found.Reason == "" {
		found.kinds = slices.Clone(byCode[found.Code])
	} else if kind, known := byReason[found.Reason]; known {
		found.kinds = []error{kind}
	}
	return found
}

// read takes what the sidecar says, and nothing of what somebody else on the way put there.
func (e *Error) read(details []any) {
	for _, detail := range details {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.Domain == domain {
			e.Reason, e.Metadata = info.Reason, info.Metadata
		}
	}
	if e.Reason == "" {
		return
	}
	for _, detail := range details {
		switch detail := detail.(type) {
		case *errdetails.BadRequest:
			if wrong := detail.FieldViolations; len(wrong) > 0 {
				e.Field = wrong[0].Field
			}
		case *errdetails.RetryInfo:
			wait := detail.RetryDelay.AsDuration()
			e.retryAfter = &wait
		}
	}
}

func closedError() *Error {
	return &Error{Code: codes.Canceled, Message: ErrClosed.Error(), kinds: []error{ErrClosed, ErrCanceled}}
}

// contextError is for a call that ends while it waits for its next attempt.
func contextError(ctx context.Context) *Error {
	found := errorOf(status.FromContextError(ctx.Err()).Err())
	found.blame(ctx)
	return found
}

// blame says that the context ended the call.
func (e *Error) blame(ctx context.Context) {
	e.kinds = append(e.kinds, ctx.Err(), context.Cause(ctx))
}

// brokenTextError is for a request that is no message of the contract: a text in it is no UTF-8.
func brokenTextError(field string) *Error {
	return &Error{
		Code:    codes.InvalidArgument,
		Reason:  "INVALID_FIELD",
		Field:   field,
		Message: fmt.Sprintf("%s is not valid UTF-8, so the request was not sent", field),
		kinds:   []error{ErrInvalidField},
	}
}
