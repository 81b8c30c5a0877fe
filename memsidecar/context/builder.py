"""Prepare -> finish."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from memsidecar.context.budgets import Budgets, SectionLimit, SectionLimits, section_limits
from memsidecar.context.packing import ContextInput, Packer
from memsidecar.context.relevance import (
    Hit,
    MemoryItem,
    RelevanceFilter,
    RelevanceThresholds,
    content_stems,
    same_question,
)
from memsidecar.context.request import ContextRequest
from memsidecar.context.response import ResponseBuilder
from memsidecar.context.sections import Item, Omission, TokenCountCache
from memsidecar.context.sources import ContextSources, document_items, summary_item
from memsidecar.context.window import (
    MIN_MESSAGES,
    ConversationWindow,
    Turn,
    VisibleTurns,
    WindowStep,
    split_turns,
    visible_turns,
)
from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead
from memsidecar.domain.text import truncate_to_sentences
from memsidecar.layers.documents.documents import ChunkHit, FoundChunks
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.summaries.store import RollingSummary
from memsidecar.layers.text_analysis import is_question
from memsidecar.layers.working.conversation import Conversation
from memsidecar.stores.contract import LocatedMessage, MessageQuery
from memsidecar.tokens.contract import Counter
from memsidecar.tokens.models import lookup
from memsidecar.v1.context_pb2 import (
    INCLUSION_BELOW_THRESHOLD,
    SECTION_DOCUMENTS,
    SECTION_EPISODIC,
    SECTION_SUMMARY,
    SECTION_SYSTEM,
    SECTION_WORKING,
    BuildContextResponse,
    Degradation,
    Section,
)
from memsidecar.v1.message_pb2 import Message

log = logging.getLogger(__name__)

_WITH_NEIGHBOURS = 1
"So many memories, the best, are shown with the question before them or the answer behind them."
_NEIGHBOUR_TOKENS = 60
_ALL = 1 << 62


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """What is known before anything is retrieved. `query` is what to retrieve for; empty: nothing."""

    order: ContextRequest
    head: SessionHead | None
    limits: SectionLimits
    counter: Counter
    window: ConversationWindow
    turns: Sequence[Turn]
    sections: dict[Section, tuple[Item, ...]]
    summarized_through: int
    query: str
    shown_from: tuple[int, int] | None
    "The session and the sequence from which on the conversation is shown, if there is one."

    def is_shown(self, session: int, sequence: int) -> bool:
        return self.shown_from is not None and self.shown_from <= (session, sequence) < (self.shown_from[0] + 1, 0)


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """What was found for the query, best first, and what was missing: the contract's degradations."""

    memories: Sequence[Hit] = ()
    chunks: FoundChunks = field(default_factory=lambda: FoundChunks(()))
    degraded: frozenset[int] = frozenset()

    def with_memories(self, memories: Sequence[Hit], lacks: frozenset[int]) -> "RetrievalResult":
        return replace(self, memories=memories, degraded=self.degraded | lacks)

    def with_chunks(self, chunks: FoundChunks) -> "RetrievalResult":
        return replace(self, chunks=chunks)


@dataclass(frozen=True)
class ContextBuilder:
    """`is_behind` says whether what is learned of a namespace may be old."""

    sources: ContextSources
    echoes: EchoFilter
    budgets: Budgets
    thresholds: RelevanceThresholds
    retrieved_role: Role
    is_behind: Callable[[str], bool]
    counts: TokenCountCache = field(default_factory=TokenCountCache)

    @property
    def window_step(self) -> WindowStep:
        return WindowStep(self.budgets.working_turns, self.budgets.working_min_turns)

    def prepare(self, order: ContextRequest) -> PreparedContext:
        budget = order.max_tokens or (lookup(order.model).budget_tokens if order.model else self.budgets.context)
        caps = section_limits(budget, self.budgets, order.sections)
        counter = self.sources.working.token_counts.counter(order.key.namespace, order.model)
        conversation = self._conversation(order, caps[SECTION_WORKING])
        head, talk = conversation.head, self.sources.window(order, conversation, counter)
        query = order.query or _text_of(conversation.question)
        summary = self.sources.summary(head)
        cap = caps[SECTION_SUMMARY]
        is_whole = summary is not None and not cap.disabled and summary.tokens <= cap.tokens
        covered = self._covered(summary, talk) if summary and is_whole else 0
        turns = split_turns(talk)
        visible = visible_turns(turns, caps[SECTION_WORKING], self.window_step, covered)
        sections = self.sources.known(order, head, query, _verbatim(visible, covered))
        sections[SECTION_SYSTEM] = self.sources.system(order, conversation)
        sections[SECTION_SUMMARY] = (summary_item(order, summary),) if summary else ()
        return PreparedContext(
            order, head, caps, counter, talk, turns, sections, covered, query, _shown_from(head, visible)
        )

    def _conversation(self, order: ContextRequest, cap: SectionLimit) -> Conversation:
        """As much as may be shown; however little that is, the last messages are."""
        converse, turns = (
            self.sources.working.conversation,
            max(cap.items, self.window_step.turns) + self.window_step.step,
        )
        found = converse(order.key, order.user_id, turns, 2 * cap.tokens)
        return found if len(found.messages) >= MIN_MESSAGES else converse(order.key, order.user_id, MIN_MESSAGES, _ALL)

    def _covered(self, summary: RollingSummary, talk: ConversationWindow) -> int:
        """Up to where the summary stands in for what was said: the newest messages stay as they were in any case."""
        older = talk.messages[: -self.budgets.verbatim_messages or None]
        return min(summary.last_sequence, older[-1].sequence) if older else 0

    def finish(self, prepared: PreparedContext, retrieved: RetrievalResult) -> BuildContextResponse:
        order, count = prepared.order, self.counts.by(prepared.counter)
        memories, passed_over = self._sift(prepared, retrieved, count)
        chunks, unfit = self._chunks(retrieved.chunks)
        material = ContextInput(
            {
                **prepared.sections,
                SECTION_EPISODIC: memories,
                SECTION_DOCUMENTS: document_items(order.documents, chunks),
            },
            {SECTION_EPISODIC: passed_over, SECTION_DOCUMENTS: unfit},
            prepared.turns,
            prepared.summarized_through,
            order.query if order.append_query else "",
            count(order.tool_schemas_json),
            order.reserve_output_tokens,
        )
        fit = Packer(lambda budget: self._caps(prepared, budget), count, self.window_step)
        fitted = fit(material, prepared.limits.budget)
        self._warn(prepared, fitted.filled[SECTION_SYSTEM].tokens)
        built = ResponseBuilder(prepared.limits, prepared.counter, count, self.retrieved_role, order.debug)(
            material, fitted
        )
        built.receipt.query = prepared.query
        built.degraded.extend(self._degradations(prepared, retrieved))
        return built

    def _caps(self, prepared: PreparedContext, budget: int) -> SectionLimits:
        caps = prepared.limits
        return caps if budget == caps.budget else section_limits(budget, self.budgets, prepared.order.sections)

    def _sift(
        self, prepared: PreparedContext, retrieved: RetrievalResult, count: Callable[[str], int]
    ) -> tuple[tuple[Item, ...], list[Omission]]:
        caps, order = prepared.limits, prepared.order
        sift = RelevanceFilter(
            self.thresholds,
            prepared.is_shown,
            order.now_us,
            caps[SECTION_EPISODIC],
            order.debug,
            bool(order.query),
            content_stems(prepared.query) if is_question(prepared.query) else frozenset(),
            same_question(prepared.query if order.debug else ""),  # nobody else is told of them, and none is found
        )
        memories, passed_over = sift(hit for hit in retrieved.memories if hit[1].message.role != Role.SYSTEM)
        best = [self._with_neighbour(sift, memory, count) for memory in memories[:_WITH_NEIGHBOURS]]
        return (*best, *map(sift.item, memories[_WITH_NEIGHBOURS:])), passed_over

    def _with_neighbour(self, sift: RelevanceFilter, memory: MemoryItem, count: Callable[[str], int]) -> Item:
        return sift.with_neighbour(
            memory, self._neighbour, lambda text: truncate_to_sentences(text, _NEIGHBOUR_TOKENS, count)
        )

    def _neighbour(self, found: LocatedMessage) -> LocatedMessage | None:
        """The answer behind a question, or the question before an answer."""
        sequence = found.message.sequence + (1 if found.message.role == Role.USER else -1)
        wanted = Role.ASSISTANT if found.message.role == Role.USER else Role.USER
        selection = MessageQuery(sequence - 1, sequence + 1, include_pruned=True)
        for one in self.sources.working.read.journal.messages(found.key, selection).messages:
            if one.role == wanted:
                return found._replace(message=one)
        return None

    def _chunks(self, found: FoundChunks) -> tuple[list[ChunkHit], list[Omission]]:
        """A chunk that has nothing to do with the question is not shown because there is no better one."""
        fit = [hit for hit in found.hits if self._is_about(hit)]
        unfit = document_items((), [hit for hit in found.hits if not self._is_about(hit)])
        return fit, [Omission(item, INCLUSION_BELOW_THRESHOLD) for item in unfit]

    def _is_about(self, hit: ChunkHit) -> bool:
        """Scores compare chunks with each other: of one alone, only its words and its meaning tell anything."""
        related = hit.parts.keyword > 0 or hit.cosine >= self.thresholds.threshold
        return related and hit.score >= self.thresholds.threshold

    def _warn(self, prepared: PreparedContext, tokens: int) -> None:
        cap = prepared.limits[SECTION_SYSTEM].tokens
        if tokens > cap:
            log.warning("a system prompt has %d tokens, more than the %d that are left for it", tokens, cap)

    def _degradations(self, prepared: PreparedContext, retrieved: RetrievalResult) -> list[Degradation]:
        lacks = {*retrieved.degraded, *retrieved.chunks.degraded}
        if self.is_behind(prepared.order.key.namespace):
            lacks.add(Degradation.DEGRADATION_STALE)
        return [cast(Degradation, lack) for lack in sorted(lacks)]

    def remember(self, prepared: PreparedContext, built: BuildContextResponse) -> None:
        """What goes out is known again when it comes back."""
        last = prepared.head.last_sequence if prepared.head else 0
        told = [message for message in built.messages if message.synthetic or message.id]
        self.echoes.add_injected(prepared.order.key, last, *(message.content for message in told))


def _text_of(question: StoredMessage | None) -> str:
    return Message.FromString(question.body).content if question else ""


def _verbatim(visible: VisibleTurns, covered: int) -> frozenset[str]:
    """What the model reads as it was said, where a summary speaks for the rest."""
    said = (one for turn in visible.turns for unit in turn for one in unit.messages)
    return frozenset(one.message.id for one in said) if covered else frozenset()


def _shown_from(head: SessionHead | None, visible: VisibleTurns) -> tuple[int, int] | None:
    sequences = [one.sequence for turn in visible.turns for unit in turn for one in unit.messages]
    return (head.row_id, min(sequences)) if head and sequences else None
