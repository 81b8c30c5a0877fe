"""Items from the layers: facts, hints, summary, artifacts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memsidecar.context.request import ContextRequest
from memsidecar.context.sections import Item, format_age
from memsidecar.context.window import ConversationWindow, WindowMessage
from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead
from memsidecar.domain.text import is_injected_prompt, split_sentences
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.documents.documents import ChunkHit
from memsidecar.layers.semantic.fact import KnownFact
from memsidecar.layers.semantic.facts import Facts, fact_text, order_for_context
from memsidecar.layers.summaries.store import RollingSummary
from memsidecar.layers.summaries.update import SummarySchedule
from memsidecar.layers.working.conversation import Conversation
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.stores.contract import Owner
from memsidecar.tokens.contract import Counter
from memsidecar.v1.context_pb2 import SECTION_ARTIFACTS, SECTION_FACTS, SECTION_HINTS, SECTION_PROFILE, Section
from memsidecar.v1.message_pb2 import Message

_PROMPT = "system_prompt"
_MOST_ARTIFACTS = 20


class Hints(Protocol):
    def __call__(self, owner: Owner) -> Sequence[str]:
        """How somebody likes to be answered, a line each, most evidence first. From RAM or one read."""


@dataclass(frozen=True)
class ContextSources:
    """Reads only, and never waits for anybody but the disk."""

    working: WorkingMemory
    facts: Facts
    summary_schedule: SummarySchedule
    hints: Hints
    artifacts: Artifacts

    def window(self, order: ContextRequest, conversation: Conversation, counter: Counter) -> ConversationWindow:
        head = conversation.head
        if head is None:
            return ConversationWindow()
        spoken = [self._spoken(order, head, one, counter) for one in conversation.messages]
        return ConversationWindow(spoken, head.counts[Role.USER - 1], sum(head.tokens) - head.tokens[Role.SYSTEM - 1])

    def _spoken(self, order: ContextRequest, head: SessionHead, one: StoredMessage, counter: Counter) -> WindowMessage:
        message = Message.FromString(one.body)
        tokens = self.working.token_counts.tokens(counter, head, one)
        if not order.include_reasoning:
            message.ClearField("reasoning")
        elif message.reasoning:
            tokens += counter.count(message.reasoning)
        message.tokens = tokens
        return WindowMessage(message, one.sequence, one.role, one.exchange, tokens, one.tokens)

    def system(self, order: ContextRequest, conversation: Conversation) -> tuple[Item, ...]:
        if order.system_prompt:
            return (Item(_PROMPT, order.system_prompt),)
        prompts: list[Item] = []
        for one in map(Message.FromString, (stored.body for stored in conversation.system)):
            if not is_injected_prompt(one.content, [item.text for item in prompts]):
                prompts.append(Item(one.id, one.content, message_ids=(one.id,)))
        return tuple(prompts)

    def known(
        self, order: ContextRequest, head: SessionHead | None, query: str, verbatim: frozenset[str]
    ) -> dict[Section, tuple[Item, ...]]:
        """What does not depend on an index: profile, facts, hints and artifacts."""
        owner = self.owner(order, head)
        return {
            SECTION_PROFILE: tuple(Item("profile", sentence) for sentence in split_sentences(order.profile)),
            SECTION_FACTS: self._facts(order, owner, query, verbatim),
            SECTION_HINTS: tuple(Item(f"hint:{at}", line) for at, line in enumerate(self.hints(owner), 1)),
            SECTION_ARTIFACTS: self._artifacts(order, query),
        }

    def summary(self, head: SessionHead | None) -> RollingSummary | None:
        return self.summary_schedule.update_now(head) if head else None

    def owner(self, order: ContextRequest, head: SessionHead | None) -> Owner:
        user_id = order.user_id or (head.user_id if head else "")
        if user_id:
            return Owner(order.key.namespace, user_id)
        return Owner(order.key.namespace, session_id=order.key.session_id)

    def _facts(self, order: ContextRequest, owner: Owner, query: str, verbatim: frozenset[str]) -> tuple[Item, ...]:
        """Chosen by what matters, shown in the order in which they were learned: for the sake of prompt caches.

        For the same reason what was learned of messages that the model reads as they were is shown when they go, and
        the summary begins anew in any case.
        """
        known = [fact for fact in self.facts.current(owner) if not _is_read(fact, order, verbatim)]
        places = {
            fact.id: at for at, fact in enumerate(sorted(known, key=lambda one: (one.extracted_us, one.key, one.value)))
        }
        return tuple(
            Item(
                fact.id,
                fact_text(fact),
                message_ids=fact.source_message_ids,
                session_id=fact.session_id,
                score=fact.confidence,
                display_order=places[fact.id],
            )
            for fact in order_for_context(known, query)
        )

    def _artifacts(self, order: ContextRequest, query: str) -> tuple[Item, ...]:
        if not query:
            return ()
        found = self.artifacts.relevant(order.key, query, order.now_us, _MOST_ARTIFACTS)
        return tuple(
            Item(
                artifact.id,
                f"[{_joined(artifact.source, format_age(artifact.create_time_us, order.now_us))}] {artifact.content.strip()}",
                message_ids=(artifact.message_id,) if artifact.message_id else (),
                session_id=order.key.session_id,
                score=score,
            )
            for artifact, score in found
        )


def _is_read(fact: KnownFact, order: ContextRequest, verbatim: frozenset[str]) -> bool:
    sources = fact.source_message_ids
    same_session = fact.session_id == order.key.session_id and not fact.pinned
    return same_session and bool(sources) and verbatim.issuperset(sources)


def document_items(given: Sequence[str], found: Iterable[ChunkHit]) -> tuple[Item, ...]:
    """The caller's own chunks first: they know best what they are for."""
    own = [Item(f"request:{at}", text.strip()) for at, text in enumerate(given) if text.strip()]
    return (*own, *(_chunk(hit) for hit in found))


def _chunk(hit: ChunkHit) -> Item:
    document = hit.document
    name = document.title or document.source or document.id
    return Item(
        f"{document.id}#{hit.index}",
        f"[{name}] {hit.chunk.text.strip()}",
        session_id=document.owner.session_id,
        score=hit.score,
        parts=hit.parts,
    )


def summary_item(order: ContextRequest, summary: RollingSummary) -> Item:
    return Item(summary.id, summary.text, session_id=order.key.session_id)


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
