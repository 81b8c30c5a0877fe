"""Build a context in two steps: `prepare` reads what needs no index, `finish` packs it with what was retrieved."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import cast

from memsidecar.context.budgets import Budgets, ContextRequest, SectionLimits, section_limits
from memsidecar.context.conversation import (
    ConversationCutter,
    ShownMessages,
    VisibleTurns,
    WindowStep,
    fits_whole,
    fixed_tokens,
    shows_all,
    summarized_through,
)
from memsidecar.context.correction_finder import CorrectionFinder
from memsidecar.context.corrections import MAX_CORRECTIONS, CorrectionLinker
from memsidecar.context.memories import DecodedMessage, MemoryUnits, MemoryWriter, decode, passage_terms
from memsidecar.context.packing import ContextInput, Packer
from memsidecar.context.reduction import Previewer
from memsidecar.context.relevance import Hit, RelevanceFilter, RelevanceThresholds, same_question
from memsidecar.context.response import ResponseBuilder
from memsidecar.context.sections import CountTokens, Item, Omission, TokenCountCache
from memsidecar.context.sources import ContextSources, document_items, summary_items
from memsidecar.context.statistics import ContextStatistics
from memsidecar.context.window import Turn, WindowMessage, split_turns
from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead
from memsidecar.language.extractive.excerpt import SummaryShortener
from memsidecar.layers.documents.documents import ChunkHit, FoundChunks
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.facts import MessageName
from memsidecar.layers.working.conversation import Conversation, ConversationLimits
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
from memsidecar.v1.message_pb2 import Message, Scope

log = logging.getLogger(__name__)

Evicted = Mapping[str, int]
"What did not fit the budget, by step of the eviction order."
_MIN_PASSAGE_TOKENS, _MAX_PASSAGE_TOKENS = 32, 240
"Bounds of what is shown of a long message. Between them it is half of the section's share."


@dataclass(frozen=True, slots=True)
class PreparedContext:
    """A context before retrieval. `query` is the text to retrieve for; empty for no retrieval."""

    request: ContextRequest
    head: SessionHead | None
    limits: SectionLimits
    counter: Counter
    turns: Sequence[Turn]
    sections: dict[Section, tuple[Item, ...]]
    summarized_through: int
    summarized_unread: int
    "Messages that the summary covers and that were not read."
    whole: bool
    "The whole conversation is shown."
    query: str
    shown: ShownMessages

    def shown_messages(self) -> Iterator[WindowMessage]:
        """Yield the messages that the conversation shows, the newest units first."""
        row = self.head.row_id if self.head else 0
        units = (unit for turn in reversed(self.turns) for unit in turn.units[::-1])
        yield from (each for unit in units for each in unit.messages if self.shown.contains(row, each.sequence))


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Hits for the query, best first, and the degradations of the search."""

    memories: Sequence[Hit] = ()
    chunks: FoundChunks = field(default_factory=lambda: FoundChunks(()))
    degraded: frozenset[int] = frozenset()

    def with_memories(self, memories: Sequence[Hit], degraded: frozenset[int]) -> "RetrievalResult":
        return replace(self, memories=memories, degraded=self.degraded | degraded)

    def with_chunks(self, chunks: FoundChunks) -> "RetrievalResult":
        return replace(self, chunks=chunks)


@dataclass(frozen=True)
class ContextBuilder:
    """Builds contexts. `is_behind` tells whether the background tasks of a namespace lag behind its log."""

    sources: ContextSources
    echoes: EchoFilter
    budgets: Budgets
    thresholds: RelevanceThresholds
    retrieved_role: Role
    is_behind: Callable[[str], bool]
    counts: TokenCountCache = field(default_factory=TokenCountCache)
    shorten_summary: SummaryShortener = field(default_factory=SummaryShortener)
    find_corrections: CorrectionFinder = field(default_factory=CorrectionFinder)
    statistics: ContextStatistics = field(default_factory=ContextStatistics)

    @property
    def window_step(self) -> WindowStep:
        return WindowStep(self.budgets.working_turns, self.budgets.working_min_turns)

    def prepare(self, request: ContextRequest) -> PreparedContext:
        """Read the conversation and everything else that needs no index."""
        budget = request.max_tokens or (lookup(request.model).budget_tokens if request.model else self.budgets.context)
        counter = self.sources.working.token_counts.counter(request.key.namespace, request.model)
        count = self.counts.by(counter)
        limits = self._limits(request, budget, count)
        conversation = self._conversation(request, limits)
        head, window = conversation.head, self.sources.window(request, conversation, counter)
        question = _text_of(conversation.question)
        summary = self.sources.summary(request, head)
        system = self.sources.system(request, conversation)
        turns = split_turns(window)
        whole = fits_whole(window, turns, limits, fixed_tokens(request, system, limits, count))
        # With `append_query` the task is the query, and the newest user message may be left to the summary.
        is_task = not request.append_query and not limits[SECTION_WORKING].disabled
        shown = () if whole else summary_items(request, summary, question if is_task else "")
        older = () if whole else window.messages[: -self.budgets.verbatim_messages or None]
        covered = summarized_through(summary, sum(count(item.text) for item in shown), limits[SECTION_SUMMARY], older)
        visible = self._cutter(request, count, whole)(turns, limits[SECTION_WORKING], covered)
        if window.complete and shows_all(window, visible):
            shown = ()  # a summary of the turn under way would only repeat it
        verbatim = _message_ids(visible) if covered else frozenset()
        sections = self.sources.known(request, head, request.query or question, verbatim)
        sections[SECTION_SYSTEM] = system
        sections[SECTION_SUMMARY] = shown
        return PreparedContext(
            request=request,
            head=head,
            limits=limits,
            counter=counter,
            turns=turns,
            sections=sections,
            summarized_through=covered,
            summarized_unread=window.unread_through(covered),
            whole=whole,
            query=request.query or question,
            shown=ShownMessages.of(head, turns, visible),
        )

    def _conversation(self, request: ContextRequest, limits: SectionLimits) -> Conversation:
        """Read as many turns as may be shown."""
        limit = limits[SECTION_WORKING]
        turns = max(limit.items, self.window_step.turns) + self.window_step.step
        most = 2 * max(limit.ceiling, limits.turn)
        reach = ConversationLimits(turns, most, 0 if limit.disabled else limit.max_items, limit.ceiling)
        return self.sources.working.conversation(request.key, request.user_id, reach)

    def finish(self, prepared: PreparedContext, retrieved: RetrievalResult) -> tuple[BuildContextResponse, Evicted]:
        """Return the context, packed, rendered and accounted for, and what was evicted. Raise BudgetTooSmall."""
        request, count = prepared.request, self.counts.by(prepared.counter)
        memories, rejected = self._memories(prepared, retrieved, count)
        chunks, irrelevant = self._chunks(retrieved.chunks)
        candidates = ContextInput(
            sections={
                **prepared.sections,
                SECTION_EPISODIC: memories,
                SECTION_DOCUMENTS: document_items(request.documents, chunks),
            },
            rejected={SECTION_EPISODIC: rejected, SECTION_DOCUMENTS: irrelevant},
            turns=prepared.turns,
            summarized_through=prepared.summarized_through,
            summarized_unread=prepared.summarized_unread,
            query_to_append=request.query if request.append_query else "",
            schema_tokens=count(request.tool_schemas_json),
            reserve_tokens=request.reserve_output_tokens,
        )

        def limits_for(budget: int) -> SectionLimits:
            return prepared.limits if budget == prepared.limits.budget else self._limits(request, budget, count)

        shorten = partial(self.shorten_summary, counter=prepared.counter)
        pack = Packer(limits_for, count, self._cutter(request, count, prepared.whole), shorten)
        packed = pack(candidates, prepared.limits.budget)
        _warn_of_large_prompt(prepared, packed.filled[SECTION_SYSTEM].tokens)
        encode = ResponseBuilder(prepared.limits, prepared.counter, count, self.retrieved_role, request.debug)
        response = encode(candidates, packed)
        response.receipt.query = prepared.query
        response.degraded.extend(self._degradations(prepared, retrieved))
        return response, packed.evicted

    def _limits(self, request: ContextRequest, budget: int, count: CountTokens) -> SectionLimits:
        left = max(0, budget - count(request.tool_schemas_json) - request.reserve_output_tokens)
        budgets = self.budgets if request.fill is None else replace(self.budgets, fill=request.fill)
        return section_limits(budget, left, budgets, request.sections)

    def _cutter(self, request: ContextRequest, count: CountTokens, whole: bool) -> ConversationCutter:
        return ConversationCutter(self.window_step, Previewer(count), request.append_query, whole)

    def _memories(
        self, prepared: PreparedContext, retrieved: RetrievalResult, count: Callable[[str], int]
    ) -> tuple[tuple[Item, ...], list[Omission]]:
        request, query = prepared.request, prepared.query
        limit = prepared.limits[SECTION_EPISODIC]
        passage_tokens = min(max(limit.share // 2, _MIN_PASSAGE_TOKENS), _MAX_PASSAGE_TOKENS)
        writer = MemoryWriter(passage_terms(query), passage_tokens, count, request.now_us)
        relevant = RelevanceFilter(
            thresholds=self.thresholds,
            is_shown=prepared.shown.contains,
            writer=writer,
            limit=limit,
            debug=request.debug,
            # Only a debug search returns repetitions of the question.
            repeats=same_question(query if request.debug else ""),
        )
        decoded = [(pointer, decode(located)) for pointer, located in retrieved.memories]
        hits = [hit for hit in decoded if _has_text(hit[1])]
        memories, rejected = relevant(hits)
        link = self._linker(prepared, [found for _, found in hits]) if memories else CorrectionLinker()

        def is_hidden(found: DecodedMessage) -> bool:
            return prepared.shown.contains(*found.place) or link.is_superseded(found)

        complete = MemoryUnits(writer, relevant.item, self.sources.working.read.surroundings, is_hidden)
        linked = link(memories)
        return tuple(complete(linked)), relevant.omissions(rejected, linked)

    def _linker(self, prepared: PreparedContext, hits: Sequence[DecodedMessage]) -> CorrectionLinker:
        """Return the linker of memories with their corrections, among the hits and in the visible conversation."""
        owner = self.sources.owner(prepared.request, prepared.head)
        others = [found for found in hits if not prepared.shown.contains(*found.place)]

        def find(name: MessageName) -> DecodedMessage | None:
            loaded = (found for found in others if (found.located.key.session_id, found.wire.id) == name)
            found = next(loaded, None)
            if found is not None:
                return found
            if prepared.request.scope == Scope.SCOPE_SESSION and name[0] != prepared.request.key.session_id:
                return None
            located = self.sources.locate(owner, *name)
            if located is None or prepared.shown.contains(located.session, located.message.sequence):
                return None
            return other if _has_text(other := decode(located)) else None

        retrieved = (correction for found in others for correction in self.find_corrections(found))
        # Strong cues first: of many sentences with a weak cue ("now") few correct anything.
        certain = sorted(retrieved, key=lambda correction: not correction.is_strong)
        shown = self.find_corrections.in_window(prepared.shown_messages(), prepared.head) if prepared.head else ()
        corrections = [*islice(shown, MAX_CORRECTIONS), *certain[:MAX_CORRECTIONS]]
        superseded, unrelated = self.sources.facts.superseded(owner), self.find_corrections.unrelated
        return CorrectionLinker(corrections, superseded, find, unrelated)

    def _chunks(self, found: FoundChunks) -> tuple[list[ChunkHit], list[Omission]]:
        """Separate relevant chunks from the others, which are not shown even if there are no better ones."""
        threshold = self.thresholds.threshold
        relevant = [hit for hit in found.hits if hit.relevance >= threshold]
        others = document_items((), [hit for hit in found.hits if hit.relevance < threshold])
        return relevant, [Omission(item, INCLUSION_BELOW_THRESHOLD) for item in others]

    def _degradations(self, prepared: PreparedContext, retrieved: RetrievalResult) -> list[Degradation]:
        degraded = {*retrieved.degraded, *retrieved.chunks.degraded}
        if self.is_behind(prepared.request.key.namespace):
            degraded.add(Degradation.DEGRADATION_STALE)
        return [cast(Degradation, number) for number in sorted(degraded)]

    def served(self, prepared: PreparedContext, response: BuildContextResponse, evicted: Evicted) -> None:
        """Count a served context, and record its text: fact extraction ignores it when the agent sends it back."""
        self.statistics.served(response, evicted)
        last = prepared.head.last_sequence if prepared.head else 0
        served = [message for message in response.messages if message.synthetic or message.id]
        self.echoes.add_injected(prepared.request.key, last, *(message.content for message in served))


def _has_text(found: DecodedMessage) -> bool:
    """Tell whether a message can be shown as a memory. One that only calls tools has nothing to show."""
    return found.role != Role.SYSTEM and not found.is_empty


def _text_of(question: StoredMessage | None) -> str:
    return Message.FromString(question.body).content if question else ""


def _warn_of_large_prompt(prepared: PreparedContext, tokens: int) -> None:
    limit = prepared.limits[SECTION_SYSTEM].share
    if tokens > limit:
        log.warning("the system prompt has %d tokens, more than the %d of its section", tokens, limit)


def _message_ids(visible: VisibleTurns) -> frozenset[str]:
    return frozenset(message.message.id for message in visible.messages)
