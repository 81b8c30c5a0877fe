"""How many at once, and how much of what they send and ask for is in memory: a share for each tenant."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, cast

from memsidecar.api.interceptors import Context
from memsidecar.domain.errors import RateLimited

SMALL_BYTES = 64 * 1024
"Below it nothing is reckoned: so much stays in gRPC's own buffers anyway, and most requests and answers are smaller."


@dataclass(frozen=True)
class Crowd:
    """Counted on the event loop only, so plain numbers will do."""

    most: int
    what: str
    _inside: dict[Hashable, int] = field(default_factory=dict)

    def enter(self, tenant: Hashable) -> None:
        inside = self._inside.get(tenant, 0)
        if inside >= self.most:
            raise RateLimited(f"{self.most} {self.what} are in progress; try again")
        self._inside[tenant] = inside + 1

    def leave(self, tenant: Hashable) -> None:
        self._inside[tenant] -= 1
        if not self._inside[tenant]:
            del self._inside[tenant]


@dataclass
class Load:
    """What is large and in memory: a limit to all of it together, and half of that for one tenant."""

    most_bytes: int
    complaint: str
    _bytes: int = 0
    _of: Counter[Hashable] = field(default_factory=Counter)

    @staticmethod
    def is_small(size: int) -> bool:
        return size < SMALL_BYTES

    def take(self, tenant: Hashable, size: int) -> None:
        if self._bytes + size > self.most_bytes or self._of[tenant] + size > self.most_bytes // 2:
            raise RateLimited(self.complaint)
        self._bytes += size
        self._of[tenant] += size

    def let_go(self, tenant: Hashable, size: int) -> None:
        self._bytes -= size
        self._of[tenant] -= size
        if not self._of[tenant]:
            del self._of[tenant]


class Unsent:
    """Answers that wait for somebody who reads slowly."""

    def __init__(self, most_bytes: int) -> None:
        self._load = Load(most_bytes, "too many answers wait to be read by their callers; read them, and try again")

    def hold(self, tenant: Hashable, size: int, context: Context) -> None:
        """Reckon an answer until gRPC is done with it."""
        if self._load.is_small(size):
            return
        self._load.take(tenant, size)
        # The stubs know a done-callback only as a class of their own.
        context.add_done_callback(cast(Any, lambda _context: self._load.let_go(tenant, size)))


def unworked(most_bytes: int) -> Load:
    """Requests that came faster than they are worked on."""
    return Load(most_bytes, "too many large requests of this namespace are in progress; try again")
