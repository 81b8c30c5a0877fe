"""How many at once, and how much of what they asked for waits to be sent: a share for each tenant."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, cast

from memsidecar.api.interceptors import Context
from memsidecar.domain.errors import RateLimited

SMALL_ANSWER_BYTES = 64 * 1024
"Below it nothing is reckoned: so much stays in gRPC's own buffers anyway, and most answers are smaller."


@dataclass(frozen=True)
class Crowd:
    """Counted on the event loop only, so plain numbers will do."""

    most: int
    what: str
    _inside: dict[Hashable, int] = field(default_factory=dict)

    def enter(self, tenant: Hashable) -> None:
        inside = self._inside.get(tenant, 0)
        if inside >= self.most:
            raise RateLimited(f"{self.most} {self.what} of this namespace are in progress; try again")
        self._inside[tenant] = inside + 1

    def leave(self, tenant: Hashable) -> None:
        self._inside[tenant] -= 1
        if not self._inside[tenant]:
            del self._inside[tenant]


@dataclass
class Unsent:
    """Answers that wait for somebody who reads slowly stay in memory, so there is a limit to them together."""

    most_bytes: int
    _bytes: int = 0
    _of: Counter[Hashable] = field(default_factory=Counter)

    def hold(self, tenant: Hashable, size: int, context: Context) -> None:
        """Reckon an answer until gRPC is done with it."""
        if size < SMALL_ANSWER_BYTES:
            return
        if self._bytes + size > self.most_bytes or self._of[tenant] + size > self.most_bytes // 2:
            raise RateLimited("too many answers wait to be read by their callers; read them, and try again")
        self._bytes += size
        self._of[tenant] += size
        # The stubs know a done-callback only as a class of their own.
        context.add_done_callback(cast(Any, lambda _context: self._let_go(tenant, size)))

    def _let_go(self, tenant: Hashable, size: int) -> None:
        self._bytes -= size
        self._of[tenant] -= size
        if not self._of[tenant]:
            del self._of[tenant]
