"""Pack a context into its budget: fill the sections, render, count, and evict until it fits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memsidecar.context.budgets import DERIVED_SECTIONS, SectionLimit, SectionLimits
from memsidecar.context.eviction import EvictionOrder, first_fitting, initial_content
from memsidecar.context.rendering import Rendered, render
from memsidecar.context.sections import Content, CountTokens, FilledSection, Item, Omission, fill, fill_from_start
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
    """Candidates of one context, the items of each section best first, before any cut.

    `rejected` holds hits that the relevance filter left out. The summary covers messages up to the sequence
    `summarized_through`.
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
    """A context that fits its budget, and how each section was filled before eviction."""

    content: Content
    rendered: Rendered
    total_tokens: int
    filled: Mapping[Section, FilledSection]
    conversation: VisibleTurns


@dataclass(frozen=True)
class Packer:
    """Packs contexts. `limits_for` returns the section limits of a budget."""

    limits_for: Callable[[int], SectionLimits]
    count: CountTokens
    window_step: WindowStep

    def __call__(self, candidates: ContextInput, budget: int) -> PackedContext:
        """Return the packed context. Raise BudgetTooSmall with a budget that is enough for the same call."""
        required = budget
        while True:
            packed, needed = self._pack(candidates, required)
            if packed is not None and required == budget:
                return packed
            if packed is not None:
                raise BudgetTooSmall(budget, required)
            # A larger budget has larger limits, and with them more facts that are never evicted: repeat until it fits.
            required = needed

    def _pack(self, candidates: ContextInput, budget: int) -> tuple[PackedContext | None, int]:
        """Return the context, or None and the tokens of what is never evicted."""
        limits = self.limits_for(budget)
        filled = self._fill_sections(candidates, limits)
        summary = filled[SECTION_SUMMARY].kept
        # A shortened summary does not cover all messages that it was made of.
        covered = candidates.summarized_through if summary and not summary[0].shortened else 0
        conversation = visible_turns(candidates.turns, limits[SECTION_WORKING], self.window_step, covered)
        content = initial_content(filled, conversation)
        rendered, total = self._render(content, candidates)
        if total > budget:
            order = EvictionOrder(content, conversation.kept, limits, self.window_step.min_turns)
            content = first_fitting(order, lambda each: self._render(each, candidates)[1] <= budget)
            rendered, total = self._render(content, candidates)
        return (None, total) if total > budget else (PackedContext(content, rendered, total, filled, conversation), 0)

    def _fill_sections(self, candidates: ContextInput, limits: SectionLimits) -> dict[Section, FilledSection]:
        filled = {
            section: self._fill(section, candidates.sections.get(section, ()), limits[section])
            for section in limits.sections
            if section not in (*DERIVED_SECTIONS, SECTION_WORKING)
        }
        left = limits.derived
        for section in DERIVED_SECTIONS:
            limit = limits[section]
            items = candidates.sections.get(section, ())
            filled[section] = self._fill(section, items, limit._replace(tokens=min(limit.tokens, left)))
            left -= filled[section].tokens
        return filled

    def _fill(self, section: Section, items: tuple[Item, ...], limit: SectionLimit) -> FilledSection:
        if limit.disabled:
            return FilledSection(omitted=tuple(Omission(item, INCLUSION_DISABLED) for item in items))
        if section == SECTION_SYSTEM:
            return FilledSection(tuple(item.counted(self.count) for item in items))
        if section == SECTION_PROFILE:
            return fill_from_start(items, limit, self.count)
        filled = fill(items, limit, self.count)
        return FilledSection(tuple(sorted(filled.kept, key=lambda item: item.display_order)), filled.omitted)

    def _render(self, content: Content, candidates: ContextInput) -> tuple[Rendered, int]:
        """Return the rendered context and its total tokens, schemas and output reserve included."""
        rendered = render(content, candidates.query_to_append)
        composed = (rendered.stable, rendered.retrieved, rendered.query)
        return rendered, (
            sum(MESSAGE_OVERHEAD + self.count(text) for text in composed if text)
            + sum(message.tokens for message in (*rendered.before, *rendered.after))
            + candidates.schema_tokens
            + candidates.reserve_tokens
        )
