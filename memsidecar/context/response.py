"""Messages, stable prefix, receipt."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from memsidecar.context.budgets import SECTIONS, SectionLimits
from memsidecar.context.packing import ContextInput, PackedContext
from memsidecar.context.sections import CountTokens, Item, Omission
from memsidecar.context.window import WindowMessage
from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.domain.message import Role
from memsidecar.tokens.contract import MESSAGE_OVERHEAD, Counter
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
    BuildContextResponse,
    Inclusion,
    ItemReceipt,
    Section,
    SectionReceipt,
)
from memsidecar.v1.message_pb2 import Message, ScoreParts
from memsidecar.v1.message_pb2 import Role as WireRole

PREVIEW_CHARACTERS = 120
_QUERY = "query"


@dataclass(frozen=True)
class ReceiptBuilder:
    """`debug`: what was left out is listed, too."""

    limits: SectionLimits
    count: CountTokens
    debug: bool

    def __call__(self, material: ContextInput, fitted: PackedContext) -> list[SectionReceipt]:
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

    def _receipt(self, section: Section, material: ContextInput, fitted: PackedContext) -> SectionReceipt:
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

    def _items(self, section: Section, material: ContextInput, fitted: PackedContext) -> SectionReceipt:
        filled, shown = fitted.filled[section], fitted.content.sections[section]
        gone = [Omission(item, INCLUSION_OVER_TOTAL) for item in filled.kept[len(shown) :]]
        left_out = [*gone, *filled.omitted, *material.rejected.get(section, ())]
        receipt = self._section(section, sum(item.tokens for item in shown), len(left_out))
        receipt.items.extend(_included(item) for item in shown)
        if self.debug:
            receipt.items.extend(self._omitted(one) for one in left_out)
        return receipt

    def _profile(self, material: ContextInput, fitted: PackedContext) -> SectionReceipt:
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

    def _why_no_profile(self, fitted: PackedContext) -> Inclusion:
        if self.limits[SECTION_PROFILE].disabled:
            return INCLUSION_DISABLED
        had_room = fitted.filled[SECTION_PROFILE].kept
        return INCLUSION_OVER_TOTAL if had_room else INCLUSION_OVER_SECTION

    def _working(self, material: ContextInput, fitted: PackedContext) -> SectionReceipt:
        shown = [*fitted.rendered.before, *fitted.rendered.after]
        there = {one.sequence for one in shown}
        first = [one for turn in fitted.conversation.turns for unit in turn for one in unit.messages]
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
        limit = 0 if self.limits[section].disabled else self.limits[section].tokens
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
        scores=encode_score_parts(item.parts) if item.parts else None,
        preview=item.text[:PREVIEW_CHARACTERS],
    )


def _spoken(one: WindowMessage, reason: Inclusion) -> ItemReceipt:
    return ItemReceipt(
        id=one.message.id,
        message_ids=[one.message.id],
        tokens=one.text_tokens,
        included=reason in _IN,
        reason=reason,
        preview=one.message.content[:PREVIEW_CHARACTERS],
    )


def encode_score_parts(parts: ScoreBreakdown) -> ScoreParts:
    return ScoreParts(
        keyword=parts.keyword,
        semantic=parts.semantic,
        neighbours=parts.neighbours,
        speaker=parts.speaker,
        session=parts.session,
        recency=parts.recency,
    )


@dataclass(frozen=True)
class ResponseBuilder:
    limits: SectionLimits
    counter: Counter
    count: CountTokens
    retrieved_role: Role
    debug: bool

    def __call__(self, material: ContextInput, fitted: PackedContext) -> BuildContextResponse:
        rendered = fitted.rendered
        stable = [*self._composed(Role.SYSTEM, rendered.stable), *(one.message for one in rendered.before)]
        response = BuildContextResponse(
            messages=[
                *stable,
                *self._composed(self.retrieved_role, rendered.retrieved),
                *(one.message for one in rendered.after),
                *self._asked(rendered.query),
            ],
            memory_text=rendered.memory,
            total_tokens=fitted.total_tokens,
            max_tokens=self.limits.budget,
            stable_prefix_count=len(stable),
            stable_prefix_sha256=_digest(stable),
        )
        response.receipt.sections.extend(ReceiptBuilder(self.limits, self.count, self.debug)(material, fitted))
        response.receipt.tokenizer, response.receipt.exact = self.counter.name, self.counter.exact
        return response

    def _composed(self, role: Role, text: str) -> list[Message]:
        if not text:
            return []
        tokens = MESSAGE_OVERHEAD + self.count(text)
        return [Message(role=WireRole.Name(role), content=text, tokens=tokens, synthetic=True)]

    def _asked(self, query: str) -> list[Message]:
        if not query:
            return []
        return [Message(role="ROLE_USER", content=query, tokens=MESSAGE_OVERHEAD + self.count(query))]


def _digest(messages: Iterable[Message]) -> str:
    digest = hashlib.sha256()
    for one in messages:
        said = Message(role=one.role, name=one.name, content=one.content, tool_calls=one.tool_calls)
        encoded = said.SerializeToString(deterministic=True)
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()
