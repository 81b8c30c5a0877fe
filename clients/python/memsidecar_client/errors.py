"""Errors of the client, as a tree: a class for each reason of the sidecar, and three for errors of gRPC itself.

    MemsidecarError
        InvalidField          a field of the request is invalid: `field`
        NotFound              the call acts on something that does not exist
        IdConflict            the message id exists with a different body
        SequenceMismatch      the session's last sequence is not the expected one: `last_sequence`
        SessionOwnerMismatch  the session belongs to another user
        BudgetTooSmall        the mandatory parts of the context do not fit: `required_tokens`, `item`
        TooLarge              a message, request, batch or document is too large; a retry does not help
        RateLimited           too many calls: wait `retry_after` seconds
        QuotaExceeded         the namespace is at its quota: `quota` and `limit` in `metadata`
        DiskFull              the disk is full; nothing was stored, reads still work
        SlowReader            the events of a watch are not read: watch again from `cursor` in `metadata`
        Unauthenticated       the token is missing, unknown or expired
        PermissionDenied      the token is not valid for this namespace or this call
        Starting              \\
        ShuttingDown           | the client has retried these five, as often as the retry policy allows
        IndexUnavailable       |
        Overloaded             |
        JournalUnavailable    /  the journal's database does not answer: a write may have been stored
        DataCorrupted         a stored file cannot be read: `file` in `metadata`
        Unimplemented         the reason NOT_IMPLEMENTED: this version of the sidecar lacks the RPC (NotImplemented is a
                              builtin of Python)
        Internal              a bug in the sidecar; the sidecar's log has the details
        Unreachable           no server answers at the address, or the connection broke; the client has retried, and a
                              write may have been stored
        DeadlineExceeded      the deadline passed; a write may have been stored
        Cancelled             the caller cancelled; a write may have been stored
            Closed            by closing the client

After an error with a reason, except JournalUnavailable, that attempt stored nothing; an earlier attempt whose response
was lost may have stored the message. An error with a reason that this client does not know is a MemsidecarError.
"""

from collections.abc import Mapping
from typing import Any

import grpc

from memsidecar_client._details import Details


class MemsidecarError(Exception):
    """Error of a call: rejected by the sidecar, or without a response."""

    def __init__(self, message: str, code: grpc.StatusCode, details: Details | None = None) -> None:
        super().__init__(message)
        details = details or Details()
        self.message = message
        "For people; it may change."
        self.code = code
        self.reason = details.reason
        'As in ErrorReason, without its prefix: "ID_CONFLICT". Empty for what gRPC says itself.'
        self.field = details.field
        'The path of the field that is wrong, as in "messages[3].role"; empty for other errors.'
        self.metadata: Mapping[str, str] = details.metadata
        self.retry_after = details.retry_after
        "Seconds to wait before the call is worth another try; None where the sidecar did not say."

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all fields; by default an exception is unpickled from its message only."""
        return _remade, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        named = f"{self.code.name}, {self.reason}" if self.reason else self.code.name
        return f"{self.message} ({named})"


def _remade(kind: type[MemsidecarError], args: tuple[Any, ...]) -> MemsidecarError:
    return kind.__new__(kind, *args)


class InvalidField(MemsidecarError):
    pass


class NotFound(MemsidecarError):
    pass


class IdConflict(MemsidecarError):
    pass


class SequenceMismatch(MemsidecarError):
    @property
    def last_sequence(self) -> int:
        return int(self.metadata.get("last_sequence", 0))


class SessionOwnerMismatch(MemsidecarError):
    pass


class BudgetTooSmall(MemsidecarError):
    @property
    def required_tokens(self) -> int:
        return int(self.metadata.get("required_tokens", 0))

    @property
    def item(self) -> str:
        """The largest mandatory part: "system_prompt", "newest user message", "pinned facts" and so on."""
        return self.metadata.get("item", "")


class TooLarge(MemsidecarError):
    pass


class RateLimited(MemsidecarError):
    pass


class QuotaExceeded(MemsidecarError):
    pass


class DiskFull(MemsidecarError):
    pass


class SlowReader(MemsidecarError):
    pass


class Unauthenticated(MemsidecarError):
    pass


class PermissionDenied(MemsidecarError):
    pass


class Starting(MemsidecarError):
    pass


class ShuttingDown(MemsidecarError):
    pass


class IndexUnavailable(MemsidecarError):
    pass


class Overloaded(MemsidecarError):
    pass


class JournalUnavailable(MemsidecarError):
    pass


class DataCorrupted(MemsidecarError):
    pass


class Unimplemented(MemsidecarError):
    pass


class Internal(MemsidecarError):
    pass


class Unreachable(MemsidecarError):
    pass


class DeadlineExceeded(MemsidecarError):
    pass


class Cancelled(MemsidecarError):
    pass


class Closed(Cancelled):
    def __init__(self) -> None:
        super().__init__("the client is closed", grpc.StatusCode.CANCELLED)


BY_REASON: dict[str, type[MemsidecarError]] = {
    "INVALID_FIELD": InvalidField,
    "NOT_FOUND": NotFound,
    "ID_CONFLICT": IdConflict,
    "SEQUENCE_MISMATCH": SequenceMismatch,
    "SESSION_OWNER_MISMATCH": SessionOwnerMismatch,
    "BUDGET_TOO_SMALL": BudgetTooSmall,
    "TOO_LARGE": TooLarge,
    "RATE_LIMITED": RateLimited,
    "QUOTA_EXCEEDED": QuotaExceeded,
    "DISK_FULL": DiskFull,
    "SLOW_READER": SlowReader,
    "UNAUTHENTICATED": Unauthenticated,
    "PERMISSION_DENIED": PermissionDenied,
    "STARTING": Starting,
    "SHUTTING_DOWN": ShuttingDown,
    "INDEX_UNAVAILABLE": IndexUnavailable,
    "OVERLOADED": Overloaded,
    "JOURNAL_UNAVAILABLE": JournalUnavailable,
    "DATA_CORRUPTED": DataCorrupted,
    "NOT_IMPLEMENTED": Unimplemented,
    "INTERNAL": Internal,
}
BY_CODE: dict[grpc.StatusCode, type[MemsidecarError]] = {
    grpc.StatusCode.UNAVAILABLE: Unreachable,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.CANCELLED: Cancelled,
    # gRPC's own limit on the size of a message, at either side.
    grpc.StatusCode.RESOURCE_EXHAUSTED: TooLarge,
}


def error_of(code: grpc.StatusCode, message: str, details: Details) -> MemsidecarError:
    """Returns the error for a reason, or for the code if there is no reason."""
    kind = BY_REASON.get(details.reason) if details.reason else BY_CODE.get(code)
    return (kind or MemsidecarError)(message, code, details)
