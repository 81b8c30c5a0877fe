"""Items of a context that need no index: window, system prompt, profile, facts, hints, summary, artifacts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memsidecar.context.budgets import ContextRequest
from memsidecar.context.rendering import ITEM_INDENT, encode_label, encode_text
from memsidecar.context.sections import FROM_CLIENT, FROM_PATTERNS, FROM_REQUEST, ROLE_ORIGINS, Item, format_date
from memsidecar.context.window import ConversationWindow, WindowMessage
from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.domain.text import is_injected_prompt, split_sentences
from memsidecar.layers.artifacts.artifact import StoredArtifact
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.documents.documents import ChunkHit
from memsidecar.layers.semantic.fact import KnownFact
from memsidecar.layers.semantic.facts import Facts, fact_label, order_for_context
from memsidecar.layers.summaries.store import RollingSummary
from memsidecar.layers.summaries.update import SummarySchedule
from memsidecar.layers.working.conversation import Conversation
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.stores.contract import LocatedMessage, Owner
from memsidecar.tokens.contract import Counter
from memsidecar.v1.context_pb2 import SECTION_ARTIFACTS, SECTION_FACTS, SECTION_HINTS, SECTION_PROFILE, Section
from memsidecar.v1.message_pb2 import Message

_PROMPT = "system_prompt"
_MAX_ARTIFACTS = 20


class Hints(Protocol):
    def __call__(self, owner: Owner) -> Sequence[str]:
        """Return how the user prefers to be answered, one line each, strongest evidence first. At most one read."""


@dataclass(frozen=True)
class ContextSources:
    """Collects items from the layers. Waits for nothing but the disk.

    A summary that is due may be updated and, except in a dry run, saved without waiting for the commit.
    """

    working: WorkingMemory
    facts: Facts
    summary_schedule: SummarySchedule
    hints: Hints
    artifacts: Artifacts

    def window(self, request: ContextRequest, conversation: Conversation, counter: Counter) -> ConversationWindow:
        """Return the conversation with its messages decoded and counted for the model of the request."""
        head = conversation.head
        if head is None:
            return ConversationWindow()
        stored, question = list(conversation.messages), conversation.question
        if question is not None and question.sequence < stored[0].sequence:
            stored.insert(0, question)  # the task of a turn that is longer than what was read of it
        messages = [self._window_message(request, head, message, counter) for message in stored]
        unread_count = head.message_count - head.counts[Role.SYSTEM - 1] - len(messages)
        return ConversationWindow(
            messages,
            window_turns=head.counts[Role.USER - 1],
            window_tokens=head.spoken_tokens,
            complete=not head.pruned_count and not unread_count,
            system=frozenset(message.sequence for message in conversation.system),
            unread_count=unread_count,
            last_sequence=head.last_sequence,
        )

    def _window_message(
        self, request: ContextRequest, head: SessionHead, stored: StoredMessage, counter: Counter
    ) -> WindowMessage:
        message = Message.FromString(stored.body)
        tokens = self.working.token_counts.tokens(counter, head, stored)
        if not request.include_reasoning:
            message.ClearField("reasoning")
        elif message.reasoning:
            tokens += counter.count(message.reasoning)
        message.tokens = tokens
        return WindowMessage(message, stored.sequence, stored.role, stored.exchange, tokens, stored.tokens)

    def locate(self, owner: Owner, session_id: str, message_id: str) -> LocatedMessage | None:
        """Return a message of the owner's sessions, if it exists. A fact may name any message as its source."""
        key = SessionKey(owner.namespace, session_id)
        versions = self.working.read.journal.message(key, message_id)
        if versions is None or versions.head.user_id != owner.user_id or owner.session_id not in ("", session_id):
            return None
        return LocatedMessage(0, key, versions.original, versions.head.row_id, versions.head.user_id)

    def system(self, request: ContextRequest, conversation: Conversation) -> tuple[Item, ...]:
        if request.system_prompt:
            return (Item(_PROMPT, request.system_prompt, origin=FROM_REQUEST),)
        prompts: list[Item] = []
        for message in map(Message.FromString, (stored.body for stored in conversation.system)):
            if not is_injected_prompt(message.content, [item.text for item in prompts]):
                origin = ROLE_ORIGINS[Role.SYSTEM]
                prompts.append(Item(message.id, message.content, message_ids=(message.id,), origin=origin))
        return tuple(prompts)

    def known(
        self, request: ContextRequest, head: SessionHead | None, query: str, verbatim: frozenset[str]
    ) -> dict[Section, tuple[Item, ...]]:
        """Return the items of profile, facts, hints and artifacts. Facts of messages in `verbatim` are left out."""
        owner = self.owner(request, head)
        return {
            SECTION_PROFILE: tuple(
                Item("profile", sentence, origin=FROM_REQUEST)
                for sentence in split_sentences(_encoded(request.profile))
            ),
            SECTION_FACTS: self._facts(request, owner, query, verbatim),
            SECTION_HINTS: tuple(
                Item(f"hint:{at}", _encoded(line), origin=FROM_PATTERNS) for at, line in enumerate(self.hints(owner), 1)
            ),
            SECTION_ARTIFACTS: self._artifacts(request, query),
        }

    def summary(self, request: ContextRequest, head: SessionHead | None) -> RollingSummary | None:
        return self.summary_schedule.update_if_fast(head, dry_run=request.dry_run) if head else None

    def owner(self, request: ContextRequest, head: SessionHead | None) -> Owner:
        user_id = request.user_id or (head.user_id if head else "")
        if user_id:
            return Owner(request.key.namespace, user_id)
        return Owner(request.key.namespace, session_id=request.key.session_id)

    def _facts(self, request: ContextRequest, owner: Owner, query: str, verbatim: frozenset[str]) -> tuple[Item, ...]:
        """Return the facts, chosen by relevance and displayed in the order of extraction: prompt caches stay valid.

        A fact from a message that the model reads verbatim appears only when that message leaves the window. The
        summary changes at that moment too, so the prefix changes only once.
        """
        known = [fact for fact in self.facts.current(owner) if not _is_verbatim(fact, request, verbatim)]
        places = {
            fact.id: at
            for at, fact in enumerate(sorted(known, key=lambda fact: (fact.extracted_us, fact.key, fact.value)))
        }
        return tuple(
            Item(
                fact.id,
                f"{encode_label(fact_label(fact), ': ')}: {_encoded(fact.value)}",
                message_ids=fact.source_message_ids,
                session_id=fact.session_id,
                score=fact.confidence,
                display_order=places[fact.id],
                pinned=fact.pinned,
                origin=fact.origin,
            )
            for fact in order_for_context(known, query)
        )

    def _artifacts(self, request: ContextRequest, query: str) -> tuple[Item, ...]:
        if not query:
            return ()
        found = self.artifacts.relevant(request.key, query, request.now_us, _MAX_ARTIFACTS)
        return tuple(
            Item(
                artifact.id,
                _artifact_text(artifact, request.now_us),
                message_ids=(artifact.message_id,) if artifact.message_id else (),
                session_id=request.key.session_id,
                score=score,
                origin=FROM_CLIENT,
            )
            for artifact, score in found
        )


def _is_verbatim(fact: KnownFact, request: ContextRequest, verbatim: frozenset[str]) -> bool:
    sources = fact.source_message_ids
    same_session = fact.session_id == request.key.session_id and not fact.pinned
    return same_session and bool(sources) and verbatim.issuperset(sources)


def document_items(given: Sequence[str], found: Iterable[ChunkHit]) -> tuple[Item, ...]:
    """Return the chunks of the request, then the chunks that retrieval found."""
    own = [
        Item(f"request:{at}", _encoded(text), relevance=1.0, origin=FROM_REQUEST)
        for at, text in enumerate(given)
        if text.strip()
    ]
    return (*own, *(_chunk(hit) for hit in found))


def _chunk(hit: ChunkHit) -> Item:
    document = hit.document
    name = document.title or document.source or document.id
    return Item(
        f"{document.id}#{hit.index}",
        f"[{encode_label(name, '] ')}] {_encoded(hit.chunk.text)}",
        session_id=document.owner.session_id,
        score=hit.score,
        parts=hit.parts,
        relevance=hit.relevance,
        origin=FROM_CLIENT,
    )


def summary_items(request: ContextRequest, summary: RollingSummary | None, task: str) -> tuple[Item, ...]:
    """Return the summary without the lines that the user says in `task`, which the context shows."""
    lines = summary.text.split("\n") if summary else []
    text = "\n".join(line for line in lines if not _is_said_in(line, task))
    text = encode_text(text, ITEM_INDENT, quote_roles=False)
    if summary is None or not text.strip():
        return ()
    return (Item(summary.id, text, session_id=request.key.session_id, origin=summary.origin),)


def _is_said_in(line: str, task: str) -> bool:
    """Tell whether a line of a summary consists of whole sentences of the user's message."""
    speaker, _, said = line.partition(": ")
    sentences = {sentence.strip() for sentence in split_sentences(task)}
    return speaker == "User" and sentences.issuperset(sentence.strip() for sentence in split_sentences(said))


def _artifact_text(artifact: StoredArtifact, now_us: int) -> str:
    origin = ", ".join(part for part in (artifact.source, format_date(artifact.create_time_us, now_us)) if part)
    return f"[{encode_label(origin, '] ')}] {_encoded(artifact.content)}"


def _encoded(text: str) -> str:
    return encode_text(text.strip(), ITEM_INDENT)
