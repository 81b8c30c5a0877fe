"""In how many conversations something occurred, for the few hundred things that matter most."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log2
from typing import NamedTuple

_HALF_LIFE_CONVERSATIONS = 40  # so long a thing is missed before it counts half when room is made


class Count(NamedTuple):
    """`last` is the number of conversations when it occurred last."""

    shown: str
    conversations: int
    last: int


@dataclass(slots=True)
class Tally:
    """Bounded: when there are a quarter too many, the least goes. What comes back later begins anew, so that a count
    may be too low and is never too high."""

    most: int
    counts: dict[str, Count] = field(default_factory=dict)

    def add(self, key: str, shown: str, now: int) -> None:
        """Once for each conversation. `now` is the number of conversations so far."""
        before = self.counts.get(key) or Count(shown, 0, now)
        self.counts[key] = Count(before.shown, before.conversations + 1, now)
        if len(self.counts) > self.most * 5 // 4:
            self._make_room(now)

    def often(self, fewest: float) -> Iterator[Count]:
        """Those that occurred in so many conversations, most first."""
        ranked = sorted(self.counts.values(), key=lambda count: (-count.conversations, count.shown))
        return (count for count in ranked if count.conversations >= fewest)

    def copy(self) -> "Tally":
        return Tally(self.most, dict(self.counts))

    def rows(self) -> list[Count]:
        return list(self.counts.values())

    def restore(self, rows: Sequence[Sequence[object]], key_of: Callable[[str], str]) -> None:
        """The keys are not kept: what is shown has the same one."""
        counts = (Count(*row) for row in rows)  # type: ignore[arg-type] # as `rows` made them
        self.counts = {key_of(count.shown): count for count in counts}

    def _make_room(self, now: int) -> None:
        ranked = sorted(self.counts, key=lambda key: _worth(self.counts[key], now), reverse=True)
        kept = set(ranked[: self.most])
        self.counts = {key: count for key, count in self.counts.items() if key in kept}


def _worth(count: Count, now: int) -> tuple[float, str]:
    return log2(count.conversations) - (now - count.last) / _HALF_LIFE_CONVERSATIONS, count.shown
