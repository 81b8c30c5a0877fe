"""What goes, and in which order, when everything together is more than the budget.

The steps down depend on what is there and never on the budget: the budget only says how many of them are taken. So a
smaller one never shows what a larger one did not.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memsidecar.context.caps import Caps
from memsidecar.context.item import Filled, Item
from memsidecar.context.turns import Shown, Unit
from memsidecar.v1.context_pb2 import Section

_ITEMS_DOWN = (
    (Section.SECTION_EPISODIC, 1),
    (Section.SECTION_DOCUMENTS, 2),
    (Section.SECTION_ARTIFACTS, 0),
    (Section.SECTION_HINTS, 0),
    (Section.SECTION_EPISODIC, 0),
    (Section.SECTION_DOCUMENTS, 0),
    (Section.SECTION_PROFILE, 0),
    (Section.SECTION_SUMMARY, 0),
)
"Between the first and the last step, which are the conversation's: each section, down to how many items."


@dataclass(frozen=True, slots=True)
class Content:
    """All that is in a context, by section; the conversation apart."""

    sections: Mapping[Section, tuple[Item, ...]]
    turns: tuple[tuple[Unit, ...], ...]


def first_content(filled: Mapping[Section, Filled], conversation: Shown) -> Content:
    return Content({section: each.kept for section, each in filled.items()}, conversation.turns)


def steps_down(content: Content, kept: frozenset[Unit], caps: Caps, min_turns: int) -> list[Content]:
    """The contents from everything down to what must stay; the first is everything."""
    rungs = [content]
    floor = caps[Section.SECTION_WORKING].least_tokens
    for fewer in _down(content, kept, caps, min_turns, floor):
        rungs.append(fewer)
    return rungs


def _down(content: Content, kept: frozenset[Unit], caps: Caps, min_turns: int, floor: int) -> Iterator[Content]:
    for fewer in _without_turns(content, kept, min_turns, floor):
        content = fewer
        yield content
    for section, items in _ITEMS_DOWN:
        for fewer in _without_items(content, section, items, caps[section].least_tokens):
            content = fewer
            yield content
    for fewer in _without_turns(content, kept, 0, floor):
        content = fewer
        yield content
    yield from _without_units(content, kept, floor)


def _without_items(content: Content, section: Section, items: int, floor: int) -> Iterator[Content]:
    left = content.sections.get(section, ())
    while len(left) > items and sum(item.tokens for item in left[:-1]) >= floor:
        left = left[:-1]
        yield replace(content, sections={**content.sections, section: left})


def _without_turns(content: Content, kept: frozenset[Unit], least: int, floor: int) -> Iterator[Content]:
    turns = content.turns
    while len(turns) > least and kept.isdisjoint(turns[0]) and _tokens(turns[1:]) >= floor:
        turns = turns[1:]
        yield replace(content, turns=turns)


def _without_units(content: Content, kept: frozenset[Unit], floor: int) -> Iterator[Content]:
    turns = content.turns
    going = [unit for turn in turns for unit in turn if unit not in kept]
    for unit in going:
        turns = tuple(tuple(other for other in turn if other is not unit) for turn in turns)
        if _tokens(turns) < floor:
            return
        yield replace(content, turns=tuple(turn for turn in turns if turn))


def _tokens(turns: Sequence[tuple[Unit, ...]]) -> int:
    return sum(unit.text_tokens for turn in turns for unit in turn)


def descend(rungs: Sequence[Content], fits: Callable[[Content], bool]) -> Content:
    """The first content that fits below the top, which does not; the last one where none does.

    Looked for by halves, because each look counts a whole rendering. For a larger budget this never ends on a later
    rung, whatever the counts are: wherever the smaller one fits, the larger one does.
    """
    low, high = 0, len(rungs) - 1
    while low + 1 < high:
        middle = (low + high) // 2
        if fits(rungs[middle]):
            high = middle
        else:
            low = middle
    return rungs[high]
