"""How a turn gives up tokens: large messages become previews, then exchanges leave.

A preview has the head and the tail of a message, the id of the whole, and lines between that report a failure.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from memsidecar.context.window import WindowMessage, WindowUnit
from memsidecar.domain.pruning.truncation import CHARACTERS_PER_TOKEN, truncate_middle
from memsidecar.tokens.contract import MESSAGE_OVERHEAD, NAME_OVERHEAD, TOOL_CALL_OVERHEAD
from memsidecar.v1.message_pb2 import Message

_SEAM_TOKENS = 4
"Head, note and tail may have a few tokens more together than apart."
_FAILURE = re.compile(
    r"\b(?:ERROR|FATAL|CRITICAL|PANIC|FAILED|FAIL)\b|^(?:error|fatal|panic)\b|^\w*(?:Error|Exception): ", re.MULTILINE
)
_MAX_FAILURES, _MAX_LINE_CHARACTERS = 20, 400
"Lines that report a failure which are looked at, and what is shown of one."


@dataclass(frozen=True)
class Previewer:
    count: Callable[[str], int]

    def __call__(self, whole: WindowMessage, max_tokens: int) -> WindowMessage:
        """Return the message with at most about `max_tokens` of text; the whole one if a preview is not smaller."""
        if whole.text_tokens <= max_tokens:
            return whole
        message = Message()
        message.CopyFrom(whole.message)
        message.ClearField("reasoning")
        message.synthetic = True
        self._shorten_calls(message, max_tokens // 2)
        total = whole.text_tokens - self._tokens_besides_content(whole.message) - self.count(whole.message.reasoning)
        message.content = self._shorten(message, total, max_tokens - self._tokens_besides_content(message))
        message.tokens = self._tokens_besides_content(message) + self.count(message.content) + MESSAGE_OVERHEAD
        shortened = whole._replace(message=message, tokens=message.tokens, shortened=True)
        return shortened if shortened.tokens < whole.tokens else whole

    def _shorten(self, message: Message, total: int, max_tokens: int) -> str:
        """Return the content, which has `total` tokens, as head, note and tail of at most `max_tokens`."""
        content = message.content
        if total <= max_tokens:
            return content

        def note(removed: int, failures: str = "") -> str:
            return f"[{removed:,} tokens left out; the whole is message {message.id}]{failures}"

        def count(text: str) -> int:
            return total if text is content else self.count(text)

        keep = max_tokens - self.count(note(total)) - _SEAM_TOKENS
        if keep <= 0:
            return note(total)
        ends = truncate_middle(content, keep, count, note) or note(total)
        failures = self._failures(content, keep // 2)
        if not _hidden(failures, ends):
            return ends
        keep -= self.count("\n".join(failures))
        ends = truncate_middle(content, keep, count, note) or note(total)
        hidden = "\n".join(("", *_hidden(failures, ends)))
        return truncate_middle(content, keep, count, lambda removed: note(removed - self.count(hidden), hidden)) or ends

    def _failures(self, content: str, max_tokens: int) -> list[str]:
        """Return the first lines that report a failure, within `max_tokens`: with more tokens no line is lost."""
        lines: list[str] = []
        for found in islice(_FAILURE.finditer(content), _MAX_FAILURES):
            start = max(content.rfind("\n", 0, found.start()) + 1, found.start() - _MAX_LINE_CHARACTERS // 2)
            line = content[start : start + _MAX_LINE_CHARACTERS].partition("\n")[0]
            if line in lines:
                continue
            if self.count("\n".join((*lines, line))) > max_tokens:
                break
            lines.append(line)
        return lines

    def _shorten_calls(self, message: Message, max_tokens: int) -> None:
        """Replace arguments that leave no room for anything else. What replaces them is a JSON object, as they were."""
        for call in message.tool_calls:
            tokens = self.count(call.arguments_json)
            if tokens * len(message.tool_calls) > max_tokens:
                note = f"{tokens:,} tokens left out; the whole is message {message.id}"
                call.arguments_json = min(call.arguments_json, json.dumps({"left_out": note}), key=len)

    def _tokens_besides_content(self, message: Message) -> int:
        name = NAME_OVERHEAD + self.count(message.name) if message.name else 0
        return name + sum(
            TOOL_CALL_OVERHEAD + self.count(call.name) + self.count(call.arguments_json) for call in message.tool_calls
        )


def _hidden(lines: Sequence[str], ends: str) -> list[str]:
    """Return the lines that the ends of a text do not have."""
    shown = set(ends.split("\n"))
    return [line for line in lines if line not in shown]


MIN_PREVIEW_TOKENS = 64
MAX_BYTES = 3 << 20
"Bytes of the turn under way, or of a conversation that is shown whole. A client receives at most four MiB."
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
        by_bytes = bisect_left(self._bytes, -MAX_BYTES, key=lambda size: -size)
        return min(max(by_tokens, by_bytes), self.last)

    def spare(self, step: int, max_tokens: int) -> int:
        """Return the tokens by which a preview may grow after a step, within `max_tokens` and a response."""
        by_bytes = (MAX_BYTES - self._bytes[step]) // _MAX_BYTES_PER_TOKEN
        return max(0, min(max_tokens - self._tokens[step], by_bytes))

    def units(self, step: int, spare: int = 0) -> tuple[WindowUnit, ...]:
        """Return the units after a step. `spare` tokens extend the newest preview, which changes in any case."""
        limits: dict[tuple[int, int], int] = {}
        gone: set[int] = set()
        for cut in self._cuts[:step]:
            if cut.message == _WHOLE_UNIT:
                gone.add(cut.unit)
            else:
                limits[cut.unit, cut.message] = cut.tokens
        if limits:
            limits[max(limits)] += spare
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
        kept = self._fixed | self._late
        for at, unit in enumerate(self._units):
            if kept.isdisjoint(message.sequence for message in unit.messages):
                yield _Cut(at, _WHOLE_UNIT, 0)
        for tokens in (2 * MIN_PREVIEW_TOKENS, MIN_PREVIEW_TOKENS):
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
