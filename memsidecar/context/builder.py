"""Prepare -> finish."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from memsidecar.context.budgets import Budgets, Cap, Caps, caps_of
from memsidecar.context.packing import Fitting, Material
from memsidecar.context.relevance import Hit, Memory, Sifting, Taste, repeats_of, telling_stems
from memsidecar.context.request import Order
from memsidecar.context.response import Answering
from memsidecar.context.sections import Counts, Item, Omission
from memsidecar.context.sources import Gathering, document_items, summary_item
from memsidecar.context.window import LAST_MESSAGES, Rhythm, Shown, Talk, Turn, shown, turns_of
from memsidecar.domain.message import Role, Stored
from memsidecar.domain.session import Head
from memsidecar.domain.text import cut
from memsidecar.layers.documents.documents import ChunkHit, FoundChunks
from memsidecar.layers.semantic.echo_filter import Echoes
from memsidecar.layers.summaries.store import RollingSummary
from memsidecar.layers.text_analysis import is_question
from memsidecar.layers.working.conversation import Conversation
from memsidecar.stores.contract import Found, Selection
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
class Prepared:
    """What is known before anything is retrieved. `query` is what to retrieve for; empty: nothing."""

    order: Order
    head: Head | None
    caps: Caps
    counter: Counter
    talk: Talk
    turns: Sequence[Turn]
    sections: dict[Section, tuple[Item, ...]]
    covered: int
    query: str
    shown_from: tuple[int, int] | None
    "The session and the sequence from which on the conversation is shown, if there is one."

    def is_shown(self, session: int, sequence: int) -> bool:
        return self.shown_from is not None and self.shown_from <= (session, sequence) < (self.shown_from[0] + 1, 0)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for the query, best first, and what was missing: the contract's degradations."""

    memories: Sequence[Hit] = ()
    chunks: FoundChunks = field(default_factory=lambda: FoundChunks(()))
    lacks: frozenset[int] = frozenset()

    def with_memories(self, memories: Sequence[Hit], lacks: frozenset[int]) -> "Retrieved":
        return replace(self, memories=memories, lacks=self.lacks | lacks)

    def with_chunks(self, chunks: FoundChunks) -> "Retrieved":
        return replace(self, chunks=chunks)


@dataclass(frozen=True)
class Building:
    """`is_behind` says whether what is learned of a namespace may be old."""

    gather: Gathering
    echoes: Echoes
    budgets: Budgets
    taste: Taste
    retrieved_role: Role
    is_behind: Callable[[str], bool]
    counts: Counts = field(default_factory=Counts)

    @property
    def rhythm(self) -> Rhythm:
        return Rhythm(self.budgets.working_turns, self.budgets.working_min_turns)

    def prepare(self, order: Order) -> Prepared:
        budget = order.max_tokens or (lookup(order.model).budget_tokens if order.model else self.budgets.context)
        caps = caps_of(budget, self.budgets, order.sections)
        counter = self.gather.working.gauge.counter(order.key.namespace, order.model)
        conversation = self._conversation(order, caps[SECTION_WORKING])
        head, talk = conversation.head, self.gather.talk(order, conversation, counter)
        query = order.query or _text_of(conversation.question)
        summary = self.gather.summary(head)
        cap = caps[SECTION_SUMMARY]
        is_whole = summary is not None and not cap.disabled and summary.tokens <= cap.tokens
        covered = self._covered(summary, talk) if summary and is_whole else 0
        turns = turns_of(talk)
        visible = shown(turns, caps[SECTION_WORKING], self.rhythm, covered)
        sections = self.gather.known(order, head, query, _verbatim(visible, covered))
        sections[SECTION_SYSTEM] = self.gather.system(order, conversation)
        sections[SECTION_SUMMARY] = (summary_item(order, summary),) if summary else ()
        return Prepared(order, head, caps, counter, talk, turns, sections, covered, query, _shown_from(head, visible))

    def _conversation(self, order: Order, cap: Cap) -> Conversation:
        """As much as may be shown; however little that is, the last messages are."""
        converse, turns = self.gather.working.converse, max(cap.items, self.rhythm.turns) + self.rhythm.step
        found = converse(order.key, order.user_id, turns, 2 * cap.tokens)
        return found if len(found.spoken) >= LAST_MESSAGES else converse(order.key, order.user_id, LAST_MESSAGES, _ALL)

    def _covered(self, summary: RollingSummary, talk: Talk) -> int:
        """Up to where the summary stands in for what was said: the newest messages stay as they were in any case."""
        older = talk.spoken[: -self.budgets.verbatim_messages or None]
        return min(summary.last_sequence, older[-1].sequence) if older else 0

    def finish(self, prepared: Prepared, retrieved: Retrieved) -> BuildContextResponse:
        order, count = prepared.order, self.counts.by(prepared.counter)
        memories, passed_over = self._sift(prepared, retrieved, count)
        chunks, unfit = self._chunks(retrieved.chunks)
        material = Material(
            {
                **prepared.sections,
                SECTION_EPISODIC: memories,
                SECTION_DOCUMENTS: document_items(order.documents, chunks),
            },
            {SECTION_EPISODIC: passed_over, SECTION_DOCUMENTS: unfit},
            prepared.turns,
            prepared.covered,
            order.query if order.append_query else "",
            count(order.tool_schemas_json),
            order.reserve_output_tokens,
        )
        fit = Fitting(lambda budget: self._caps(prepared, budget), count, self.rhythm)
        fitted = fit(material, prepared.caps.budget)
        self._warn(prepared, fitted.filled[SECTION_SYSTEM].tokens)
        built = Answering(prepared.caps, prepared.counter, count, self.retrieved_role, order.debug)(material, fitted)
        built.receipt.query = prepared.query
        built.degraded.extend(self._degradations(prepared, retrieved))
        return built

    def _caps(self, prepared: Prepared, budget: int) -> Caps:
        caps = prepared.caps
        return caps if budget == caps.budget else caps_of(budget, self.budgets, prepared.order.sections)

    def _sift(
        self, prepared: Prepared, retrieved: Retrieved, count: Callable[[str], int]
    ) -> tuple[tuple[Item, ...], list[Omission]]:
        caps, order = prepared.caps, prepared.order
        sift = Sifting(
            self.taste,
            prepared.is_shown,
            order.now_us,
            caps[SECTION_EPISODIC],
            order.debug,
            bool(order.query),
            telling_stems(prepared.query) if is_question(prepared.query) else frozenset(),
            repeats_of(prepared.query if order.debug else ""),  # nobody else is told of them, and none is found
        )
        memories, passed_over = sift(hit for hit in retrieved.memories if hit[1].message.role != Role.SYSTEM)
        best = [self._with_neighbour(sift, memory, count) for memory in memories[:_WITH_NEIGHBOURS]]
        return (*best, *map(sift.item, memories[_WITH_NEIGHBOURS:])), passed_over

    def _with_neighbour(self, sift: Sifting, memory: Memory, count: Callable[[str], int]) -> Item:
        return sift.with_neighbour(memory, self._neighbour, lambda text: cut(text, _NEIGHBOUR_TOKENS, count))

    def _neighbour(self, found: Found) -> Found | None:
        """The answer behind a question, or the question before an answer."""
        sequence = found.message.sequence + (1 if found.message.role == Role.USER else -1)
        wanted = Role.ASSISTANT if found.message.role == Role.USER else Role.USER
        selection = Selection(sequence - 1, sequence + 1, include_pruned=True)
        for one in self.gather.working.read.journal.messages(found.key, selection).messages:
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
        related = hit.parts.keyword > 0 or hit.cosine >= self.taste.threshold
        return related and hit.score >= self.taste.threshold

    def _warn(self, prepared: Prepared, tokens: int) -> None:
        cap = prepared.caps[SECTION_SYSTEM].tokens
        if tokens > cap:
            log.warning("a system prompt has %d tokens, more than the %d that are left for it", tokens, cap)

    def _degradations(self, prepared: Prepared, retrieved: Retrieved) -> list[Degradation]:
        lacks = {*retrieved.lacks, *retrieved.chunks.lacks}
        if self.is_behind(prepared.order.key.namespace):
            lacks.add(Degradation.DEGRADATION_STALE)
        return [cast(Degradation, lack) for lack in sorted(lacks)]

    def remember(self, prepared: Prepared, built: BuildContextResponse) -> None:
        """What goes out is known again when it comes back."""
        last = prepared.head.last_sequence if prepared.head else 0
        told = [message for message in built.messages if message.synthetic or message.id]
        self.echoes.serve(prepared.order.key, last, *(message.content for message in told))


def _text_of(question: Stored | None) -> str:
    return Message.FromString(question.body).content if question else ""


def _verbatim(visible: Shown, covered: int) -> frozenset[str]:
    """What the model reads as it was said, where a summary speaks for the rest."""
    said = (one for turn in visible.turns for unit in turn for one in unit.spoken)
    return frozenset(one.message.id for one in said) if covered else frozenset()


def _shown_from(head: Head | None, visible: Shown) -> tuple[int, int] | None:
    sequences = [one.sequence for turn in visible.turns for unit in turn for one in unit.spoken]
    return (head.number, min(sequences)) if head and sequences else None
