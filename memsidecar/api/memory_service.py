"""memsidecar.v1.MemoryService: decode, call, encode."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.bridge import Bridge
from memsidecar.api.searching import SearchApi
from memsidecar.api.wire import at_least, key_of, namespace_of, page_size_of, stats_of, strategy_of
from memsidecar.domain.errors import InvalidField, NotBuilt, TooLarge
from memsidecar.domain.ids import check_id, new_id, optional_id
from memsidecar.domain.message import Draft, Role
from memsidecar.domain.session import Head, SessionKey, Strategy
from memsidecar.layers.working import WorkingMemory
from memsidecar.layers.working.drafting import check_score, check_time
from memsidecar.layers.working.metadata import check_metadata
from memsidecar.layers.working.pages import page_token, position_of
from memsidecar.layers.working.pruning import PruneOrder
from memsidecar.layers.working.reading import PageTurn, Slice
from memsidecar.stores.contract import Added, Appended
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message, SessionStats

MAX_RECENT = 10_000
MAX_INTERACTION_ID_BYTES = 246  # what leaves room for "/assistant"
STREAM_AHEAD = 256
ON_THE_LOOP_BYTES = 16 * 1024
_TRUNCATED = b"\x10\x01"  # field 2, true

Ahead = asyncio.Queue[asyncio.Task[Appended] | None]
"""The appends of a stream that are on their way, in order; None after the last."""


@dataclass(frozen=True)
class MemoryService:
    descriptor: ClassVar[ServiceDescriptor] = pb.DESCRIPTOR.services_by_name["MemoryService"]

    memory: WorkingMemory
    bridge: Bridge
    search_api: SearchApi
    max_batch_messages: int

    # -- adding

    async def add(self, request: pb.AddRequest) -> pb.AddResponse:
        key = key_of(request)
        (draft,) = await self._drafts([request.message], ["message"])
        expected = None
        if request.HasField("expected_sequence"):
            expected = at_least("expected_sequence", request.expected_sequence, 0)
        appended = await self._append(key, request.user_id, [draft], expected)
        added = appended.results[0]
        response = pb.AddResponse(
            message_id=added.id, sequence=added.sequence, tokens=added.tokens, duplicate=added.duplicate
        )
        if request.return_session:
            response.session.CopyFrom(self._stats(appended.head))
        return response

    async def add_batch(self, request: pb.AddBatchRequest) -> pb.AddBatchResponse:
        key = key_of(request)
        if not request.messages:
            raise InvalidField("messages", "is empty")
        if len(request.messages) > self.max_batch_messages:
            raise TooLarge(f"the batch has {len(request.messages)} messages; {self.max_batch_messages} are allowed")
        drafts = await self._drafts(request.messages, [f"messages[{at}]" for at in range(len(request.messages))])
        expected = None
        if request.HasField("expected_sequence"):
            expected = at_least("expected_sequence", request.expected_sequence, 0)
        appended = await self._append(key, request.user_id, drafts, expected)
        return pb.AddBatchResponse(results=_results(appended.results), session=self._stats(appended.head))

    async def store_interaction(self, request: pb.StoreInteractionRequest) -> pb.StoreInteractionResponse:
        key = key_of(request)
        drafts = await self._drafts(_turn(request), ["user_message", "assistant_message"])
        appended = await self._append(key, request.user_id, drafts, None)
        return pb.StoreInteractionResponse(results=_results(appended.results), session=self._stats(appended.head))

    async def add_stream(self, requests: AsyncIterator[pb.AddStreamRequest]) -> AsyncIterator[pb.AddStreamResponse]:
        """Requests are taken ahead of their answers, so that a stream fills the groups that are committed."""
        ahead, room = Ahead(), asyncio.Semaphore(STREAM_AHEAD)
        reader = asyncio.ensure_future(self._read_ahead(requests, ahead, room))
        try:
            while (task := await ahead.get()) is not None:
                appended = await task
                room.release()
                yield pb.AddStreamResponse(result=_results(appended.results)[0])
            await reader
        finally:
            reader.cancel()
            _abandon(ahead)

    async def _read_ahead(
        self, requests: AsyncIterator[pb.AddStreamRequest], ahead: Ahead, room: asyncio.Semaphore
    ) -> None:
        """Tasks start in the order of the requests and each submits before it first waits, so order is kept."""
        try:
            async for request in requests:
                key = key_of(request)
                (draft,) = await self._drafts([request.message], ["message"])
                await room.acquire()
                ahead.put_nowait(asyncio.ensure_future(self._append(key, request.user_id, [draft], None)))
        finally:
            ahead.put_nowait(None)

    async def _drafts(self, messages: Sequence[Message], fields: Sequence[str]) -> list[Draft]:
        """Small messages are counted here; large ones, or the first while the vocabulary loads, in a thread."""
        draft = self.memory.add.draft
        if draft.ready and sum(len(message.content) for message in messages) < ON_THE_LOOP_BYTES:
            return [draft(message, field) for message, field in zip(messages, fields, strict=True)]
        return await self.bridge.in_thread(
            lambda: [draft(message, field) for message, field in zip(messages, fields, strict=True)]
        )

    async def _append(self, key: SessionKey, user_id: str, drafts: Sequence[Draft], expected: int | None) -> Appended:
        begin = self.memory.add.begin
        appended: Appended = await self.bridge.outcome(lambda settled: begin(key, user_id, drafts, expected, settled))
        if self.memory.auto_prune.due(appended.head):
            return replace(appended, head=await self.bridge.in_thread(self.memory.auto_prune.run, appended.head))
        return appended

    async def annotate(self, request: pb.AnnotateRequest) -> pb.AnnotateResponse:
        key = key_of(request)
        message_id = check_id("message_id", request.message_id)
        score = request.evaluation_score if request.HasField("evaluation_score") else None
        metadata = request.metadata if request.HasField("metadata") else None
        stored = await self.bridge.in_thread(self.memory.annotate, key, request.user_id, message_id, score, metadata)
        return pb.AnnotateResponse(message=Message.FromString(stored.body))

    # -- reading

    async def get_recent(self, request: pb.GetRecentRequest) -> bytes:
        key = key_of(request)
        n = min(at_least("n", request.n, 1), MAX_RECENT)
        max_tokens = at_least("max_tokens", request.max_tokens, 0)
        hot = self.memory.read.hot_recent(key, request.user_id, n, max_tokens)
        if hot is None:
            await self.bridge.in_thread(self.memory.views.get, key)
            hot = self.memory.read.hot_recent(key, request.user_id, n, max_tokens)
        if hot is None:
            hot = await self.bridge.in_thread(self.memory.read.recent, key, request.user_id, n, max_tokens)
        return _joined(hot)

    async def get_by_role(self, request: pb.GetByRoleRequest) -> bytes:
        key = key_of(request)
        if int(request.role) not in tuple(Role):
            raise InvalidField("role", "must be ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT or ROLE_TOOL")
        limit = at_least("limit", request.limit, 0)
        return _joined(await self.bridge.in_thread(self.memory.read.by_role, key, request.user_id, request.role, limit))

    async def get_all(self, request: pb.GetAllRequest) -> bytes:
        key = key_of(request)
        size = page_size_of(request.page_size)
        same = pb.GetAllRequest(
            namespace=key.namespace,
            user_id=request.user_id,
            session_id=key.session_id,
            include_pruned=request.include_pruned,
            metadata_filter=request.metadata_filter if request.HasField("metadata_filter") else None,
        ).SerializeToString(deterministic=True)
        (after,) = position_of(request.page_token, same, 1) or [0]
        wanted = request.metadata_filter if request.HasField("metadata_filter") else None
        turn = PageTurn(after, size, request.include_pruned, wanted)
        page, more = await self.bridge.in_thread(self.memory.read.page, key, request.user_id, turn)
        token = page_token([page.last_sequence], same) if more else ""
        return b"".join(page.frames) + pb.GetAllResponse(next_page_token=token).SerializeToString()

    async def search(self, request: pb.SearchRequest) -> pb.SearchResponse:
        return await self.search_api(request)

    async def count(self, request: pb.CountRequest) -> pb.CountResponse:
        key = key_of(request)
        read = self.memory.read
        optional_id("model", request.model)
        head = read.hot_head(key, request.user_id)
        if head is None:
            head = await self.bridge.in_thread(read.head, key, request.user_id)
        if head is not None and request.model:
            head = await self.bridge.in_thread(self.memory.count_by_model, head, request.model)
        return pb.CountResponse(stats=self._stats(head))

    # -- pruning and clearing

    async def prune(self, request: pb.PruneRequest) -> pb.PruneResponse:
        key = key_of(request)
        order = self._order(request)
        pruned = await self.bridge.in_thread(self.memory.prune, key, request.user_id, order)
        return pb.PruneResponse(
            removed_count=pruned.removed_count,
            removed_ids=pruned.removed_ids,
            tokens_before=pruned.tokens_before,
            tokens_after=pruned.tokens_after,
            remaining_count=pruned.remaining_count,
            over_budget=pruned.over_budget,
            shortened_ids=pruned.shortened_ids,
        )

    def _order(self, request: pb.PruneRequest) -> PruneOrder:
        if request.summarize:
            raise NotBuilt("summarize")
        strategy = strategy_of("strategy", request.strategy)
        limits = self.memory.limits
        return PruneOrder(
            max_tokens=at_least("max_tokens", request.max_tokens, 0 if strategy == Strategy.WINDOW else 1),
            strategy=strategy,
            window=at_least("window", request.window, 0) or limits.prune_window,
            min_messages=at_least("min_messages", request.min_messages, 0) or limits.prune_min_messages,
            dry_run=request.dry_run,
            overflow=request.overflow,
            model=optional_id("model", request.model),
        )

    async def clear(self, request: pb.ClearRequest) -> pb.ClearResponse:
        key = key_of(request)
        removed = await self.bridge.in_thread(self.memory.sessions.clear, key, request.user_id)
        return pb.ClearResponse(removed_count=removed)

    async def report_usage(self, request: pb.ReportUsageRequest) -> pb.ReportUsageResponse:
        optional_id("user_id", request.user_id)
        model = check_id("model", request.model)
        if request.session_id:
            await self.bridge.in_thread(self.memory.read.head, key_of(request), request.user_id)
        factor = await self.bridge.in_thread(
            self.memory.gauge.report, namespace_of(request), model, request.estimated_tokens, request.actual_tokens
        )
        return pb.ReportUsageResponse(factor=factor)

    def _stats(self, head: Head | None) -> SessionStats:
        policy = self.memory.policies.of(head) if head else None
        return stats_of(head, self.memory.gauge.budget_tokens(policy))


def _abandon(ahead: Ahead) -> None:
    """Nobody waits for these any more. What was submitted is stored all the same."""
    while not ahead.empty():
        task = ahead.get_nowait()
        if task is not None:
            task.cancel()


def _results(results: Sequence[Added]) -> list[pb.Added]:
    return [
        pb.Added(message_id=one.id, sequence=one.sequence, tokens=one.tokens, duplicate=one.duplicate)
        for one in results
    ]


def _joined(part: Slice) -> bytes:
    return b"".join(part.frames) + (_TRUNCATED if part.truncated else b"")


def _check_shared(request: pb.StoreInteractionRequest) -> None:
    """What both messages of a turn get is checked here, so that an error names the request's own field."""
    if request.HasField("create_time"):
        check_time("create_time", request.create_time)
    if request.HasField("metadata"):
        check_metadata("metadata", request.metadata)
    if request.HasField("evaluation_score"):
        check_score("evaluation_score", request.evaluation_score)


def _turn(request: pb.StoreInteractionRequest) -> list[Message]:
    """The two messages of the turn, under ids made from the turn's."""
    interaction_id = optional_id("interaction_id", request.interaction_id) or new_id()
    if len(interaction_id.encode()) > MAX_INTERACTION_ID_BYTES:
        raise InvalidField("interaction_id", f"is longer than {MAX_INTERACTION_ID_BYTES} bytes")
    for field in ("user_message", "assistant_message"):
        if not getattr(request, field):
            raise InvalidField(field, "is required")
    _check_shared(request)
    turn = [
        Message(role=ROLE_USER, content=request.user_message),
        Message(role=ROLE_ASSISTANT, content=request.assistant_message),
    ]
    for message, part in zip(turn, ("user", "assistant"), strict=True):
        message.id = f"{interaction_id}/{part}"
        if request.HasField("create_time"):
            message.create_time.CopyFrom(request.create_time)
        if request.HasField("metadata"):
            message.metadata.CopyFrom(request.metadata)
        if request.HasField("evaluation_score"):
            message.evaluation_score = request.evaluation_score
    return turn
