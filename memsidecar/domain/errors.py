"""The tree of errors. Each has one row in `api/status.py`, and a test holds that the table is complete.

SidecarError
  InvalidField            a field of the request is wrong
  NoSuchThing             a thing named by its id is not there
  IdConflict              the id is known with another body
  SequenceMismatch        compare-and-set failed
  NotYourSession          the session belongs to another user
  BudgetTooSmall          what must stay in a context does not fit
  TooLarge                over a limit that no waiting changes
  RateLimited             too much in a short time
  QuotaExceeded           more than the namespace may keep
  DiskFull                no room to write; reads go on
  BadCredentials          no token or certificate, or one that is not known
  NotAllowed              the credentials are good, but not for this
  Unavailable             try again
    Busy                  too much at once
    ShuttingDown          draining
  DamagedFile             what is on disk is not what was written
  NotBuilt                not in this version
  DeadlinePassed          the caller no longer waits
  FatalStoreError         the state on disk is unknown: the process must stop
  StartRefused            the sidecar cannot start like this (never on the wire)
"""


class SidecarError(Exception):
    """Root of everything the sidecar raises on purpose; the message may be shown to a caller."""


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
    def __init__(self, max_tokens: int, required_tokens: int) -> None:
        super().__init__(
            f"what must stay in the context needs {required_tokens} tokens, and max_tokens is {max_tokens}"
        )
        self.max_tokens = max_tokens
        self.required_tokens = required_tokens


class TooLarge(SidecarError):
    pass


class RateLimited(SidecarError):
    """`seconds` is how long to wait before it is worth trying again."""

    def __init__(self, message: str, seconds: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after_seconds = seconds


class Unauthenticated(SidecarError):
    """Says the same of a token that is unknown, wrong or expired: the difference would help somebody who guesses."""

    def __init__(self) -> None:
        super().__init__("no valid credentials: send metadata `authorization: Bearer <token>` with a current token")


class PermissionDenied(SidecarError):
    pass


class QuotaExceeded(SidecarError):
    """`what` is "sessions", "messages" or "bytes"."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"the namespace may keep {limit} {what}, and this would be more; nothing was changed")
        self.resource = what
        self.limit = limit


class DiskFull(SidecarError):
    def __init__(self) -> None:
        super().__init__("no space left for the journal; nothing was changed, and reads go on")


class Unavailable(SidecarError):
    """Nothing was changed; the same call may succeed in a moment."""


class Overloaded(Unavailable):
    pass


class ShuttingDown(Unavailable):
    def __init__(self) -> None:
        super().__init__("the sidecar is shutting down")


class DataCorrupted(SidecarError):
    def __init__(self, message: str, *, file: str) -> None:
        super().__init__(message)
        self.file = file


class Unimplemented(SidecarError):
    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not in this version")


class DeadlineExceeded(SidecarError):
    def __init__(self) -> None:
        super().__init__("the deadline passed before this was done")


class FatalStoreError(SidecarError):
    """A write may or may not have reached the disk. Going on would turn doubt into loss."""


class StartRefused(SidecarError):
    pass
