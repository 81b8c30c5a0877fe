"""The order in which one turn gives up tokens: large messages become previews, then exchanges leave."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memsidecar.context.previews import Previewer
from memsidecar.context.window import WindowMessage, WindowUnit
from memsidecar.domain.pruning.truncation import CHARACTERS_PER_TOKEN

MIN_PREVIEW_TOKENS = 64
_MAX_BYTES = 3 << 20
"Bytes of the turn under way. A client receives at most four MiB."
_MAX_BYTES_PER_TOKEN = 4 * CHARACTERS_PER_TOKEN
_LATE_FACTOR = 4
"Messages that shrink late may have this many times the tokens of the others."


class _Cut(NamedTuple):
    """One step: a message becomes a preview of `tokens`, or, without a message, the unit leaves."""

    unit: int
    message: int
    tokens: int


_WHOLE_UNIT = -1


class TurnReduction:
    """Steps from the whole turn to what is never left out. Every step only removes.

    Messages with a sequence in `fixed` never shrink. Those in `late` shrink less, and last, and stay. Sizes are powers
    of two, so that a preview changes rarely while the turn goes on.
    """

    def __init__(
        self,
        units: Sequence[WindowUnit],
        preview: Previewer,
        fixed: frozenset[int] = frozenset(),
        late: frozenset[int] = frozenset(),
    ) -> None:
        self._units = tuple(units)
        self._preview = preview
        self._fixed = fixed
        self._late = late
        self._sizes = [[message.text_tokens for message in unit.messages] for unit in self._units]
        self._cuts = tuple(self._all_cuts())
        self._tokens = self._after_each(self._sizes, 1)
        lengths = [[message.message.ByteSize() for message in unit.messages] for unit in self._units]
        self._bytes = self._after_each(lengths, _MAX_BYTES_PER_TOKEN)

    @property
    def last(self) -> int:
        """Return the number of the last step."""
        return len(self._cuts)

    def tokens(self, step: int) -> int:
        """Return the tokens of the text after a step. A preview counts with its limit."""
        return self._tokens[step]

    def first_within(self, max_tokens: int) -> int:
        """Return the first step after which the turn has at most `max_tokens` and fits a response, or the last one."""
        by_tokens = bisect_left(self._tokens, -max_tokens, key=lambda tokens: -tokens)
        by_bytes = bisect_left(self._bytes, -_MAX_BYTES, key=lambda size: -size)
        return min(max(by_tokens, by_bytes), self.last)

    def units(self, step: int) -> tuple[WindowUnit, ...]:
        limits: dict[tuple[int, int], int] = {}
        gone: set[int] = set()
        for cut in self._cuts[:step]:
            if cut.message == _WHOLE_UNIT:
                gone.add(cut.unit)
            else:
                limits[cut.unit, cut.message] = cut.tokens
        return tuple(self._reduced(at, limits) for at in range(len(self._units)) if at not in gone)

    def _reduced(self, at: int, limits: dict[tuple[int, int], int]) -> WindowUnit:
        unit = self._units[at]
        if not any((at, place) in limits for place in range(len(unit.messages))):
            return unit
        return WindowUnit(
            tuple(
                self._preview(message, limits[at, place]) if (at, place) in limits else message
                for place, message in enumerate(unit.messages)
            )
        )

    def _all_cuts(self) -> Iterator[_Cut]:
        tokens = 1 << max((size for sizes in self._sizes for size in sizes), default=1).bit_length()
        while tokens > MIN_PREVIEW_TOKENS:
            tokens //= 2
            yield from self._previews(tokens, late=False)
            yield from self._previews(_LATE_FACTOR * tokens, late=True)
        for at, unit in enumerate(self._units):
            if not any(message.sequence in self._fixed | self._late for message in unit.messages):
                yield _Cut(at, _WHOLE_UNIT, 0)
        while tokens < _LATE_FACTOR * MIN_PREVIEW_TOKENS:
            tokens *= 2
        while tokens > MIN_PREVIEW_TOKENS:
            tokens //= 2
            yield from self._previews(tokens, late=True)

    def _previews(self, tokens: int, late: bool) -> Iterator[_Cut]:
        """Yield the cuts of all messages that are larger, oldest first."""
        for at, unit in enumerate(self._units):
            for place, message in enumerate(unit.messages):
                if self._may_shrink(message, late) and self._sizes[at][place] > tokens:
                    yield _Cut(at, place, tokens)

    def _may_shrink(self, message: WindowMessage, late: bool) -> bool:
        return message.sequence not in self._fixed and (message.sequence in self._late) == late

    def _after_each(self, whole: Sequence[Sequence[int]], per_token: int) -> list[int]:
        """Return the size of the turn after each step. A preview has at most `per_token` for each of its tokens."""
        sizes = [list(unit) for unit in whole]
        totals = [sum(map(sum, sizes))]
        for cut in self._cuts:
            if cut.message == _WHOLE_UNIT:
                before, sizes[cut.unit] = sum(sizes[cut.unit]), []
                totals.append(totals[-1] - before)
            else:
                before = sizes[cut.unit][cut.message]
                sizes[cut.unit][cut.message] = after = min(before, per_token * cut.tokens)
                totals.append(totals[-1] - before + after)
        return totals
