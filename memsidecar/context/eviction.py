"""Order in which items and turns are evicted, and the binary search for the first step that fits."""

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from memsidecar.context.budgets import SectionLimits
from memsidecar.context.sections import Content, FilledSection
from memsidecar.context.window import VisibleTurns, WindowUnit
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

_ITEM_STEPS = (
    (SECTION_EPISODIC, 1),
    (SECTION_DOCUMENTS, 2),
    (SECTION_ARTIFACTS, 0),
    (SECTION_HINTS, 0),
    (SECTION_EPISODIC, 0),
    (SECTION_DOCUMENTS, 0),
    (SECTION_PROFILE, 0),
    (SECTION_SUMMARY, 0),
)
"Sections in the order of eviction, each down to a number of items. Turns are evicted before and after these steps."


def initial_content(filled: Mapping[Section, FilledSection], conversation: VisibleTurns) -> Content:
    return Content({section: each.kept for section, each in filled.items()}, conversation.turns)


class EvictionStep(NamedTuple):
    """One step: the number of oldest turns evicted, of units evicted from the rest, and of items left by section.

    Holds numbers only: a long conversation has many steps, and the search looks at few of them.
    """

    turns: int = 0
    units: int = 0
    items: Mapping[Section, int] = MappingProxyType({})


class EvictionOrder:
    """All steps from the full content down to what is never evicted: `kept` units and the sections' `min_tokens`."""

    def __init__(self, content: Content, kept: frozenset[WindowUnit], limits: SectionLimits, min_turns: int) -> None:
        self._content = content
        self._kept = kept
        self._limits = limits
        self._min_working_tokens = limits[SECTION_WORKING].min_tokens
        tokens = [sum(unit.text_tokens for unit in turn) for turn in content.turns]
        self._left = [*accumulate(reversed(tokens), initial=0)][::-1]
        self.steps = self._all_steps(min_turns)

    def content(self, step: EvictionStep) -> Content:
        sections = {name: items[: step.items.get(name, len(items))] for name, items in self._content.sections.items()}
        turns = self._content.turns[step.turns :]
        if step.units:
            evicted = set(self._evictable(step.turns)[: step.units])
            left = (tuple(unit for unit in turn if unit not in evicted) for turn in turns)
            turns = tuple(turn for turn in left if turn)
        return Content(sections, turns)

    def _all_steps(self, min_turns: int) -> list[EvictionStep]:
        steps = [EvictionStep()]
        steps += self._without_turns(steps[-1], min_turns)
        for section, least in _ITEM_STEPS:
            steps += self._without_items(steps[-1], section, least)
        steps += self._without_turns(steps[-1], 0)
        return [*steps, *self._without_units(steps[-1])]

    def _without_turns(self, step: EvictionStep, least: int) -> Iterator[EvictionStep]:
        turns = self._content.turns
        for gone in range(step.turns, len(turns) - least):
            if not self._kept.isdisjoint(turns[gone]) or self._left[gone + 1] < self._min_working_tokens:
                return
            yield step._replace(turns=gone + 1)

    def _without_items(self, step: EvictionStep, section: Section, least: int) -> Iterator[EvictionStep]:
        items = self._content.sections.get(section, ())
        there = step.items.get(section, len(items))
        left = sum(item.tokens for item in items[:there])
        for count in range(there - 1, least - 1, -1):
            left -= items[count].tokens
            if left < self._limits[section].min_tokens:
                return
            yield step._replace(items={**step.items, section: count})

    def _without_units(self, step: EvictionStep) -> Iterator[EvictionStep]:
        left = self._left[step.turns]
        for gone, unit in enumerate(self._evictable(step.turns), 1):
            left -= unit.text_tokens
            if left < self._min_working_tokens:
                return
            yield step._replace(units=gone)

    def _evictable(self, turns_gone: int) -> list[WindowUnit]:
        """Return the units that may be evicted from the remaining turns, oldest first."""
        return [unit for turn in self._content.turns[turns_gone:] for unit in turn if unit not in self._kept]


def first_fitting(order: EvictionOrder, fits: Callable[[Content], bool]) -> Content:
    """Return the first content after the full one that fits, or the smallest if none does.

    A binary search, because each probe counts a whole rendering. A larger budget never ends on a later step: where a
    smaller budget fits, a larger one fits.
    """
    low, high = 0, len(order.steps) - 1
    while low + 1 < high:
        middle = (low + high) // 2
        if fits(order.content(order.steps[middle])):
            high = middle
        else:
            low = middle
    return order.content(order.steps[high])
