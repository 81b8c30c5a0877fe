"""Table from domain errors to gRPC statuses, and the error details that every status carries."""

import asyncio
from typing import NamedTuple

import grpc
import grpc.aio
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from memsidecar.domain import errors
from memsidecar.v1.errors_pb2 import ErrorReason

DOMAIN = "memsidecar.dev"
RETRY_SECONDS = 1
QUOTA_RETRY_SECONDS = 60  # long: a retry succeeds only after data was erased or the quota raised
_PREFIX = "ERROR_REASON_"


class StatusRow(NamedTuple):
    code: grpc.StatusCode
    reason: ErrorReason
    retry: bool = False


TABLE: dict[type[errors.SidecarError], StatusRow] = {
    errors.InvalidField: StatusRow(grpc.StatusCode.INVALID_ARGUMENT, ErrorReason.ERROR_REASON_INVALID_FIELD),
    errors.NotFound: StatusRow(grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_NOT_FOUND),
    errors.IdConflict: StatusRow(grpc.StatusCode.ALREADY_EXISTS, ErrorReason.ERROR_REASON_ID_CONFLICT),
    errors.SequenceMismatch: StatusRow(grpc.StatusCode.ABORTED, ErrorReason.ERROR_REASON_SEQUENCE_MISMATCH),
    errors.SessionOwnerMismatch: StatusRow(
        grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_SESSION_OWNER_MISMATCH
    ),
    errors.BudgetTooSmall: StatusRow(grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_BUDGET_TOO_SMALL),
    errors.TooLarge: StatusRow(grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_TOO_LARGE),
    errors.RateLimited: StatusRow(
        grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_RATE_LIMITED, retry=True
    ),
    errors.SlowReader: StatusRow(grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_SLOW_READER),
    errors.Unauthenticated: StatusRow(grpc.StatusCode.UNAUTHENTICATED, ErrorReason.ERROR_REASON_UNAUTHENTICATED),
    errors.PermissionDenied: StatusRow(grpc.StatusCode.PERMISSION_DENIED, ErrorReason.ERROR_REASON_PERMISSION_DENIED),
    errors.QuotaExceeded: StatusRow(
        grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_QUOTA_EXCEEDED, retry=True
    ),
    errors.DiskFull: StatusRow(grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_DISK_FULL, retry=True),
    errors.Overloaded: StatusRow(grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_OVERLOADED, retry=True),
    errors.ShuttingDown: StatusRow(grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_SHUTTING_DOWN, retry=True),
    errors.JournalUnavailable: StatusRow(
        grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_JOURNAL_UNAVAILABLE, retry=True
    ),
    errors.Unavailable: StatusRow(grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_STARTING, retry=True),
    errors.DataCorrupted: StatusRow(grpc.StatusCode.DATA_LOSS, ErrorReason.ERROR_REASON_DATA_CORRUPTED),
    errors.DeadlineExceeded: StatusRow(grpc.StatusCode.DEADLINE_EXCEEDED, ErrorReason.ERROR_REASON_UNSPECIFIED),
    errors.FatalStoreError: StatusRow(grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_SHUTTING_DOWN, retry=True),
    errors.SidecarError: StatusRow(grpc.StatusCode.INTERNAL, ErrorReason.ERROR_REASON_INTERNAL),
}

INTERNAL_ERROR = errors.SidecarError("an internal error; the sidecar's log has the details")


def row_of(error: errors.SidecarError) -> StatusRow:
    """Return the row of the error's class, or of its nearest base class."""
    return next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)


def reason_name(reason: ErrorReason) -> str:
    return ErrorReason.Name(reason).removeprefix(_PREFIX)


class CallAborted(grpc.aio.AbortError):
    """The call ends with this status. Interceptors let gRPC's class pass."""

    def __init__(self, status: status_pb2.Status) -> None:
        super().__init__(status.message)
        self.status = status

    @classmethod
    def with_code(cls, code: grpc.StatusCode, message: str) -> "CallAborted":
        """Return the error of a call that breaks the protocol of its transport."""
        return cls(status_pb2.Status(code=code.value[0], message=message))


_CODES = {code.value[0]: code for code in grpc.StatusCode}


class CallFailure(NamedTuple):
    """How a call failed, for metrics and traces: the name of its status, and its reason, or the status again."""

    status: str
    reason: str


def failure_of(error: BaseException) -> CallFailure:
    """Return how a call failed that ended with any exception."""
    if isinstance(error, errors.SidecarError):
        row = row_of(error)
        has_reason = row.reason != ErrorReason.ERROR_REASON_UNSPECIFIED
        return CallFailure(row.code.name, reason_name(row.reason) if has_reason else row.code.name)
    code = _code_of(error)
    return CallFailure(code.name, code.name)


def _code_of(error: BaseException) -> grpc.StatusCode:
    if isinstance(error, CallAborted):
        return _CODES[error.status.code]
    is_cancelled = isinstance(error, asyncio.CancelledError | GeneratorExit)
    return grpc.StatusCode.CANCELLED if is_cancelled else grpc.StatusCode.INTERNAL


def rich_status(error: errors.SidecarError) -> status_pb2.Status:
    row = row_of(error)
    status = status_pb2.Status(code=row.code.value[0], message=_message(error, row))
    if row.reason == ErrorReason.ERROR_REASON_UNSPECIFIED:
        return status  # the same status as when gRPC itself detects the error
    _pack(status, error_details_pb2.ErrorInfo(reason=reason_name(row.reason), domain=DOMAIN, metadata=_metadata(error)))
    if isinstance(error, errors.InvalidField):
        violation = error_details_pb2.BadRequest.FieldViolation(field=error.field, description=error.problem)
        _pack(status, error_details_pb2.BadRequest(field_violations=[violation]))
    if row.retry:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromMilliseconds(round(1000 * _retry_seconds(error)))
        _pack(status, retry)
    return status


def _retry_seconds(error: errors.SidecarError) -> float:
    if isinstance(error, errors.QuotaExceeded):
        return QUOTA_RETRY_SECONDS
    return error.retry_after_seconds if isinstance(error, errors.RateLimited) else RETRY_SECONDS


def _message(error: errors.SidecarError, row: StatusRow) -> str:
    """Return the message for the caller, without internals."""
    if row.code is grpc.StatusCode.INTERNAL:
        return str(INTERNAL_ERROR)
    if isinstance(error, errors.FatalStoreError):
        return "the journal has failed and the sidecar is stopping"
    return str(error)


def _metadata(error: errors.SidecarError) -> dict[str, str]:
    if isinstance(error, errors.SequenceMismatch):
        return {"last_sequence": str(error.last_sequence)}
    if isinstance(error, errors.BudgetTooSmall):
        return {"required_tokens": str(error.required_tokens), "item": error.largest}
    if isinstance(error, errors.QuotaExceeded):
        return {"quota": error.resource, "limit": str(error.limit)}
    if isinstance(error, errors.DataCorrupted):
        return {"file": error.file}
    if isinstance(error, errors.SlowReader):
        return {"cursor": error.cursor}
    return {}


def _pack(
    status: status_pb2.Status,
    detail: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest | error_details_pb2.RetryInfo,
) -> None:
    packed = any_pb2.Any()
    packed.Pack(detail)
    status.details.append(packed)
