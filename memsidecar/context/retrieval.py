"""Retrieval of one context, memories and document chunks, and the sequence of a build: prepare, retrieve, finish.

A build runs on one thread, because a change of threads costs more than most of its steps. When the caller's time runs
out, another thread finishes the build with what was retrieved so far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event

from memsidecar import spans
from memsidecar.context.budgets import Budgets, ContextRequest, SectionLimit
from memsidecar.context.builder import ContextBuilder, PreparedContext, RetrievalResult
from memsidecar.context.memories import decode
from memsidecar.context.relevance import Hit, same_question
from memsidecar.context.statistics import PACK, PREPARE, RETRIEVE
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.language.extractive.lexicon import STRONG_CUE_TERMS
from memsidecar.layers.documents.documents import Documents, FindChunks, FoundChunks
from memsidecar.layers.episodic import EpisodicMemory
from memsidecar.layers.episodic.hits import PageRequest
from memsidecar.layers.episodic.query import RankedHit, SearchQuery, SearchScope, Weights
from memsidecar.layers.text_analysis import content_terms, tokenize
from memsidecar.stores.contract import LocatedMessage, Scope
from memsidecar.v1.context_pb2 import SECTION_DOCUMENTS, SECTION_EPISODIC, BuildContextResponse, Degradation
from memsidecar.v1.message_pb2 import Scope as WireScope

DAY_US = 24 * 3600 * 1_000_000
_POOL_PER_ITEM = 2
_MIN_MEMORY_TOKENS = 8
"The smallest memory: its age, its speaker and a word."
_CORRECTABLE_HITS, _MAX_CHARACTERS, _MAX_LOOKED_UP = 12, 1_000, 12
"Hits whose corrections are looked up, the beginning of each that is read, and the messages that are loaded."


def loaded_hits(section: SectionLimit, pool: int) -> int:
    """Return how many hits are loaded. All messages are ranked; the text is loaded only of as many as can fit."""
    return max(pool, min(_POOL_PER_ITEM * section.max_items, section.ceiling // _MIN_MEMORY_TOKENS))


@dataclass(frozen=True)
class Retrieval:
    """Retrieves candidates. `recency` is a share of the score; at least `pool` hits are loaded."""

    episodic: EpisodicMemory
    documents: Documents
    find_chunks: FindChunks
    budgets: Budgets
    recency: float
    half_life_days: float
    pool: int

    @property
    def dimensions(self) -> int:
        return self.episodic.embedders.default.dimensions

    def memories(self, prepared: PreparedContext, is_wanted: Callable[[], bool]) -> tuple[list[Hit], frozenset[int]]:
        """Return hits, best first, and degradations. More hits than are shown: some are duplicates.

        Loading stops when `is_wanted` returns False.
        """
        section = prepared.limits[SECTION_EPISODIC]
        within = self._range(prepared)
        if not prepared.query or section.disabled or not section.max_items or not section.ceiling or within is None:
            return [], frozenset()
        limit = loaded_hits(section, self.pool)
        question = SearchQuery(
            prepared.query,
            vector=prepared.request.query_vector,
            weights=self._weights(),
            now_us=prepared.request.now_us,
            half_life_us=int(self.half_life_days * DAY_US),
        )
        find = partial(self._find, question, limit, is_wanted)
        hits, degraded = find(within)
        hits += self._corrections(hits, within) if hits else []
        if prepared.request.debug:
            # The debug receipt also lists what the query excluded.
            everywhere, _ = find(replace(within, exclude_from=None, include_repeats=True))
            found, is_excluded = {pointer.lsn for pointer, _ in hits}, _is_excluded(prepared)
            hits += [hit for hit in everywhere if hit[0].lsn not in found and is_excluded(hit[1])]
        return hits, degraded

    def _find(
        self, question: SearchQuery, limit: int, is_wanted: Callable[[], bool], within: SearchScope
    ) -> tuple[list[Hit], frozenset[int]]:
        found = self.episodic.hits.messages(question, within, PageRequest(limit), lambda _: True, is_wanted)
        return list(found.hits), frozenset(map(int, found.degraded))

    def _corrections(self, hits: Sequence[Hit], within: SearchScope) -> list[Hit]:
        """Return messages that may correct one of the best hits, and share no word with the query.

        They have no relevance of their own: they are shown only with what they correct.
        """

        def terms_of_best() -> list[str]:
            best = [decode(located).content[:_MAX_CHARACTERS] for _, located in hits[:_CORRECTABLE_HITS]]
            return content_terms(tokenize("\n".join(best)))

        known = {pointer.lsn for pointer, _ in hits}
        found = self.episodic.hits.newest_with(STRONG_CUE_TERMS, within, _MAX_LOOKED_UP, terms_of_best, known)
        return [(_unranked(each), each) for each in found]

    def chunks(self, prepared: PreparedContext) -> FoundChunks:
        section, request = prepared.limits[SECTION_DOCUMENTS], prepared.request
        limit = min(section.max_items, self.budgets.documents_max_items)
        if not prepared.query or section.disabled or limit < 1 or not section.ceiling:
            return FoundChunks(())
        owners = self.documents.visible_owners(request.key.namespace, request.user_id, request.key.session_id)
        owners = self.documents.having_documents(owners)
        return self.find_chunks(owners, prepared.query, limit, 0.0) if owners else FoundChunks(())

    def _weights(self) -> Weights:
        """Return the ranking weights, with recency scaled to its share of their sum."""
        weights = self.episodic.limits.weights
        others = sum(getattr(weights, name) for name in Weights.__slots__ if name != "recency")
        return replace(weights, recency=others * self.recency / (1 - self.recency))

    def _range(self, prepared: PreparedContext) -> SearchScope | None:
        """Return the scope without visible messages and repetitions of the question, which would match best."""
        within = self._scope(prepared)
        return replace(within, exclude_from=prepared.shown.unbroken_from, include_repeats=False) if within else None

    def _scope(self, prepared: PreparedContext) -> SearchScope | None:
        """Return the scope of the request; by default the user's messages, or the session's if it has no user."""
        request, head = prepared.request, prepared.head
        namespace, user_id = request.key.namespace, request.user_id or (head.user_id if head else "")
        if request.scope == WireScope.SCOPE_NAMESPACE:
            return SearchScope(namespace, message_scope=Scope(namespace))
        if request.scope == WireScope.SCOPE_USER and not user_id:
            raise InvalidField("user_id", "is required: the session has no user")
        if user_id and request.scope != WireScope.SCOPE_SESSION:
            return SearchScope.of_user(namespace, user_id)
        return SearchScope.of_session(head) if head else None


def _unranked(found: LocatedMessage) -> RankedHit:
    return RankedHit(found.lsn, found.message.sequence, found.session, 0.0, ScoreBreakdown(), 0.0, found.message.score)


def _is_excluded(prepared: PreparedContext) -> Callable[[LocatedMessage], bool]:
    """Return a predicate for messages that are visible already or repeat the question."""
    repeats = same_question(prepared.query)
    return lambda found: (
        prepared.shown.contains(found.session, found.message.sequence) or repeats(decode(found).content)
    )


@dataclass
class ContextBuild:
    """One context being built. Each field is replaced as a whole, by one thread."""

    builder: ContextBuilder
    retrieval: Retrieval
    request: ContextRequest
    _prepared: PreparedContext | None = None
    _retrieved: RetrievalResult = field(default_factory=RetrievalResult)
    _cancelled: Event = field(default_factory=Event)

    def run(self) -> BuildContextResponse:
        """Build the context. Raise BudgetTooSmall if what is never evicted does not fit."""
        phases = self.builder.statistics.phases
        with phases[PREPARE].measured():
            prepared = self._prepared = self.builder.prepare(self.request)
        with phases[RETRIEVE].measured():
            self._retrieved = self._retrieved.with_memories(*self.retrieval.memories(prepared, self._is_wanted))
            self._retrieved = self._retrieved.with_chunks(self.retrieval.chunks(prepared))
        return self._finish(prepared, self._retrieved)

    def finish_partial(self) -> BuildContextResponse:
        """Finish with what was retrieved so far. The response says that the deadline cut retrieval short."""
        prepared = self._prepared or self.builder.prepare(self.request)
        late = frozenset({int(Degradation.DEGRADATION_DEADLINE)})
        return self._finish(prepared, replace(self._retrieved, degraded=self._retrieved.degraded | late))

    def cancel(self) -> None:
        """Stop loading hits, from any thread."""
        self._cancelled.set()

    def _is_wanted(self) -> bool:
        return not self._cancelled.is_set()

    def _finish(self, prepared: PreparedContext, retrieved: RetrievalResult) -> BuildContextResponse:
        with spans.step("assemble"), self.builder.statistics.phases[PACK].measured():
            response, evicted = self.builder.finish(prepared, retrieved)
            spans.set_attribute("memsidecar.context.tokens", response.total_tokens)
            spans.set_attribute("memsidecar.context.budget_tokens", prepared.limits.budget)
        if not self.request.dry_run:
            self.builder.served(prepared, response, evicted)
        return response
