"""Search: by rank over the index, or by substring over the journal."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import TypeVar

from memsidecar.api.executors import Executors
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.wire import limit_of, namespace_of, query_of, vector_of
from memsidecar.context.response import encode_score_parts
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import check_id, optional_id
from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.episodic import EpisodicMemory
from memsidecar.layers.episodic.hits import HitPage, PageRequest
from memsidecar.layers.episodic.query import Mode, SearchQuery, SearchScope
from memsidecar.layers.field_checks import check_time
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.layers.working.substring_search import MessageFilter
from memsidecar.stores.contract import LocatedMessage, Scope
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import message_pb2
from memsidecar.v1.context_pb2 import Degradation
from memsidecar.v1.message_pb2 import Message

DEFAULT_LIMIT, MAX_LIMIT = 10, 1_000
SUBSTRING_SCORE = 1.0
_SCOPES = message_pb2.Scope
_MODES = {
    pb.SEARCH_MODE_UNSPECIFIED: Mode.HYBRID,
    pb.SEARCH_MODE_HYBRID: Mode.HYBRID,
    pb.SEARCH_MODE_KEYWORD: Mode.KEYWORD,
    pb.SEARCH_MODE_SEMANTIC: Mode.SEMANTIC,
}

T = TypeVar("T")


@dataclass(frozen=True)
class SearchHandler:
    memory: WorkingMemory
    episodic: EpisodicMemory
    executors: Executors
    page_tokens: PageTokens

    async def __call__(self, request: pb.SearchRequest) -> pb.SearchResponse:
        filters, limit = _parse_filters(request), limit_of("limit", request.limit, DEFAULT_LIMIT, MAX_LIMIT)
        if request.mode == pb.SEARCH_MODE_SUBSTRING:
            return await self._by_substring(request, filters, limit)
        return await self._by_rank(request, filters, limit)

    async def _by_substring(self, request: pb.SearchRequest, filters: MessageFilter, limit: int) -> pb.SearchResponse:
        (before_lsn,) = self.page_tokens.decode(request, int) or (None,)
        scope, _ = await self._scope(request)
        if request.min_score > SUBSTRING_SCORE:
            return pb.SearchResponse()
        return await self._run_cancellable(
            lambda is_active: self._substring_response(
                *self.memory.search(scope, filters, limit, before_lsn, is_active), request
            )
        )

    async def _by_rank(self, request: pb.SearchRequest, filters: MessageFilter, limit: int) -> pb.SearchResponse:
        # All pages are relative to the time of the first.
        first_page = (None, 0, time.time_ns() // 1_000)
        as_of, start, now_us = self.page_tokens.decode(request, int, int, int) or first_page
        page = PageRequest(limit, request.min_score, start, as_of)
        query = self._parse_query(request, now_us)
        scope, head = await self._scope(request)
        search_scope = _search_scope(scope, head, filters)
        if search_scope is None:
            return pb.SearchResponse()
        recall = self.episodic.hits.messages
        return await self._run_cancellable(
            lambda is_active: self._ranked_response(
                recall(query, search_scope, page, filters.matches_metadata, is_active), request, now_us
            )
        )

    async def _run_cancellable(self, work: Callable[[Callable[[], bool]], T]) -> T:
        """Search and encode in a thread, because a response may have megabytes. A cancelled call ends the work."""
        cancelled = Event()
        try:
            return await self.executors.run_search(work, lambda: not cancelled.is_set())
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def _parse_query(self, request: pb.SearchRequest, now_us: int) -> SearchQuery:
        vector = vector_of("query_vector", request.query_vector, self.episodic.embedders.default.dimensions)
        return SearchQuery(request.query, _MODES[request.mode], vector, self.episodic.limits.weights, now_us)

    async def _scope(self, request: pb.SearchRequest) -> tuple[Scope, SessionHead | None]:
        """Return the scope, and the session if the request has one. The session's user counts as the request's."""
        namespace, user_id = namespace_of(request), optional_id("user_id", request.user_id)
        session_id, head = optional_id("session_id", request.session_id), None
        if session_id:
            head = await self.executors.run_read(self.memory.read.head, SessionKey(namespace, session_id), user_id)
            user_id = user_id or (head.user_id if head else "")
        if request.scope == _SCOPES.SCOPE_NAMESPACE:
            return Scope(namespace), head
        if request.scope == _SCOPES.SCOPE_SESSION or not user_id:
            if request.scope == _SCOPES.SCOPE_USER:
                raise InvalidField("user_id", "is required: the session has no user")
            return Scope(namespace, session_id=check_id("session_id", session_id)), head
        return Scope(namespace, user_id), head

    def _substring_response(
        self, hits: Sequence[LocatedMessage], next_lsn: int | None, request: pb.SearchRequest
    ) -> pb.SearchResponse:
        response = pb.SearchResponse(
            next_page_token=self.page_tokens.encode(request, None if next_lsn is None else (next_lsn,))
        )
        for hit in hits:
            message = Message.FromString(hit.message.body)
            response.hits.add(message=message, session_id=hit.key.session_id, score=SUBSTRING_SCORE)
        return response

    def _ranked_response(
        self, found: HitPage[LocatedMessage], request: pb.SearchRequest, now_us: int
    ) -> pb.SearchResponse:
        response = pb.SearchResponse(degraded=degradations_of(found.degraded))
        if found.next is not None:
            cursor = found.next.as_of or 0, found.next.start, now_us
            response.next_page_token = self.page_tokens.encode(request, cursor)
        for ranked, hit in found.hits:
            message = Message.FromString(hit.message.body)
            response.hits.add(
                message=message,
                session_id=hit.key.session_id,
                score=ranked.score,
                scores=encode_score_parts(ranked.parts),
                relevance=ranked.relevance,
            )
        return response


def _parse_filters(request: pb.SearchRequest) -> MessageFilter:
    if request.mode not in pb.SearchMode.values():
        raise InvalidField("mode", "is not a known mode")
    if request.scope not in _SCOPES.values():
        raise InvalidField("scope", "is not a known scope")
    if not request.query and not (request.mode == pb.SEARCH_MODE_SEMANTIC and request.query_vector):
        raise InvalidField("query", "is required")
    if not math.isfinite(request.min_score) or request.min_score < 0:
        raise InvalidField("min_score", "must be a number from 0 on")
    for at, role in enumerate(request.roles):
        if int(role) not in tuple(Role):
            raise InvalidField(f"roles[{at}]", "is not a known role")
    return MessageFilter(
        substring=query_of(request.query),
        roles=frozenset(request.roles),
        metadata=request.metadata_filter if request.HasField("metadata_filter") else None,
        after_us=check_time("after", request.after) if request.HasField("after") else None,
        before_us=check_time("before", request.before) if request.HasField("before") else None,
    )


def _search_scope(scope: Scope, head: SessionHead | None, filters: MessageFilter) -> SearchScope | None:
    """Return the scope as the index knows it; None when the session does not exist."""
    if scope.session_id:
        if head is None:
            return None
        search_scope = SearchScope.of_session(head)
    elif scope.user_id:
        search_scope = SearchScope.of_user(scope.namespace, scope.user_id)
    else:
        search_scope = SearchScope(scope.namespace)
    return replace(
        search_scope, message_scope=scope, roles=filters.roles, after_us=filters.after_us, before_us=filters.before_us
    )


def degradations_of(numbers: Iterable[int]) -> list[str]:
    return [Degradation.Name(number) for number in sorted(numbers)]
