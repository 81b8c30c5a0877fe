"""Index queries of one context."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from memsidecar.context.budgets import Budgets
from memsidecar.context.builder import PreparedContext
from memsidecar.context.relevance import Hit, same_question
from memsidecar.domain.errors import InvalidField
from memsidecar.layers.documents.documents import Documents, FindChunks, FoundChunks
from memsidecar.layers.episodic import EpisodicMemory
from memsidecar.layers.episodic.hits import PageRequest
from memsidecar.layers.episodic.query import SearchQuery, SearchScope, Weights
from memsidecar.stores.contract import LocatedMessage, Scope
from memsidecar.v1.context_pb2 import SECTION_DOCUMENTS, SECTION_EPISODIC
from memsidecar.v1.message_pb2 import Scope as WireScope

DAY_US = 24 * 3600 * 1_000_000
_POOL_PER_ITEM = 4
_FEWEST_TOKENS = 8
"Of a memory with its date and its speaker: there is none with less."


@dataclass(frozen=True)
class Retrieval:
    """`recency` is a share of the score, `pool` how many are ranked at least before the best are chosen."""

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

    def memories(self, prepared: PreparedContext, go_on: Callable[[], bool]) -> tuple[list[Hit], frozenset[int]]:
        """More than are shown: some of them are in the window, or say the same."""
        cap = prepared.limits[SECTION_EPISODIC]
        within = self._range(prepared)
        if not prepared.query or cap.disabled or not cap.items or not cap.tokens or within is None:
            return [], frozenset()
        # Everything is ranked; of what cannot fit in any case, not even the text is read.
        fitting = min(_POOL_PER_ITEM * cap.items, cap.tokens // _FEWEST_TOKENS)
        limit = max(self.pool, fitting)
        question = SearchQuery(
            prepared.query,
            vector=prepared.order.query_vector,
            weights=self._weights(),
            now_us=prepared.order.now_us,
            half_life_us=int(self.half_life_days * DAY_US),
        )
        find = partial(self._find, question, limit, go_on)
        hits, lacks = find(within)
        if prepared.order.debug:
            # Whoever wants to know all is told what was not looked for, too.
            everywhere, _ = find(replace(within, exclude_from=None, include_repeats=True))
            known, is_left_out = {pointer.lsn for pointer, _ in hits}, _not_looked_for(prepared)
            hits += [hit for hit in everywhere if hit[0].lsn not in known and is_left_out(hit[1])]
        return hits, lacks

    def _find(
        self, question: SearchQuery, limit: int, go_on: Callable[[], bool], within: SearchScope
    ) -> tuple[list[Hit], frozenset[int]]:
        found = self.episodic.hits.messages(question, within, PageRequest(limit), lambda _: True, go_on)
        return list(found.hits), frozenset(map(int, found.degraded))

    def chunks(self, prepared: PreparedContext) -> FoundChunks:
        cap, order = prepared.limits[SECTION_DOCUMENTS], prepared.order
        limit = min(cap.items, self.budgets.documents_found)
        if not prepared.query or cap.disabled or limit < 1 or not cap.tokens:
            return FoundChunks(())
        owners = self.documents.visible_owners(order.key.namespace, order.user_id, order.key.session_id)
        owners = self.documents.having_documents(owners)
        return self.find_chunks(owners, prepared.query, limit, 0.0) if owners else FoundChunks(())

    def _weights(self) -> Weights:
        """Recency gets its share of the whole, whatever the other weights are."""
        weights = self.episodic.limits.weights
        others = sum(getattr(weights, name) for name in Weights.__slots__ if name != "recency")
        return replace(weights, recency=others * self.recency / (1 - self.recency))

    def _range(self, prepared: PreparedContext) -> SearchScope | None:
        """Without what the model reads in any case, or has just been asked: a question would be its own best answer."""
        within = self._scope(prepared)
        return replace(within, exclude_from=prepared.shown_from, include_repeats=False) if within else None

    def _scope(self, prepared: PreparedContext) -> SearchScope | None:
        """Whose memories: the user's where there is one, else the session's, unless the request says otherwise."""
        order, head = prepared.order, prepared.head
        namespace, user_id = order.key.namespace, order.user_id or (head.user_id if head else "")
        if order.scope == WireScope.SCOPE_NAMESPACE:
            return SearchScope(namespace, message_scope=Scope(namespace))
        if order.scope == WireScope.SCOPE_USER and not user_id:
            raise InvalidField("user_id", "is required: the session has no user")
        if user_id and order.scope != WireScope.SCOPE_SESSION:
            return SearchScope.of_user(namespace, user_id)
        return SearchScope.of_session(head) if head else None


def _not_looked_for(prepared: PreparedContext) -> Callable[[LocatedMessage], bool]:
    """What the model reads already, and what asks the same."""
    repeats = same_question(prepared.query)
    return lambda found: prepared.is_shown(found.session, found.message.sequence) or repeats(found)
