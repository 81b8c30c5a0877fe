"""The one table from errors to statuses, and the rich details that every error carries."""

from typing import NamedTuple

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from memsidecar.domain import errors
from memsidecar.v1.errors_pb2 import ErrorReason

DOMAIN = "memsidecar.dev"
RETRY_SECONDS = 1
# Waiting alone does not help: somebody has to erase something first, or raise the quota.
QUOTA_RETRY_SECONDS = 60
_PREFIX = "ERROR_REASON_"


class Row(NamedTuple):
    code: grpc.StatusCode
    reason: ErrorReason
    retry: bool = False


TABLE: dict[type[errors.SidecarError], Row] = {
    errors.InvalidField: Row(grpc.StatusCode.INVALID_ARGUMENT, ErrorReason.ERROR_REASON_INVALID_FIELD),
    errors.NoSuchThing: Row(grpc.StatusCode.NOT_FOUND, ErrorReason.ERROR_REASON_NO_SUCH_THING),
    errors.IdConflict: Row(grpc.StatusCode.ALREADY_EXISTS, ErrorReason.ERROR_REASON_ID_CONFLICT),
    errors.SequenceMismatch: Row(grpc.StatusCode.ABORTED, ErrorReason.ERROR_REASON_SEQUENCE_MISMATCH),
    errors.NotYourSession: Row(grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_NOT_YOUR_SESSION),
    errors.BudgetTooSmall: Row(grpc.StatusCode.FAILED_PRECONDITION, ErrorReason.ERROR_REASON_BUDGET_TOO_SMALL),
    errors.TooLarge: Row(grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_TOO_LARGE),
    errors.RateLimited: Row(grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_RATE_LIMITED, retry=True),
    errors.BadCredentials: Row(grpc.StatusCode.UNAUTHENTICATED, ErrorReason.ERROR_REASON_BAD_CREDENTIALS),
    errors.NotAllowed: Row(grpc.StatusCode.PERMISSION_DENIED, ErrorReason.ERROR_REASON_NOT_ALLOWED),
    errors.QuotaExceeded: Row(grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_QUOTA_EXCEEDED, retry=True),
    errors.DiskFull: Row(grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorReason.ERROR_REASON_DISK_FULL, retry=True),
    errors.Busy: Row(grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_BUSY, retry=True),
    errors.ShuttingDown: Row(grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_SHUTTING_DOWN, retry=True),
    errors.Unavailable: Row(grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_STARTING, retry=True),
    errors.DamagedFile: Row(grpc.StatusCode.DATA_LOSS, ErrorReason.ERROR_REASON_DAMAGED_FILE),
    errors.NotBuilt: Row(grpc.StatusCode.UNIMPLEMENTED, ErrorReason.ERROR_REASON_NOT_BUILT),
    errors.DeadlinePassed: Row(grpc.StatusCode.DEADLINE_EXCEEDED, ErrorReason.ERROR_REASON_UNSPECIFIED),
    errors.FatalStoreError: Row(grpc.StatusCode.UNAVAILABLE, ErrorReason.ERROR_REASON_SHUTTING_DOWN, retry=True),
    errors.SidecarError: Row(grpc.StatusCode.INTERNAL, ErrorReason.ERROR_REASON_BUG),
}

BUG = errors.SidecarError("an internal error; the sidecar's log has the details")


def row_of(error: errors.SidecarError) -> Row:
    """The error's own row, or that of the nearest class above it."""
    return next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)


def reason_name(reason: ErrorReason) -> str:
    return ErrorReason.Name(reason).removeprefix(_PREFIX)


def rich_status(error: errors.SidecarError) -> status_pb2.Status:
    row = row_of(error)
    status = status_pb2.Status(code=row.code.value[0], message=_message(error, row))
    if row.reason == ErrorReason.ERROR_REASON_UNSPECIFIED:
        return status  # gRPC's own: it would look the same had gRPC noticed first
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
    return error.seconds if isinstance(error, errors.RateLimited) else RETRY_SECONDS


def _message(error: errors.SidecarError, row: Row) -> str:
    """What the caller is told; of the inside, nothing."""
    if row.code is grpc.StatusCode.INTERNAL:
        return str(BUG)
    if isinstance(error, errors.FatalStoreError):
        return "the journal has failed and the sidecar is stopping"
    return str(error)


def _metadata(error: errors.SidecarError) -> dict[str, str]:
    if isinstance(error, errors.SequenceMismatch):
        return {"last_sequence": str(error.last_sequence)}
    if isinstance(error, errors.BudgetTooSmall):
        return {"required_tokens": str(error.required_tokens)}
    if isinstance(error, errors.QuotaExceeded):
        return {"quota": error.what, "limit": str(error.limit)}
    if isinstance(error, errors.DamagedFile):
        return {"file": error.file}
    return {}


def _pack(
    status: status_pb2.Status,
    detail: error_details_pb2.ErrorInfo | error_details_pb2.BadRequest | error_details_pb2.RetryInfo,
) -> None:
    packed = any_pb2.Any()
    packed.Pack(detail)
    status.details.append(packed)
