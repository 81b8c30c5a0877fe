"""The account of a context: what went in, what was left out, and why. Its sections add up to the total."""

from dataclasses import dataclass

from memsidecar.context.caps import SECTIONS, Caps
from memsidecar.context.filling import Count
from memsidecar.context.fitting import Fitted, Material
from memsidecar.context.item import Item, Omission
from memsidecar.context.turns import Spoken
from memsidecar.domain.fact import Parts
from memsidecar.v1.context_pb2 import (
    INCLUSION_DISABLED,
    INCLUSION_INCLUDED,
    INCLUSION_OVER_SECTION,
    INCLUSION_OVER_TOTAL,
    INCLUSION_SHORTENED,
    SECTION_FRAMING,
    SECTION_OUTPUT_RESERVE,
    SECTION_PROFILE,
    SECTION_TOOL_SCHEMAS,
    SECTION_WORKING,
    Inclusion,
    ItemReceipt,
    Section,
    SectionReceipt,
)
from memsidecar.v1.message_pb2 import ScoreParts

PREVIEW_CHARACTERS = 120
_QUERY = "query"


@dataclass(frozen=True)
class Accounting:
    """`debug`: what was left out is listed, too."""

    caps: Caps
    count: Count
    debug: bool

    def __call__(self, material: Material, fitted: Fitted) -> list[SectionReceipt]:
        receipts = {section: self._receipt(section, material, fitted) for section in SECTIONS}
        booked = sum(receipt.used_tokens for receipt in receipts.values())
        framing = receipts[SECTION_FRAMING]
        framing.used_tokens = fitted.total_tokens - booked
        # A tokenizer may count a text less than its parts: what is then missing was never there.
        for receipt in sorted(receipts.values(), key=lambda each: -each.used_tokens):
            owed = min(receipt.used_tokens, max(0, -framing.used_tokens))
            receipt.used_tokens -= owed
            framing.used_tokens += owed
        return list(receipts.values())

    def _receipt(self, section: Section, material: Material, fitted: Fitted) -> SectionReceipt:
        if section == SECTION_WORKING:
            return self._working(material, fitted)
        if section == SECTION_TOOL_SCHEMAS:
            return SectionReceipt(section=section, used_tokens=material.schema_tokens)
        if section == SECTION_OUTPUT_RESERVE:
            return SectionReceipt(section=section, used_tokens=material.reserve_tokens)
        if section == SECTION_FRAMING:
            return SectionReceipt(section=section)
        if section == SECTION_PROFILE:
            return self._profile(material, fitted)
        return self._items(section, material, fitted)

    def _items(self, section: Section, material: Material, fitted: Fitted) -> SectionReceipt:
        filled, shown = fitted.filled[section], fitted.content.sections[section]
        gone = [Omission(item, INCLUSION_OVER_TOTAL) for item in filled.kept[len(shown) :]]
        left_out = [*gone, *filled.omitted, *material.passed_over.get(section, ())]
        receipt = self._section(section, sum(item.tokens for item in shown), len(left_out))
        receipt.items.extend(_included(item) for item in shown)
        if self.debug:
            receipt.items.extend(self._omitted(one) for one in left_out)
        return receipt

    def _profile(self, material: Material, fitted: Fitted) -> SectionReceipt:
        """One text, however many of its sentences are left."""
        shown = fitted.content.sections[SECTION_PROFILE]
        whole = material.sections.get(SECTION_PROFILE, ())
        text = "".join(item.text for item in shown or whole).rstrip()
        receipt = self._section(SECTION_PROFILE, self.count(text) if shown else 0, int(bool(whole) and not shown))
        item = Item("profile", text, shortened=0 < len(shown) < len(whole)).counted(self.count)
        if shown:
            receipt.items.append(_included(item))
        elif whole and self.debug:
            receipt.items.append(self._omitted(Omission(item, self._why_no_profile(fitted))))
        return receipt

    def _why_no_profile(self, fitted: Fitted) -> Inclusion:
        if self.caps[SECTION_PROFILE].disabled:
            return INCLUSION_DISABLED
        had_room = fitted.filled[SECTION_PROFILE].kept
        return INCLUSION_OVER_TOTAL if had_room else INCLUSION_OVER_SECTION

    def _working(self, material: Material, fitted: Fitted) -> SectionReceipt:
        shown = [*fitted.rendered.before, *fitted.rendered.after]
        there = {one.sequence for one in shown}
        first = [one for turn in fitted.conversation.turns for unit in turn for one in unit.spoken]
        gone = [(one, INCLUSION_OVER_TOTAL) for one in first if one.sequence not in there]
        left_out = [*gone, *((one, INCLUSION_OVER_SECTION) for one in fitted.conversation.omitted)]
        query = material.query_to_append
        used = sum(one.text_tokens for one in shown) + (self.count(query) if query else 0)
        receipt = self._section(SECTION_WORKING, used, len(left_out))
        receipt.items.extend(_spoken(one, INCLUSION_INCLUDED) for one in shown)
        if query:
            receipt.items.append(_included(Item(_QUERY, query).counted(self.count)))
        if self.debug:
            receipt.items.extend(_spoken(one, reason) for one, reason in left_out)
        return receipt

    def _section(self, section: Section, used: int, left_out: int) -> SectionReceipt:
        limit = 0 if self.caps[section].disabled else self.caps[section].tokens
        return SectionReceipt(section=section, limit_tokens=limit, used_tokens=used, left_out_count=left_out)

    def _omitted(self, omission: Omission) -> ItemReceipt:
        return _receipt(omission.item.counted(self.count), omission.reason)


def _included(item: Item) -> ItemReceipt:
    return _receipt(item, INCLUSION_SHORTENED if item.shortened else INCLUSION_INCLUDED)


_IN = (INCLUSION_INCLUDED, INCLUSION_SHORTENED)


def _receipt(item: Item, reason: Inclusion) -> ItemReceipt:
    return ItemReceipt(
        id=item.id,
        message_ids=item.message_ids,
        session_id=item.session_id,
        tokens=item.tokens,
        included=reason in _IN,
        reason=reason,
        score=item.score,
        scores=scores_of(item.parts) if item.parts else None,
        preview=item.text[:PREVIEW_CHARACTERS],
    )


def _spoken(one: Spoken, reason: Inclusion) -> ItemReceipt:
    return ItemReceipt(
        id=one.message.id,
        message_ids=[one.message.id],
        tokens=one.text_tokens,
        included=reason in _IN,
        reason=reason,
        preview=one.message.content[:PREVIEW_CHARACTERS],
    )


def scores_of(parts: Parts) -> ScoreParts:
    return ScoreParts(
        keyword=parts.keyword,
        semantic=parts.semantic,
        neighbours=parts.neighbours,
        speaker=parts.speaker,
        session=parts.session,
        recency=parts.recency,
    )
