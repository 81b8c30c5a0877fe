"""MemoryService.Search: which scope is meant, what a hit must be, and the pages."""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event

from memsidecar.api.bridge import Bridge
from memsidecar.api.wire import limit_of, namespace_of
from memsidecar.domain.errors import InvalidField, NotBuilt
from memsidecar.domain.ids import check_id, optional_id
from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionKey
from memsidecar.layers.working import WorkingMemory
from memsidecar.layers.working.drafting import check_time
from memsidecar.layers.working.pages import page_token, position_of
from memsidecar.layers.working.searching import Wanted
from memsidecar.stores.contract import Found, Scope
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import message_pb2
from memsidecar.v1.message_pb2 import Message

DEFAULT_LIMIT, MAX_LIMIT = 10, 1_000
SUBSTRING_SCORE = 1.0
_SCOPES = message_pb2.Scope


@dataclass(frozen=True)
class SearchApi:
    memory: WorkingMemory
    bridge: Bridge

    async def __call__(self, request: pb.SearchRequest) -> pb.SearchResponse:
        wanted, limit = _wanted(request), limit_of("limit", request.limit, DEFAULT_LIMIT, MAX_LIMIT)
        same = _same(request)
        position = position_of(request.page_token, same, 1)
        before_lsn = position[0] if position else None
        scope = await self._scope(request)
        if request.min_score > SUBSTRING_SCORE:
            return pb.SearchResponse()
        gone = Event()
        try:
            return await self.bridge.reading(
                self._answer,
                lambda: self.memory.search(scope, wanted, limit, before_lsn, lambda: not gone.is_set()),
                same,
            )
        except asyncio.CancelledError:
            gone.set()
            raise

    def _answer(self, search: Callable[[], tuple[Sequence[Found], int | None]], same: bytes) -> pb.SearchResponse:
        """Search and encode, both in a thread: an answer may have megabytes."""
        hits, next_lsn = search()
        response = pb.SearchResponse(next_page_token="" if next_lsn is None else page_token([next_lsn], same))
        for hit in hits:
            message = Message.FromString(hit.message.body)
            response.hits.add(message=message, session_id=hit.key.session_id, score=SUBSTRING_SCORE)
        return response

    async def _scope(self, request: pb.SearchRequest) -> Scope:
        """The scope in numbers: a session's user counts as named where only the session is."""
        namespace, user_id = namespace_of(request), optional_id("user_id", request.user_id)
        session_id = optional_id("session_id", request.session_id)
        if session_id:
            key = SessionKey(namespace, session_id)
            head = await self.bridge.reading(self.memory.read.head, key, user_id)
            user_id = user_id or (head.user_id if head else "")
        if request.scope == _SCOPES.SCOPE_NAMESPACE:
            return Scope(namespace)
        if request.scope == _SCOPES.SCOPE_SESSION or not user_id:
            if request.scope == _SCOPES.SCOPE_USER:
                raise InvalidField("user_id", "is required: the session has no user")
            return Scope(namespace, session_id=check_id("session_id", session_id))
        return Scope(namespace, user_id)


def _wanted(request: pb.SearchRequest) -> Wanted:
    if request.mode not in pb.SearchMode.values():
        raise InvalidField("mode", "is not a known mode")
    if request.mode != pb.SEARCH_MODE_SUBSTRING:
        raise NotBuilt("a search mode other than SEARCH_MODE_SUBSTRING (name it as `mode`)")
    if request.scope not in _SCOPES.values():
        raise InvalidField("scope", "is not a known scope")
    if not request.query:
        raise InvalidField("query", "is required")
    if not math.isfinite(request.min_score) or request.min_score < 0:
        raise InvalidField("min_score", "must be a number from 0 on")
    for at, role in enumerate(request.roles):
        if int(role) not in tuple(Role):
            raise InvalidField(f"roles[{at}]", "is not a known role")
    return Wanted(
        substring=request.query,
        roles=frozenset(request.roles),
        metadata=request.metadata_filter if request.HasField("metadata_filter") else None,
        after_us=check_time("after", request.after) if request.HasField("after") else None,
        before_us=check_time("before", request.before) if request.HasField("before") else None,
    )


def _same(request: pb.SearchRequest) -> bytes:
    """The request as far as its pages belong together."""
    same = pb.SearchRequest()
    same.CopyFrom(request)
    same.ClearField("page_token")
    same.ClearField("limit")
    return same.SerializeToString(deterministic=True)
