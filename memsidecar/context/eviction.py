"""Eviction order and binary search over it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from memsidecar.context.budgets import SectionLimits
from memsidecar.context.sections import FilledSection, Item
from memsidecar.context.window import Unit, VisibleTurns
from memsidecar.v1.context_pb2 import (
    SECTION_ARTIFACTS,
    SECTION_DOCUMENTS,
    SECTION_EPISODIC,
    SECTION_HINTS,
    SECTION_PROFILE,
    SECTION_SUMMARY,
    SECTION_WORKING,
    Section,
)

_ITEMS_DOWN = (
    (SECTION_EPISODIC, 1),
    (SECTION_DOCUMENTS, 2),
    (SECTION_ARTIFACTS, 0),
    (SECTION_HINTS, 0),
    (SECTION_EPISODIC, 0),
    (SECTION_DOCUMENTS, 0),
    (SECTION_PROFILE, 0),
    (SECTION_SUMMARY, 0),
)
"Between the first and the last step, which are the conversation's: each section, down to how many items."


@dataclass(frozen=True, slots=True)
class Content:
    """All that is in a context, by section; the conversation apart."""

    sections: Mapping[Section, tuple[Item, ...]]
    turns: tuple[tuple[Unit, ...], ...]


def initial_content(filled: Mapping[Section, FilledSection], conversation: VisibleTurns) -> Content:
    return Content({section: each.kept for section, each in filled.items()}, conversation.turns)


class EvictionStep(NamedTuple):
    """How far down: so many of the oldest turns are gone, and of the rest so many units; so many items are left.

    Only numbers: a long conversation has many rungs, and few of them are ever looked at.
    """

    turns: int = 0
    units: int = 0
    items: Mapping[Section, int] = MappingProxyType({})


class EvictionOrder:
    """From everything down to what must stay: what is `kept`, and what the caps' least tokens hold."""

    def __init__(self, content: Content, kept: frozenset[Unit], caps: SectionLimits, min_turns: int) -> None:
        self._content = content
        self._kept = kept
        self._caps = caps
        self._floor = caps[SECTION_WORKING].min_tokens
        tokens = [sum(unit.text_tokens for unit in turn) for turn in content.turns]
        self._left = [*accumulate(reversed(tokens), initial=0)][::-1]
        self.steps = self._down(min_turns)

    def content(self, rung: EvictionStep) -> Content:
        sections = {name: items[: rung.items.get(name, len(items))] for name, items in self._content.sections.items()}
        turns = self._content.turns[rung.turns :]
        if rung.units:
            gone = set(self._going(rung.turns)[: rung.units])
            thinner = (tuple(unit for unit in turn if unit not in gone) for turn in turns)
            turns = tuple(turn for turn in thinner if turn)
        return Content(sections, turns)

    def _down(self, min_turns: int) -> list[EvictionStep]:
        rungs = [EvictionStep()]
        rungs += self._without_turns(rungs[-1], min_turns)
        for section, least in _ITEMS_DOWN:
            rungs += self._without_items(rungs[-1], section, least)
        rungs += self._without_turns(rungs[-1], 0)
        return [*rungs, *self._without_units(rungs[-1])]

    def _without_turns(self, rung: EvictionStep, least: int) -> Iterator[EvictionStep]:
        turns = self._content.turns
        for gone in range(rung.turns, len(turns) - least):
            if not self._kept.isdisjoint(turns[gone]) or self._left[gone + 1] < self._floor:
                return
            yield rung._replace(turns=gone + 1)

    def _without_items(self, rung: EvictionStep, section: Section, least: int) -> Iterator[EvictionStep]:
        items = self._content.sections.get(section, ())
        there = rung.items.get(section, len(items))
        left = sum(item.tokens for item in items[:there])
        for count in range(there - 1, least - 1, -1):
            left -= items[count].tokens
            if left < self._caps[section].min_tokens:
                return
            yield rung._replace(items={**rung.items, section: count})

    def _without_units(self, rung: EvictionStep) -> Iterator[EvictionStep]:
        left = self._left[rung.turns]
        for gone, unit in enumerate(self._going(rung.turns), 1):
            left -= unit.text_tokens
            if left < self._floor:
                return
            yield rung._replace(units=gone)

    def _going(self, turns_gone: int) -> list[Unit]:
        """What of the turns that are left may go, oldest first."""
        return [unit for turn in self._content.turns[turns_gone:] for unit in turn if unit not in self._kept]


def first_fitting(ladder: EvictionOrder, fits: Callable[[Content], bool]) -> Content:
    """The first content that fits below the top, which does not; the last one where none does.

    Looked for by halves, because each look counts a whole rendering. For a larger budget this never ends on a later
    rung, whatever the counts are: wherever the smaller one fits, the larger one does.
    """
    low, high = 0, len(ladder.steps) - 1
    while low + 1 < high:
        middle = (low + high) // 2
        if fits(ladder.content(ladder.steps[middle])):
            high = middle
        else:
            low = middle
    return ladder.content(ladder.steps[high])
