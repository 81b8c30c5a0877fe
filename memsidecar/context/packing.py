"""Pack a context into its budget: fill the shares, let unused tokens flow, render, count, and evict until it fits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from memsidecar.context.budgets import SectionLimit, SectionLimits
from memsidecar.context.conversation import ConversationCutter, VisibleTurns
from memsidecar.context.eviction import RETRIEVED_SECTIONS, EvictionOrder, first_fitting
from memsidecar.context.rendering import Rendered, render
from memsidecar.context.sections import Content, CountTokens, FilledSection, Item, Omission, fill, fill_from_start
from memsidecar.context.window import Turn
from memsidecar.domain.errors import BudgetTooSmall
from memsidecar.domain.message import Role
from memsidecar.language.extractive.excerpt import shorten
from memsidecar.tokens.contract import MESSAGE_OVERHEAD
from memsidecar.v1.context_pb2 import (
    INCLUSION_DISABLED,
    INCLUSION_OVER_SECTION,
    INCLUSION_OVER_TOTAL,
    SECTION_ARTIFACTS,
    SECTION_DOCUMENTS,
    SECTION_EPISODIC,
    SECTION_FACTS,
    SECTION_HINTS,
    SECTION_PROFILE,
    SECTION_SUMMARY,
    SECTION_SYSTEM,
    SECTION_WORKING,
    Section,
)

_LINE_TOKENS = 8
"Estimated tokens of a list item's number, and of a heading spread over its items."
_STABLE_DERIVED = (SECTION_FACTS, SECTION_HINTS, SECTION_SUMMARY)


@dataclass(frozen=True, slots=True)
class ContextInput:
    """Candidates of one context, the items of each section best first, before any cut.

    `rejected` holds hits that the relevance filter left out. The summary covers messages up to the sequence
    `summarized_through`, of which `summarized_unread` are not in `turns`.
    """

    sections: Mapping[Section, tuple[Item, ...]]
    rejected: Mapping[Section, Sequence[Omission]] = field(default_factory=dict)
    turns: Sequence[Turn] = ()
    summarized_through: int = 0
    summarized_unread: int = 0
    query_to_append: str = ""
    schema_tokens: int = 0
    reserve_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PackedContext:
    """A rendered context, and how each section was filled before eviction."""

    content: Content
    rendered: Rendered
    total_tokens: int
    filled: Mapping[Section, FilledSection]
    conversation: VisibleTurns
    evicted: Mapping[str, int] = field(default_factory=dict)
    "What did not fit, by the name of its step."


@dataclass(frozen=True)
class Packer:
    """Packs contexts. `limits_for` returns the section limits of a budget."""

    limits_for: Callable[[int], SectionLimits]
    count: CountTokens
    cut: ConversationCutter
    shorten: Callable[[str, int, CountTokens], str] = shorten
    "Shortens a summary."

    def __call__(self, candidates: ContextInput, budget: int) -> PackedContext:
        """Return the packed context. Raise BudgetTooSmall with a budget that is enough for the same call."""
        required = budget
        while True:
            packed, needed = self._pack(candidates, required)
            if packed is not None and required == budget:
                return packed
            if packed is not None:
                raise BudgetTooSmall(budget, required, self._mandatory_parts(candidates, packed))
            # A larger budget has larger limits, of which a section's min_tokens may keep more: repeat until it fits.
            required = needed

    def _pack(self, candidates: ContextInput, budget: int) -> tuple[PackedContext | None, int]:
        """Return the context, or None and the tokens of what is never evicted."""
        limits = self.limits_for(budget)
        filled = self._fill_shares(candidates, limits)
        summary = filled[SECTION_SUMMARY].kept
        # A shortened summary does not cover all messages that it was made of.
        covered = candidates.summarized_through if summary and not summary[0].shortened else 0
        conversation = self.cut(candidates.turns, limits[SECTION_WORKING], covered)
        packed = self._packed(filled, conversation, candidates)
        if packed.total_tokens < budget:
            extended = self._let_flow(packed, limits, candidates, budget - packed.total_tokens)
            # Texts may have more tokens together than apart: then the shares remain.
            packed = extended if extended.total_tokens <= budget else packed
            packed = self._grow_turn(packed, limits, candidates)
        elif packed.total_tokens > budget:
            order = EvictionOrder(packed.content, conversation, limits, self.cut.min_turns)
            step = first_fitting(order, lambda each: self._render(each, candidates)[1] <= budget)
            content, evicted = order.content(step), order.evicted(step)
            packed = PackedContext(content, *self._render(content, candidates), filled, conversation, evicted)
        return (None, packed.total_tokens) if packed.total_tokens > budget else (packed, 0)

    # -- shares

    def _fill_shares(self, candidates: ContextInput, limits: SectionLimits) -> dict[Section, FilledSection]:
        """Fill each section up to its share.

        Facts and summary precede the conversation in the prompt, so they take their ceiling at once: their size must
        not depend on what retrieval finds for one question. Artifacts keep a right to their share.
        """
        offered = candidates.sections
        filled = {
            section: self._fill(section, offered.get(section, ()), limits[section])
            for section in (SECTION_SYSTEM, SECTION_PROFILE, SECTION_DOCUMENTS, SECTION_EPISODIC)
        }
        left = limits.derived
        for section in _STABLE_DERIVED:
            limit = limits[section]
            most = limit._replace(share=limit.ceiling) if section == SECTION_SUMMARY else limit
            filled[section] = self._fill(section, offered.get(section, ()), most.within(left))
            left = max(0, left - filled[section].tokens)
        beside_artifacts = max(0, left - limits[SECTION_ARTIFACTS].share)
        filled[SECTION_FACTS] = self._extend(filled[SECTION_FACTS], limits[SECTION_FACTS], beside_artifacts)
        left = max(0, limits.derived - sum(filled[section].tokens for section in _STABLE_DERIVED))
        filled[SECTION_ARTIFACTS] = self._fill(
            SECTION_ARTIFACTS, offered.get(SECTION_ARTIFACTS, ()), limits[SECTION_ARTIFACTS].within(left)
        )
        return filled

    def _fill(self, section: Section, items: tuple[Item, ...], limit: SectionLimit) -> FilledSection:
        if limit.disabled:
            return FilledSection(omitted=tuple(Omission(item, INCLUSION_DISABLED) for item in items))
        if section == SECTION_SYSTEM:
            return FilledSection(tuple(item.counted(self.count) for item in items))
        if section == SECTION_PROFILE:
            return fill_from_start(items, limit.share, self.count)
        if section == SECTION_SUMMARY:
            return self._fill_summary(items[: limit.items], limit.share)
        return fill(items, limit.share, limit.items, self.count)

    def _fill_summary(self, items: tuple[Item, ...], tokens: int) -> FilledSection:
        """Shorten the summary to its best sentences if the section does not hold all of it."""
        shorter = [(item, self.shorten(item.text, tokens, self.count)) for item in items]
        kept = [item._replace(text=text, shortened=text != item.text) for item, text in shorter if text]
        omitted = [Omission(item, INCLUSION_OVER_SECTION) for item, text in shorter if not text]
        return FilledSection(tuple(item.counted(self.count) for item in kept), tuple(omitted))

    # -- flow

    def _extend(self, filled: FilledSection, limit: SectionLimit, room: int) -> FilledSection:
        """Add omitted items to a section, within `room` and the section's ceiling."""
        if limit.disabled or not filled.omitted:
            return filled
        rest = tuple(omission.item for omission in filled.omitted)
        tokens, items = min(room, limit.ceiling - filled.tokens), limit.max_items - len(filled.kept)
        return filled.extended(fill(rest, max(0, tokens), items, self.count))

    def _let_flow(
        self, packed: PackedContext, limits: SectionLimits, candidates: ContextInput, free: int
    ) -> PackedContext:
        """Give free tokens to retrieved items, the most relevant first, then to artifacts."""
        filled, free = self._restore(packed.filled, limits, candidates, free)
        most = {section: self._extend(filled[section], limits[section], free) for section in RETRIEVED_SECTIONS}
        left = max(0, limits.derived - sum(filled[section].tokens for section in (*_STABLE_DERIVED, SECTION_ARTIFACTS)))
        most[SECTION_ARTIFACTS] = self._extend(filled[SECTION_ARTIFACTS], limits[SECTION_ARTIFACTS], min(left, free))
        additions = _additions(filled, most)

        def with_first(number: int) -> PackedContext:
            chosen = {item.key for _, item in additions[:number]}
            more = {section: _limited(filled[section], each, chosen) for section, each in most.items()}
            return self._packed({**filled, **more}, packed.conversation, candidates)

        costs = accumulate((item.tokens + _LINE_TOKENS for _, item in additions), initial=0)
        estimated = sum(cost <= free for cost in costs) - 1
        extended = with_first(estimated)
        if extended.total_tokens <= limits.budget:
            return extended
        return with_first(_largest(lambda number: with_first(number).total_tokens <= limits.budget, estimated))

    def _restore(
        self, filled: Mapping[Section, FilledSection], limits: SectionLimits, candidates: ContextInput, free: int
    ) -> tuple[dict[Section, FilledSection], int]:
        """Show retrieved items whole that were cut to fit their share; return what stays free, too."""
        restored = dict(filled)
        for section in RETRIEVED_SECTIONS:
            whole = {item.key: item for item in candidates.sections.get(section, ())}
            kept, room = list(filled[section].kept), limits[section].ceiling - filled[section].tokens
            for at, item in enumerate(kept):
                larger = self._whole(item, whole[item.key])
                extra = larger.tokens - item.tokens
                if extra <= min(free, room):
                    kept[at], free, room = larger, free - extra, room - extra
            restored[section] = replace(filled[section], kept=tuple(kept))
        return restored, free

    def _whole(self, item: Item, candidate: Item) -> Item:
        if item.prefers_expanded and item.expanded:
            return candidate.whole(self.count)
        larger = candidate.counted(self.count)
        return larger if item.shortened and larger.tokens > item.tokens else item

    def _grow_turn(self, packed: PackedContext, limits: SectionLimits, candidates: ContextInput) -> PackedContext:
        """Give tokens that no other section can use to the turn under way, if that does not fit its section."""
        conversation = packed.conversation
        others = (*RETRIEVED_SECTIONS, SECTION_ARTIFACTS)
        if not conversation.step or any(_wants_more(packed.filled[each], limits[each]) for each in others):
            return packed
        free = min(limits.budget - packed.total_tokens, limits.turn - conversation.tokens)
        if free <= 0:
            return packed
        grown = conversation.grown(free)
        retrieved = {name for item in packed.filled[SECTION_EPISODIC].kept for name in item.message_ids}
        if not retrieved.isdisjoint(message.message.id for message in grown.messages):
            return packed  # retrieval already shows what would come back
        extended = self._packed(packed.filled, grown, candidates)
        return extended if extended.total_tokens <= limits.budget else packed

    # -- totals

    def _packed(
        self, filled: Mapping[Section, FilledSection], conversation: VisibleTurns, candidates: ContextInput
    ) -> PackedContext:
        content = _content(filled, conversation)
        return PackedContext(content, *self._render(content, candidates), filled, conversation)

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

    def _mandatory_parts(self, candidates: ContextInput, packed: PackedContext) -> dict[str, int]:
        """Return the tokens of the parts that are never left out, by the name of the field that sets them."""
        sections, rendered = packed.content.sections, packed.rendered
        conversation = (*rendered.before, *rendered.after)
        task = [] if rendered.query else [each for each in conversation if each.role == Role.USER][-1:]
        return {
            "system_prompt": sum(item.tokens for item in sections[SECTION_SYSTEM]),
            "newest user message": self.count(rendered.query) + sum(each.tokens for each in task),
            "newest messages": sum(each.tokens for each in conversation if each not in task),
            "pinned facts": sum(item.tokens for item in sections[SECTION_FACTS] if item.pinned),
            "tool_schemas_json": candidates.schema_tokens,
            "reserve_output_tokens": candidates.reserve_tokens,
        }


def _wants_more(filled: FilledSection, limit: SectionLimit) -> bool:
    """Tell whether a section left out items for which it has a right to more tokens."""
    is_full = len(filled.kept) >= limit.max_items or limit.ceiling == 0
    return bool(filled.omitted) and not limit.disabled and not is_full


def _largest(fits: Callable[[int], bool], too_many: int) -> int:
    """Return the largest number below `too_many` that fits; 0 is known to fit."""
    low, high = 0, too_many - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _content(filled: Mapping[Section, FilledSection], conversation: VisibleTurns) -> Content:
    sections = {section: each.kept for section, each in filled.items()}
    for section in RETRIEVED_SECTIONS:
        sections[section] = tuple(sorted(sections[section], key=lambda item: -item.relevance))
    return Content(sections, conversation.older, conversation.current_units)


def _additions(
    filled: Mapping[Section, FilledSection], most: Mapping[Section, FilledSection]
) -> list[tuple[Section, Item]]:
    """Return the items that flow adds: retrieved ones by relevance, artifacts after them."""
    added = [(section, item) for section, each in most.items() for item in each.kept[len(filled[section].kept) :]]
    return sorted(added, key=lambda one: (one[0] == SECTION_ARTIFACTS, -one[1].relevance))


def _limited(before: FilledSection, most: FilledSection, chosen: set[tuple[str, str]]) -> FilledSection:
    """Return the section with the chosen additions; the others do not fit the whole context."""
    added = most.kept[len(before.kept) :]
    late = tuple(Omission(item, INCLUSION_OVER_TOTAL) for item in added if item.key not in chosen)
    kept = (*before.kept, *(item for item in added if item.key in chosen))
    return FilledSection(kept, (*late, *most.omitted))
