"""Which turns of the conversation are shown, and in which form.

The oldest visible turn moves in steps (cut points), so that the prompt prefix stays the same for several turns and the
provider's prompt cache is reused.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile
from typing import NamedTuple

from memsidecar.context.budgets import ContextRequest, SectionLimit, SectionLimits
from memsidecar.context.reduction import MAX_BYTES, Previewer, TurnReduction
from memsidecar.context.sections import CountTokens, Item
from memsidecar.context.window import ConversationWindow, Turn, WindowMessage, WindowUnit
from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionHead
from memsidecar.layers.summaries.store import RollingSummary
from memsidecar.tokens.contract import MESSAGE_OVERHEAD
from memsidecar.v1.context_pb2 import SECTION_DOCUMENTS, SECTION_EPISODIC, SECTION_PROFILE, SECTION_WORKING

_CUT_POINTS_PER_LIMIT = 5
"Cut points by tokens lie a fifth of the section's token limit apart."
_HEADING_TOKENS = 80
"Left for headings and markers beside a conversation that is shown whole."
_OLDER_TURN_FRACTION = 4
"An older turn takes at most a fourth of the section. All older turns together are guaranteed a fourth."


class WindowStep(NamedTuple):
    """Default number of visible turns, and how many are left after the oldest are cut.

    Half of the turns go at once, not a fifth: a new prefix every other turn would cost the prompt cache more than the
    tokens saved (docs/decisions/context.md).
    """

    turns: int = 10
    min_turns: int = 5

    @property
    def step(self) -> int:
        return max(1, self.turns - self.min_turns)


@dataclass(frozen=True, slots=True)
class VisibleTurns:
    """Older turns, oldest first, each as its units, and the turn under way, reduced up to a step.

    `current_units` are the units of that step, with a preview that fills what the step leaves of the section.
    `omitted` are the messages that are not shown. The summary has those up to the sequence `summarized_through`.
    """

    older: tuple[tuple[WindowUnit, ...], ...] = ()
    current: TurnReduction | None = None
    step: int = 0
    current_units: tuple[WindowUnit, ...] = ()
    omitted: tuple[WindowMessage, ...] = ()
    summarized_through: int = 0

    @property
    def messages(self) -> list[WindowMessage]:
        turns = (*self.older, self.current_units)
        return [message for turn in turns for unit in turn for message in unit.messages]

    @property
    def tokens(self) -> int:
        return sum(message.text_tokens for message in self.messages)

    def grown(self, tokens: int) -> "VisibleTurns":
        """Return the turns with up to `tokens` more of the turn under way."""
        if self.current is None:
            return self
        most = sum(unit.text_tokens for unit in self.current_units) + tokens
        step = self.current.first_within(most)
        grown = replace(self, step=step, current_units=self.current.units(step, self.current.spare(step, most)))
        shown = {message.sequence for message in grown.messages}
        return replace(grown, omitted=tuple(each for each in self.omitted if each.sequence not in shown))


@dataclass(frozen=True, slots=True)
class ShownMessages:
    """The messages that the conversation shows, so that retrieval need not.

    Those are the messages of older turns that are shown whole, and of the turn under way also what is left out between
    others: it takes free tokens first.
    """

    session: int = 0
    sequences: frozenset[int] = frozenset()
    unbroken_from: tuple[int, int] | None = None
    "Session row and sequence of the oldest message that is shown together with all after it, if any."

    @classmethod
    def of(cls, head: SessionHead | None, turns: Sequence[Turn], visible: VisibleTurns) -> "ShownMessages":
        if head is None or not visible.messages:
            return cls()
        whole = {message.sequence for message in visible.messages if not message.shortened}
        oldest = min(message.sequence for message in visible.messages)
        shown = frozenset(whole.union(each for each in _sequences(turns[-1]) if each >= oldest))
        every = sorted((sequence for turn in turns for sequence in _sequences(turn)), reverse=True)
        newest = list(takewhile(shown.__contains__, every))
        return cls(head.row_id, shown, (head.row_id, newest[-1]) if newest else None)

    def contains(self, session: int, sequence: int) -> bool:
        return session == self.session and sequence in self.sequences


def _sequences(turn: Turn) -> list[int]:
    return [message.sequence for unit in turn.units for message in unit.messages]


def fixed_tokens(request: ContextRequest, system: Iterable[Item], limits: SectionLimits, count: CountTokens) -> int:
    """Return the tokens of the parts that the request gives, as far as they are guaranteed a place."""
    given = ((SECTION_PROFILE, (request.profile,)), (SECTION_DOCUMENTS, request.documents))
    guaranteed = sum(min(limits[section].guaranteed, sum(map(count, texts))) for section, texts in given)
    query = count(request.query) + MESSAGE_OVERHEAD if request.append_query else 0
    return guaranteed + query + sum(count(item.text) for item in system)


def fits_whole(window: ConversationWindow, turns: Sequence[Turn], limits: SectionLimits, fixed_tokens: int) -> bool:
    """Tell whether the whole conversation fits beside the fixed sections and what others are guaranteed.

    Then it is shown without a summary, and the prompt prefix grows without being cut.
    """
    limit = limits[SECTION_WORKING]
    left = limits.tokens - _HEADING_TOKENS - fixed_tokens - limits.derived - limits[SECTION_EPISODIC].guaranteed
    return (
        window.complete
        and not limit.disabled
        and len(turns) <= limit.max_items
        and window.tokens <= min(limit.ceiling, left)
        and sum(message.message.ByteSize() for message in window.messages) <= MAX_BYTES
    )


def shows_all(window: ConversationWindow, visible: VisibleTurns) -> bool:
    """Tell whether the turns have all messages of the window, at least tool results as previews."""
    shown = [message for message in visible.messages if not message.shortened or message.role == Role.TOOL]
    return len(shown) == len(window.messages)


def summarized_through(
    summary: RollingSummary | None, tokens: int, limit: SectionLimit, older: Sequence[WindowMessage]
) -> int:
    """Return the last sequence of `older` that the summary covers, or 0 if its `tokens` do not fit."""
    if summary is None or limit.disabled or tokens > limit.ceiling:
        return 0
    return min(summary.last_sequence, older[-1].sequence) if older else 0


@dataclass(frozen=True)
class ConversationCutter:
    """Chooses the visible turns.

    `query_appended`: the task of the turn under way is the query of the request, not the newest user message.
    `whole`: the whole conversation is shown, whatever its number of turns.
    """

    step: WindowStep
    preview: Previewer
    query_appended: bool = False
    whole: bool = False

    @property
    def min_turns(self) -> int:
        """Return the number of turns that are evicted late."""
        return sys.maxsize if self.whole else self.step.min_turns

    def __call__(self, turns: Sequence[Turn], limit: SectionLimit, summarized_through: int) -> VisibleTurns:
        """Return the turns to show. Turns up to the sequence `summarized_through` are left to the summary."""
        if limit.disabled or not turns:
            return VisibleTurns()
        if self.whole:
            current = self._current(turns[-1])
            return VisibleTurns(tuple(turn.units for turn in turns[:-1]), current, 0, current.units(0))
        recent = [turn for turn in turns if turn.last > summarized_through] or list(turns[-1:])
        most = limit.ceiling if limit.items else 0
        older = [self._compact(turn, most // _OLDER_TURN_FRACTION) for turn in recent[:-1]]
        sizes = [sum(unit.text_tokens for unit in units) for units in older]
        current = self._current(recent[-1])
        step = current.first_within(most - min(most // _OLDER_TURN_FRACTION, sum(sizes)))
        first = _first_visible(recent, [*sizes, current.tokens(step)], most, limit.items, self.step)
        spare = current.spare(step, most - sum(sizes[first:]))
        units = current.units(step, spare)
        visible = VisibleTurns(tuple(older[first:]), current, step, units, summarized_through=summarized_through)
        shown = {message.sequence for message in visible.messages}
        every = [message for turn in turns for unit in turn.units for message in unit.messages]
        return replace(visible, omitted=tuple(message for message in every if message.sequence not in shown))

    def _current(self, turn: Turn) -> TurnReduction:
        """Return the turn under way. Its task stays whole; its newest exchange is the last that shrinks."""
        messages = [message for unit in turn.units for message in unit.messages]
        asked = max((message.sequence for message in messages if message.role == Role.USER), default=0)
        task = frozenset({asked}) if asked else frozenset[int]()
        newest = max(turn.units, key=lambda unit: max(message.sequence for message in unit.messages))
        late = frozenset(message.sequence for message in newest.messages)
        if self.query_appended:
            return TurnReduction(turn.units, self.preview, late=late)
        return TurnReduction(turn.units, self.preview, fixed=task, late=late - task)

    def _compact(self, turn: Turn, max_tokens: int) -> tuple[WindowUnit, ...]:
        """Return an older turn. If it is large, tool results become previews; what was asked and answered stays."""
        if turn.text_tokens <= max_tokens:
            return turn.units
        messages = [message for unit in turn.units for message in unit.messages]
        spoken = [message.sequence for message in messages if message.role == Role.USER]
        answers = [m.sequence for m in messages if m.role == Role.ASSISTANT and not m.message.tool_calls]
        reduction = TurnReduction(turn.units, self.preview, late=frozenset([*spoken, *answers[-1:]]))
        return reduction.units(reduction.first_within(max_tokens))


def _first_visible(turns: Sequence[Turn], sizes: Sequence[int], most: int, items: int, step: WindowStep) -> int:
    """Return the index of the oldest visible turn: 0 if all fit, else the first cut point from which on all fit.

    With fewer turns than by default, the newest are shown, so that fewer turns never cost more tokens.
    """
    tokens = [*accumulate(reversed(sizes), initial=0)][::-1]
    by_count = max(0, len(turns) - max(items, step.turns))
    by_tokens = next((at for at in range(len(turns) + 1) if tokens[at] <= most), len(turns))
    return max(
        len(turns) - items,
        _cut_point(by_count, [turn.number // step.step for turn in turns]),
        _cut_point(by_tokens, [turn.start // max(1, most // _CUT_POINTS_PER_LIMIT) for turn in turns]),
    )


def _cut_point(at_least: int, blocks: Sequence[int]) -> int:
    """Return the first index from `at_least` on where a block begins, or `at_least` if none does."""
    if at_least == 0:
        return 0
    later = range(at_least, len(blocks))
    return next((at for at in later if blocks[at] != blocks[at - 1]), at_least)
