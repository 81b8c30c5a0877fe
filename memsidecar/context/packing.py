"""Fill, render, count, evict until it fits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memsidecar.context.budgets import DERIVED_SECTIONS, SectionLimit, SectionLimits
from memsidecar.context.eviction import Content, EvictionOrder, first_fitting, initial_content
from memsidecar.context.rendering import Rendered, render
from memsidecar.context.sections import CountTokens, FilledSection, Item, Omission, fill, fill_from_start
from memsidecar.context.window import Turn, VisibleTurns, WindowStep, visible_turns
from memsidecar.domain.errors import BudgetTooSmall
from memsidecar.tokens.contract import MESSAGE_OVERHEAD
from memsidecar.v1.context_pb2 import (
    INCLUSION_DISABLED,
    SECTION_PROFILE,
    SECTION_SUMMARY,
    SECTION_SYSTEM,
    SECTION_WORKING,
    Section,
)


@dataclass(frozen=True, slots=True)
class ContextInput:
    """What the layers gave for one context; the items of each section best first. Nothing of it is cut yet.

    `passed_over` is what they found and did not take. `covered` is the last message that the summary speaks for.
    """

    sections: Mapping[Section, tuple[Item, ...]]
    rejected: Mapping[Section, Sequence[Omission]] = field(default_factory=dict)
    turns: Sequence[Turn] = ()
    summarized_through: int = 0
    query_to_append: str = ""
    schema_tokens: int = 0
    reserve_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PackedContext:
    """A context that fits, how its sections were filled, and what went on the way down."""

    content: Content
    rendered: Rendered
    total_tokens: int
    filled: Mapping[Section, FilledSection]
    conversation: VisibleTurns


@dataclass(frozen=True)
class Packer:
    """`caps_of` says the caps of a budget, `count` the tokens of a text; `rhythm` how the conversation moves on."""

    limits_for: Callable[[int], SectionLimits]
    count: CountTokens
    window_step: WindowStep

    def __call__(self, material: ContextInput, budget: int) -> PackedContext:
        """Raises BudgetTooSmall with a number of tokens with which the same call succeeds."""
        required = budget
        while True:
            fitted, least = self._within(material, required)
            if fitted is not None and required == budget:
                return fitted
            if fitted is not None:
                raise BudgetTooSmall(budget, required)
            # More tokens are larger caps, and with them more facts that must stay: up to the least that is enough.
            required = least

    def _within(self, material: ContextInput, budget: int) -> tuple[PackedContext | None, int]:
        """The context, if there is one, and the tokens of what must stay."""
        caps = self.limits_for(budget)
        filled = self._filled(material, caps)
        summary = filled[SECTION_SUMMARY].kept
        # A summary that is cut does not speak for all that it was made of.
        covered = material.summarized_through if summary and not summary[0].shortened else 0
        conversation = visible_turns(material.turns, caps[SECTION_WORKING], self.window_step, covered)
        content = initial_content(filled, conversation)
        rendered, total = self._rendered(content, material)
        if total > budget:
            ladder = EvictionOrder(content, conversation.kept, caps, self.window_step.min_turns)
            content = first_fitting(ladder, lambda each: self._rendered(each, material)[1] <= budget)
            rendered, total = self._rendered(content, material)
        return (None, total) if total > budget else (PackedContext(content, rendered, total, filled, conversation), 0)

    def _filled(self, material: ContextInput, caps: SectionLimits) -> dict[Section, FilledSection]:
        filled = {
            section: self._fill(section, material.sections.get(section, ()), caps[section])
            for section in caps.sections
            if section not in (*DERIVED_SECTIONS, SECTION_WORKING)
        }
        left = caps.derived
        for section in DERIVED_SECTIONS:
            cap = caps[section]
            items = material.sections.get(section, ())
            filled[section] = self._fill(section, items, cap._replace(tokens=min(cap.tokens, left)))
            left -= filled[section].tokens
        return filled

    def _fill(self, section: Section, items: tuple[Item, ...], cap: SectionLimit) -> FilledSection:
        if cap.disabled:
            return FilledSection(omitted=tuple(Omission(item, INCLUSION_DISABLED) for item in items))
        if section == SECTION_SYSTEM:
            return FilledSection(tuple(item.counted(self.count) for item in items))
        if section == SECTION_PROFILE:
            return fill_from_start(items, cap, self.count)
        filled = fill(items, cap, self.count)
        return FilledSection(tuple(sorted(filled.kept, key=lambda item: item.display_order)), filled.omitted)

    def _rendered(self, content: Content, material: ContextInput) -> tuple[Rendered, int]:
        """What it would be, and its tokens, all of them."""
        rendered = render(content, material.query_to_append)
        composed = (rendered.stable, rendered.retrieved, rendered.query)
        return rendered, (
            sum(MESSAGE_OVERHEAD + self.count(text) for text in composed if text)
            + sum(one.tokens for one in (*rendered.before, *rendered.after))
            + material.schema_tokens
            + material.reserve_tokens
        )
