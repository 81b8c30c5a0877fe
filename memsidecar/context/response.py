"""Encode a packed context: messages, stable prefix, and the receipt that accounts for every token."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from memsidecar.context.budgets import SECTIONS, SectionLimits
from memsidecar.context.packing import ContextInput, PackedContext
from memsidecar.context.sections import FROM_REQUEST, ROLE_ORIGINS, CountTokens, Item, Omission, displayed
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
    INCLUSION_SUMMARIZED,
    SECTION_FRAMING,
    SECTION_OUTPUT_RESERVE,
    SECTION_PROFILE,
    SECTION_SUMMARY,
    SECTION_TOOL_SCHEMAS,
    SECTION_WORKING,
    BuildContextResponse,
    Inclusion,
    Receipt,
    Section,
    SectionReceipt,
)
from memsidecar.v1.message_pb2 import Message, ScoreParts
from memsidecar.v1.message_pb2 import Role as WireRole

PREVIEW_CHARACTERS = 120
_QUERY = "query"


@dataclass(frozen=True)
class ReceiptBuilder:
    """Adds the receipts of all sections to one receipt. With `debug`, omitted items are listed too."""

    receipt: Receipt
    limits: SectionLimits
    count: CountTokens
    debug: bool

    def __call__(self, candidates: ContextInput, packed: PackedContext) -> None:
        receipts = {section: self._add_section(section, candidates, packed) for section in SECTIONS}
        booked = sum(receipt.used_tokens for receipt in receipts.values())
        framing = receipts[SECTION_FRAMING]
        framing.used_tokens = packed.total_tokens - booked
        # A tokenizer may count a text as fewer tokens than its parts: the sections give up the difference.
        for receipt in sorted(receipts.values(), key=lambda each: -each.used_tokens):
            owed = min(receipt.used_tokens, max(0, -framing.used_tokens))
            receipt.used_tokens -= owed
            framing.used_tokens += owed

    def _add_section(self, section: Section, candidates: ContextInput, packed: PackedContext) -> SectionReceipt:
        if section == SECTION_WORKING:
            return self._working(candidates, packed)
        if section == SECTION_TOOL_SCHEMAS:
            return self.receipt.sections.add(section=section, used_tokens=candidates.schema_tokens)
        if section == SECTION_OUTPUT_RESERVE:
            return self.receipt.sections.add(section=section, used_tokens=candidates.reserve_tokens)
        if section == SECTION_FRAMING:
            return self.receipt.sections.add(section=section)
        if section == SECTION_PROFILE:
            return self._profile(candidates, packed)
        return self._items(section, candidates, packed)

    def _items(self, section: Section, candidates: ContextInput, packed: PackedContext) -> SectionReceipt:
        filled, shown = packed.filled[section], displayed(packed.content.sections[section])
        keys = {item.key for item in shown}
        evicted = [Omission(item, INCLUSION_OVER_TOTAL) for item in filled.kept if item.key not in keys]
        left_out = [*evicted, *filled.omitted, *candidates.rejected.get(section, ())]
        receipt = self._section(section, sum(item.tokens for item in shown), len(left_out))
        for item in shown:
            _add_included(receipt, item)
        for omission in left_out if self.debug else ():
            self._add_omitted(receipt, omission)
        return receipt

    def _profile(self, candidates: ContextInput, packed: PackedContext) -> SectionReceipt:
        """Return the receipt of the profile: one item, however many of its sentences are shown."""
        shown = packed.content.sections[SECTION_PROFILE]
        whole = candidates.sections.get(SECTION_PROFILE, ())
        text = "".join(item.text for item in shown or whole).rstrip()
        receipt = self._section(SECTION_PROFILE, self.count(text) if shown else 0, int(bool(whole) and not shown))
        item = Item("profile", text, origin=FROM_REQUEST, shortened=0 < len(shown) < len(whole)).counted(self.count)
        if shown:
            _add_included(receipt, item)
        elif whole and self.debug:
            self._add_omitted(receipt, Omission(item, self._profile_omission(packed)))
        return receipt

    def _profile_omission(self, packed: PackedContext) -> Inclusion:
        if self.limits[SECTION_PROFILE].disabled:
            return INCLUSION_DISABLED
        filled = packed.filled[SECTION_PROFILE].kept
        return INCLUSION_OVER_TOTAL if filled else INCLUSION_OVER_SECTION

    def _working(self, candidates: ContextInput, packed: PackedContext) -> SectionReceipt:
        shown = [*packed.rendered.before, *packed.rendered.after]
        left_out = _omissions(packed, {message.sequence for message in shown})
        summarized = sum(reason == INCLUSION_SUMMARIZED for _, reason in left_out)
        query = candidates.query_to_append
        used = sum(message.text_tokens for message in shown) + (self.count(query) if query else 0)
        receipt = self._section(SECTION_WORKING, used, len(left_out) - summarized)
        if packed.content.sections[SECTION_SUMMARY]:
            receipt.summarized_count = summarized + candidates.summarized_unread
        if receipt.limit_tokens:  # the turn under way may have more than the section's ceiling
            receipt.limit_tokens = max(receipt.limit_tokens, min(used, self.limits.turn))
        for message in shown:
            _add_message(receipt, message, INCLUSION_SHORTENED if message.shortened else INCLUSION_INCLUDED)
        if query:
            _add_included(receipt, Item(_QUERY, query, origin=FROM_REQUEST).counted(self.count))
        for message, reason in left_out if self.debug else ():
            _add_message(receipt, message, reason)
        return receipt

    def _section(self, section: Section, used: int, left_out: int) -> SectionReceipt:
        limit = self.limits[section]
        share, ceiling = (0, 0) if limit.disabled else (limit.share, limit.ceiling)
        return self.receipt.sections.add(
            section=section, limit_tokens=ceiling, share_tokens=share, used_tokens=used, left_out_count=left_out
        )

    def _add_omitted(self, receipt: SectionReceipt, omission: Omission) -> None:
        _add_item(receipt, omission.item.counted(self.count), omission.reason)


def _omissions(packed: PackedContext, shown: set[int]) -> list[tuple[WindowMessage, Inclusion]]:
    """Return the messages of the conversation that are not shown, with the reason."""
    conversation = packed.conversation
    # When the summary is evicted, there is no room for what it covered either.
    of_summary = INCLUSION_SUMMARIZED if packed.content.sections[SECTION_SUMMARY] else INCLUSION_OVER_TOTAL

    def reasoned(message: WindowMessage, reason: Inclusion) -> tuple[WindowMessage, Inclusion]:
        return message, of_summary if message.sequence <= conversation.summarized_through else reason

    evicted = (message for message in conversation.messages if message.sequence not in shown)
    return [
        *(reasoned(message, INCLUSION_OVER_TOTAL) for message in evicted),
        *(reasoned(message, INCLUSION_OVER_SECTION) for message in conversation.omitted),
    ]


def _add_included(receipt: SectionReceipt, item: Item) -> None:
    _add_item(receipt, item, INCLUSION_SHORTENED if item.shortened else INCLUSION_INCLUDED)


_SHOWN_REASONS = (INCLUSION_INCLUDED, INCLUSION_SHORTENED)


def _add_item(receipt: SectionReceipt, item: Item, reason: Inclusion) -> None:
    receipt.items.add(
        id=item.id,
        message_ids=item.message_ids,
        session_id=item.session_id,
        tokens=item.tokens,
        included=reason in _SHOWN_REASONS,
        reason=reason,
        score=item.score,
        scores=encode_score_parts(item.parts) if item.parts else None,
        preview=item.text[:PREVIEW_CHARACTERS],
        relevance=item.relevance,
        origin=item.origin,
    )


def _add_message(receipt: SectionReceipt, message: WindowMessage, reason: Inclusion) -> None:
    receipt.items.add(
        id=message.message.id,
        message_ids=[message.message.id],
        tokens=message.text_tokens,
        included=reason in _SHOWN_REASONS,
        reason=reason,
        preview=message.message.content[:PREVIEW_CHARACTERS],
        origin=ROLE_ORIGINS[message.role],
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
    """Builds the response of one request."""

    limits: SectionLimits
    counter: Counter
    count: CountTokens
    retrieved_role: Role
    debug: bool

    def __call__(self, candidates: ContextInput, packed: PackedContext) -> BuildContextResponse:
        rendered = packed.rendered
        stable = [*self._composed(Role.SYSTEM, rendered.stable), *(message.message for message in rendered.before)]
        response = BuildContextResponse(
            messages=[
                *stable,
                *self._composed(self.retrieved_role, rendered.retrieved),
                *(message.message for message in rendered.after),
                *self._query_message(rendered.query),
            ],
            memory_text=rendered.memory,
            total_tokens=packed.total_tokens,
            max_tokens=self.limits.budget,
            stable_prefix_count=len(stable),
            stable_prefix_sha256=_digest(stable),
        )
        ReceiptBuilder(response.receipt, self.limits, self.count, self.debug)(candidates, packed)
        response.receipt.tokenizer, response.receipt.exact = self.counter.name, self.counter.exact
        return response

    def _composed(self, role: Role, text: str) -> list[Message]:
        if not text:
            return []
        tokens = MESSAGE_OVERHEAD + self.count(text)
        return [Message(role=WireRole.Name(role), content=text, tokens=tokens, synthetic=True)]

    def _query_message(self, query: str) -> list[Message]:
        if not query:
            return []
        return [Message(role="ROLE_USER", content=query, tokens=MESSAGE_OVERHEAD + self.count(query))]


def _digest(messages: Iterable[Message]) -> str:
    digest = hashlib.sha256()
    for message in messages:
        content = Message(role=message.role, name=message.name, content=message.content, tool_calls=message.tool_calls)
        encoded = content.SerializeToString(deterministic=True)
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()
