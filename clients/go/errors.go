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

// Errors of calls, to compare by [errors.Is]. The details are in [*Error].
var (
	// ErrInvalidField: a field of the request is invalid. Error.Field names it.
	ErrInvalidField = errors.New("a field is wrong")
	// ErrNotFound: the call acts on an item that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrIDConflict: the message id exists with a different body.
	ErrIDConflict = errors.New("the id is known with another body")
	// ErrSequenceMismatch: the session's last sequence is not the expected one. See Error.LastSequence.
	ErrSequenceMismatch = errors.New("the session has moved on")
	// ErrSessionOwnerMismatch: the session belongs to another user.
	ErrSessionOwnerMismatch = errors.New("the session belongs to another user")
	// ErrBudgetTooSmall: the mandatory parts of a context do not fit. See Error.RequiredTokens and Error.Item.
	ErrBudgetTooSmall = errors.New("the budget is too small")
	// ErrTooLarge: a message, request, batch or document is too large. A retry does not help.
	ErrTooLarge = errors.New("too large")
	// ErrRateLimited: too many calls. Error.RetryAfter says how long to wait.
	ErrRateLimited = errors.New("too many calls")
	// ErrQuotaExceeded: the namespace is at its quota, "quota" and "limit" in Error.Metadata.
	ErrQuotaExceeded = errors.New("the quota is used up")
	// ErrDiskFull: the disk is full; reads still work.
	ErrDiskFull = errors.New("the disk is full")
	// ErrSlowReader: the caller does not read the events of Watch. Watch again from "cursor" in Error.Metadata.
	ErrSlowReader = errors.New("the events of a watch are not read")
	// ErrUnauthenticated: the token is missing, unknown or expired.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrPermissionDenied: the token is not valid for this namespace or this call.
	ErrPermissionDenied = errors.New("permission denied")
	// ErrStarting: the sidecar is still opening its files. The client has retried the call.
	ErrStarting = errors.New("the sidecar is starting")
	// ErrShuttingDown: the sidecar is about to stop. The client has retried the call.
	ErrShuttingDown = errors.New("the sidecar is shutting down")
	// ErrIndexUnavailable: the request needs the index, which is not open. The client has retried the call.
	ErrIndexUnavailable = errors.New("the index is not available")
	// ErrOverloaded: too many requests are queued in the sidecar. The client has retried the call.
	ErrOverloaded = errors.New("the sidecar is overloaded")
	// ErrJournalUnavailable: the database of the sidecar's journal does not answer. The client has retried the call. A
	// write may have been stored.
	ErrJournalUnavailable = errors.New("the journal is not available")
	// ErrDataCorrupted: stored data is corrupted. "file" in Error.Metadata names the file.
	ErrDataCorrupted = errors.New("stored data is corrupted")
	// ErrNotImplemented: this version of the sidecar does not implement the RPC.
	ErrNotImplemented = errors.New("not implemented")
	// ErrInternal: a bug in the sidecar. The sidecar's log has the details.
	ErrInternal = errors.New("internal error of the sidecar")

	// ErrUnreachable: no server answers at the address, or the connection broke. The client has retried the call; a write
	// may have been stored.
	ErrUnreachable = errors.New("the sidecar cannot be reached")
	// ErrDeadlineExceeded: the deadline passed; a write may have been stored. Such an error also is
	// context.DeadlineExceeded.
	ErrDeadlineExceeded = errors.New("the deadline has passed")
	// ErrCanceled: the call was canceled; a write may have been stored. If the caller's context was canceled, such an
	// error also is context.Canceled and the context's cause.
	ErrCanceled = errors.New("the call was canceled")
	// ErrClosed: the client was closed. Such an error also is ErrCanceled.
	ErrClosed = errors.New("the client is closed")
)

// domain is the ErrorInfo domain of the sidecar.
const domain = "memsidecar.dev"

// byReason maps the reasons of the contract to sentinels.
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
	"SLOW_READER":            ErrSlowReader,
	"UNAUTHENTICATED":        ErrUnauthenticated,
	"PERMISSION_DENIED":      ErrPermissionDenied,
	"STARTING":               ErrStarting,
	"SHUTTING_DOWN":          ErrShuttingDown,
	"INDEX_UNAVAILABLE":      ErrIndexUnavailable,
	"OVERLOADED":             ErrOverloaded,
	"JOURNAL_UNAVAILABLE":    ErrJournalUnavailable,
	"DATA_CORRUPTED":         ErrDataCorrupted,
	"NOT_IMPLEMENTED":        ErrNotImplemented,
	"INTERNAL":               ErrInternal,
}

// byCode maps codes of errors of gRPC itself to sentinels.
var byCode = map[codes.Code][]error{
	codes.Unavailable:      {ErrUnreachable},
	codes.DeadlineExceeded: {ErrDeadlineExceeded, context.DeadlineExceeded},
	codes.Canceled:         {ErrCanceled},
	// gRPC's own limit on the size of a message, at either side.
	codes.ResourceExhausted: {ErrTooLarge},
}

// Error is the error of a call. [errors.Is] compares it with the sentinels; an error with a reason that this client
// does not know matches none of them.
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

// RequiredTokens is a MaxTokens with which the call succeeds, for ErrBudgetTooSmall.
func (e *Error) RequiredTokens() (tokens int32, ok bool) {
	number, ok := e.number("required_tokens", 32)
	return int32(number), ok
}

// Item names the largest mandatory part of the context, for ErrBudgetTooSmall: "system_prompt", "newest user message",
// "pinned facts", "tool_schemas_json" or "reserve_output_tokens". It is empty for other errors.
func (e *Error) Item() string {
	return e.Metadata["item"]
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

// read takes the details of the sidecar and ignores those of intermediaries.
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
