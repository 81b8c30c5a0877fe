"""Order in which items and turns are evicted, and the binary search for the first step that fits."""

from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import NamedTuple

from memsidecar.context.budgets import SectionLimits
from memsidecar.context.conversation import VisibleTurns
from memsidecar.context.sections import Content, Item
from memsidecar.v1.context_pb2 import (
    SECTION_ARTIFACTS,
    SECTION_DOCUMENTS,
    SECTION_EPISODIC,
    SECTION_FACTS,
    SECTION_HINTS,
    SECTION_PROFILE,
    SECTION_SUMMARY,
    SECTION_WORKING,
    Section,
)

RETRIEVED_SECTIONS = (SECTION_EPISODIC, SECTION_DOCUMENTS)
EVICTED_TURNS, EVICTED_CURRENT_TURN = "turns", "current_turn"
EVICTED_ITEMS: Mapping[Section, str] = {
    SECTION_EPISODIC: "episodic",
    SECTION_DOCUMENTS: "documents",
    SECTION_ARTIFACTS: "artifacts",
    SECTION_HINTS: "hints",
    SECTION_PROFILE: "profile",
    SECTION_SUMMARY: "summary",
    SECTION_FACTS: "facts",
}
"The sections whose items are evicted one by one."


class EvictionStep(NamedTuple):
    """One step: the number of oldest turns evicted, of items left by section, and the step of the turn under way.

    Holds numbers only: a long conversation has many steps, and the search looks at few of them.
    """

    turns: int = 0
    items: Mapping[Section, int] = MappingProxyType({})
    current: int = 0


class EvictionOrder:
    """All steps from the full content down to what is never evicted."""

    def __init__(self, content: Content, conversation: VisibleTurns, limits: SectionLimits, min_turns: int) -> None:
        self._content = content
        self._current = conversation.current
        self._limits = limits
        self._min_working_tokens = limits[SECTION_WORKING].min_tokens
        current = conversation.current.tokens(conversation.step) if conversation.current else 0
        tokens = [sum(unit.text_tokens for unit in turn) for turn in content.older]
        self._left = [*accumulate(reversed(tokens), initial=current)][::-1]
        self.steps = self._all_steps(min_turns, EvictionStep(current=conversation.step))

    def content(self, step: EvictionStep) -> Content:
        sections = {name: items[: step.items.get(name, len(items))] for name, items in self._content.sections.items()}
        current = self._current.units(step.current) if self._current else ()
        return Content(sections, self._content.older[step.turns :], current)

    def evicted(self, step: EvictionStep) -> Mapping[str, int]:
        """Return what the step evicts: turns and items by the name of their step, and whether it cuts the last turn."""
        items = {
            EVICTED_ITEMS[section]: len(self._content.sections.get(section, ())) - left
            for section, left in step.items.items()
        }
        is_cut = step.current > self.steps[0].current
        return {EVICTED_TURNS: step.turns, **items, EVICTED_CURRENT_TURN: int(is_cut)}

    def _all_steps(self, min_turns: int, first: EvictionStep) -> list[EvictionStep]:
        steps = [first]
        steps += self._without_turns(steps[-1], min_turns - 1)
        steps += self._without_retrieved(steps[-1], 1)
        steps += self._without_items(steps[-1], SECTION_ARTIFACTS)
        steps += self._without_items(steps[-1], SECTION_HINTS)
        steps += self._without_retrieved(steps[-1], 0)
        steps += self._without_items(steps[-1], SECTION_PROFILE)
        steps += self._without_items(steps[-1], SECTION_SUMMARY)
        steps += self._without_turns(steps[-1], 0)
        steps += self._without_items(steps[-1], SECTION_FACTS)
        return [*steps, *self._without_current(steps[-1])]

    def _without_turns(self, step: EvictionStep, least: int) -> Iterator[EvictionStep]:
        for gone in range(step.turns + 1, len(self._content.older) - least + 1):
            if self._left[gone] < self._min_working_tokens:
                return
            yield step._replace(turns=gone)

    def _without_retrieved(self, step: EvictionStep, least: int) -> Iterator[EvictionStep]:
        """Evict retrieved items of both sections, the least relevant first, down to `least` items."""
        found = [
            (item.relevance, -at, section)
            for section in RETRIEVED_SECTIONS
            for at, item in enumerate(self._items(step, section))
        ]
        for _, _, section in sorted(found)[: max(0, len(found) - least)]:
            shorter = next(self._without_items(step, section), None)
            if shorter is not None:
                step = shorter
                yield step

    def _without_items(self, step: EvictionStep, section: Section) -> Iterator[EvictionStep]:
        items = self._items(step, section)
        left = sum(item.tokens for item in items)
        for count in range(len(items) - 1, -1, -1):
            left -= items[count].tokens
            if items[count].pinned or left < self._limits[section].min_tokens:
                return
            yield step._replace(items={**step.items, section: count})

    def _items(self, step: EvictionStep, section: Section) -> tuple[Item, ...]:
        items = self._content.sections.get(section, ())
        return items[: step.items.get(section, len(items))]

    def _without_current(self, step: EvictionStep) -> Iterator[EvictionStep]:
        if self._current is None:
            return
        older = self._left[step.turns] - self._current.tokens(step.current)
        for current in range(step.current + 1, self._current.last + 1):
            if older + self._current.tokens(current) < self._min_working_tokens:
                return
            yield step._replace(current=current)


def first_fitting(order: EvictionOrder, fits: Callable[[Content], bool]) -> EvictionStep:
    """Return the first step that fits, or of the last one if none does.

    The first step only gives up what previews have beyond their sizes.

    A binary search, because each probe counts a whole rendering. A larger budget never ends on a later step: where a
    smaller budget fits, a larger one fits.
    """
    low, high = -1, len(order.steps) - 1
    while low + 1 < high:
        middle = (low + high) // 2
        if fits(order.content(order.steps[middle])):
            high = middle
        else:
            low = middle
    return order.steps[high]
