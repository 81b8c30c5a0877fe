"""What can go wrong, as a tree: a class for each reason that the sidecar gives, and three that gRPC gives itself.

    MemsidecarError
        InvalidField          a field of the request is wrong: `field`
        NoSuchThing           the call acts on something that is not there
        IdConflict            the message id is known with another body
        SequenceMismatch      the session has moved on: `last_sequence`
        NotYourSession        the session belongs to another user
        BudgetTooSmall        what must stay does not fit: `required_tokens`
        TooLarge              a message, a request, a batch or a document is; do not send it again
        RateLimited           too many calls: wait `retry_after` seconds
        QuotaExceeded         no more may be kept: `quota` and `limit` in `metadata`
        DiskFull              there is no room; nothing was stored, reads go on
        BadCredentials        no token, or one that is not good
        NotAllowed            the token is not for this namespace or this call
        Starting              \\
        ShuttingDown           | these four were sent again already, as often as the policy says
        IndexUnavailable       |
        Busy                  /
        DamagedFile           what is stored cannot be read: `file` in `metadata`
        NotBuilt              this version of the sidecar does not have it
        Bug                   the sidecar's log says more
        Unreachable           nothing answers at the address, or the connection broke; sent again already, and a write
                              may have been stored
        DeadlineExceeded      the time was over; a write may have been stored
        Cancelled             the caller cancelled; a write may have been stored
            Closed            by closing the client

After an error with a reason, nothing of that attempt was stored; an earlier one whose answer was lost may have been. A
reason that this client does not know yet is a MemsidecarError.
"""

from collections.abc import Mapping
from typing import Any

import grpc

from memsidecar_client._details import Details


class MemsidecarError(Exception):
    """A call that was refused, or that nobody answered."""

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
        """Whole, for whoever calls from another process: by itself an exception is made anew of its message alone."""
        return _remade, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        named = f"{self.code.name}, {self.reason}" if self.reason else self.code.name
        return f"{self.message} ({named})"


def _remade(kind: type[MemsidecarError], args: tuple[Any, ...]) -> MemsidecarError:
    return kind.__new__(kind, *args)


class InvalidField(MemsidecarError):
    pass


class NoSuchThing(MemsidecarError):
    pass


class IdConflict(MemsidecarError):
    pass


class SequenceMismatch(MemsidecarError):
    @property
    def last_sequence(self) -> int:
        return int(self.metadata.get("last_sequence", 0))


class NotYourSession(MemsidecarError):
    pass


class BudgetTooSmall(MemsidecarError):
    @property
    def required_tokens(self) -> int:
        return int(self.metadata.get("required_tokens", 0))


class TooLarge(MemsidecarError):
    pass


class RateLimited(MemsidecarError):
    pass


class QuotaExceeded(MemsidecarError):
    pass


class DiskFull(MemsidecarError):
    pass


class BadCredentials(MemsidecarError):
    pass


class NotAllowed(MemsidecarError):
    pass


class Starting(MemsidecarError):
    pass


class ShuttingDown(MemsidecarError):
    pass


class IndexUnavailable(MemsidecarError):
    pass


class Busy(MemsidecarError):
    pass


class DamagedFile(MemsidecarError):
    pass


class NotBuilt(MemsidecarError):
    pass


class Bug(MemsidecarError):
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
    "NO_SUCH_THING": NoSuchThing,
    "ID_CONFLICT": IdConflict,
    "SEQUENCE_MISMATCH": SequenceMismatch,
    "NOT_YOUR_SESSION": NotYourSession,
    "BUDGET_TOO_SMALL": BudgetTooSmall,
    "TOO_LARGE": TooLarge,
    "RATE_LIMITED": RateLimited,
    "QUOTA_EXCEEDED": QuotaExceeded,
    "DISK_FULL": DiskFull,
    "BAD_CREDENTIALS": BadCredentials,
    "NOT_ALLOWED": NotAllowed,
    "STARTING": Starting,
    "SHUTTING_DOWN": ShuttingDown,
    "INDEX_UNAVAILABLE": IndexUnavailable,
    "BUSY": Busy,
    "DAMAGED_FILE": DamagedFile,
    "NOT_BUILT": NotBuilt,
    "BUG": Bug,
}
BY_CODE: dict[grpc.StatusCode, type[MemsidecarError]] = {
    grpc.StatusCode.UNAVAILABLE: Unreachable,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.CANCELLED: Cancelled,
    # gRPC's own limit on the size of a message, at either side.
    grpc.StatusCode.RESOURCE_EXHAUSTED: TooLarge,
}


def error_of(code: grpc.StatusCode, message: str, details: Details) -> MemsidecarError:
    """By its reason; where there is none, by its code."""
    kind = BY_REASON.get(details.reason) if details.reason else BY_CODE.get(code)
    return (kind or MemsidecarError)(message, code, details)
