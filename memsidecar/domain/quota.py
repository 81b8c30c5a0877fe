"""How much a namespace keeps, and how much it may keep."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.errors import QuotaExceeded


class Usage(NamedTuple):
    """What a namespace keeps, or by how much that changes. Pruned messages are kept; `bytes` is what was put."""

    sessions: int = 0
    messages: int = 0
    bytes: int = 0

    def plus(self, change: "Usage") -> "Usage":
        return Usage(self.sessions + change.sessions, self.messages + change.messages, self.bytes + change.bytes)


@dataclass(frozen=True, slots=True)
class Quota:
    """How much of each a namespace may keep; 0: as much as there is room for."""

    sessions: int = 0
    messages: int = 0
    bytes: int = 0

    def check(self, after: Usage, change: Usage) -> None:
        """Refuse what grows past a limit. What does not grow is never refused: a quota may have been lowered since."""
        if 0 < self.sessions < after.sessions and change.sessions > 0:
            raise QuotaExceeded("sessions", self.sessions)
        if 0 < self.messages < after.messages and change.messages > 0:
            raise QuotaExceeded("messages", self.messages)
        if 0 < self.bytes < after.bytes and change.bytes > 0:
            raise QuotaExceeded("bytes", self.bytes)


NO_QUOTA = Quota()

# Which quota a namespace has. Asked at every write, on the journal's own thread: it answers from RAM.
QuotaLookup = Callable[[str], Quota]


def no_quotas(_: str) -> Quota:
    return NO_QUOTA
