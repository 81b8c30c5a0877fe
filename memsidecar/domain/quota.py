"""Storage usage of a namespace and its quota."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.errors import QuotaExceeded


class Usage(NamedTuple):
    """Stored amounts of a namespace, or a change of them. Pruned messages count; `bytes` are of the original bodies."""

    sessions: int = 0
    messages: int = 0
    bytes: int = 0

    def plus(self, change: "Usage") -> "Usage":
        return Usage(self.sessions + change.sessions, self.messages + change.messages, self.bytes + change.bytes)


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of a namespace; 0 means no limit."""

    sessions: int = 0
    messages: int = 0
    bytes: int = 0

    def check(self, after: Usage, change: Usage) -> None:
        """Raise QuotaExceeded if the change grows an amount past its limit.

        A change that grows nothing always passes: the quota may have been lowered below the current usage.
        """
        if 0 < self.sessions < after.sessions and change.sessions > 0:
            raise QuotaExceeded("sessions", self.sessions)
        if 0 < self.messages < after.messages and change.messages > 0:
            raise QuotaExceeded("messages", self.messages)
        if 0 < self.bytes < after.bytes and change.bytes > 0:
            raise QuotaExceeded("bytes", self.bytes)


NO_QUOTA = Quota()

QuotaLookup = Callable[[str], Quota]
"""Returns the quota of a namespace. The committer calls it at every write, so it must answer from RAM."""


def no_quotas(_namespace: str) -> Quota:
    return NO_QUOTA
