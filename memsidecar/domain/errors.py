"""The error tree. Each class has one row in `api/status.py`; a test checks that the table is complete.

SidecarError
  InvalidField            a field of the request is invalid
  NotFound                no object has the given id
  IdConflict              the message id exists with another body
  SequenceMismatch        compare-and-set failed
  SessionOwnerMismatch    the session belongs to another user
  BudgetTooSmall          the required part of a context exceeds max_tokens
  TooLarge                over a limit that a retry does not change
  RateLimited             too many calls or bytes in a short time
  SlowReader              the caller does not read the responses of its stream
  QuotaExceeded           over the storage quota of the namespace
  DiskFull                no space to write; reads still work
  Unauthenticated         no valid token or certificate
  PermissionDenied        valid credentials without the required right
  Unavailable             a retry may succeed
    Overloaded            too many concurrent operations
    ShuttingDown          the server is draining
    JournalUnavailable    the database of the journal does not answer
  DataCorrupted           a file does not hold what was written
  DeadlineExceeded        the deadline of the call has passed
  FatalStoreError         the state on disk is unknown: the process must stop
  StartRefused            the sidecar cannot start with this configuration (never on the wire)
"""

from collections.abc import Mapping


class SidecarError(Exception):
    """Base class of the errors that the sidecar raises on purpose. The message may be shown to a client."""


class InvalidField(SidecarError):
    """`field` is the path in the request, for example "message.tool_calls[0].id"."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class NotFound(SidecarError):
    pass


class IdConflict(SidecarError):
    def __init__(self, message_id: str) -> None:
        super().__init__(f"message id {message_id!r} is known in this session with another body")


class SequenceMismatch(SidecarError):
    def __init__(self, expected: int, last_sequence: int) -> None:
        super().__init__(f"expected_sequence is {expected}, but the session's last sequence is {last_sequence}")
        self.last_sequence = last_sequence


class SessionOwnerMismatch(SidecarError):
    def __init__(self) -> None:
        super().__init__("the session belongs to another user")


class BudgetTooSmall(SidecarError):
    """`parts` are the tokens of the parts that are never left out, by name."""

    def __init__(self, max_tokens: int, required_tokens: int, parts: Mapping[str, int]) -> None:
        self.largest = max(parts, key=lambda name: parts[name])
        named = ", ".join(f"{name} {tokens:,}" for name, tokens in parts.items() if tokens)
        super().__init__(
            f"the context needs {required_tokens:,} tokens, and max_tokens is {max_tokens:,}: what is never left out "
            f"has ({named}). Raise max_tokens to {required_tokens}, or shorten: {self.largest}"
        )
        self.max_tokens = max_tokens
        self.required_tokens = required_tokens
        self.parts = parts


class TooLarge(SidecarError):
    pass


class RateLimited(SidecarError):
    """`retry_after_seconds` is the delay after which a retry can succeed."""

    def __init__(self, message: str, retry_after_seconds: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class SlowReader(SidecarError):
    """`cursor` is the position after the last response that was taken."""

    def __init__(self, cursor: str = "") -> None:
        super().__init__("the responses of this stream are not read; watch again from the cursor")
        self.cursor = cursor


class Unauthenticated(SidecarError):
    """The message is the same for an unknown, a wrong and an expired token: a difference would help an attacker."""

    def __init__(self) -> None:
        super().__init__("no valid credentials: send metadata `authorization: Bearer <token>` with a current token")


class PermissionDenied(SidecarError):
    pass


class QuotaExceeded(SidecarError):
    """`resource` is "sessions", "messages" or "bytes"."""

    def __init__(self, resource: str, limit: int) -> None:
        super().__init__(f"the namespace may keep {limit} {resource}, and this would be more; nothing was changed")
        self.resource = resource
        self.limit = limit


class DiskFull(SidecarError):
    def __init__(self, message: str = "no space left for the journal; nothing was changed, and reads go on") -> None:
        super().__init__(message)


class Unavailable(SidecarError):
    """Nothing was changed. The same call may succeed later."""


class Overloaded(Unavailable):
    pass


class ShuttingDown(Unavailable):
    def __init__(self) -> None:
        super().__init__("the sidecar is shutting down")


class JournalUnavailable(Unavailable):
    """`message` says so where a command may have taken effect: its ids make it safe to try again."""

    def __init__(self, message: str = "the journal's database does not answer; nothing was changed") -> None:
        super().__init__(message)


class DataCorrupted(SidecarError):
    def __init__(self, message: str, *, file: str) -> None:
        super().__init__(message)
        self.file = file


class DeadlineExceeded(SidecarError):
    def __init__(self) -> None:
        super().__init__("the deadline passed before this was done")


class FatalStoreError(SidecarError):
    """The store cannot tell whether a write reached the disk. To continue could lose acknowledged data."""


class StartRefused(SidecarError):
    pass
