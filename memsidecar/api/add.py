"""Add, AddBatch, AddStream (with its in-flight window), StoreInteraction."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass, replace

from memsidecar.api.executors import Executors
from memsidecar.api.wire import at_least, key_of, stats_of
from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.ids import new_id, optional_id
from memsidecar.domain.message import Draft
from memsidecar.domain.session import SessionHead
from memsidecar.layers.field_checks import check_metadata, check_score, check_time
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.stores.contract import Added, Append, Appended, PendingCommand
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message, SessionStats

MAX_IN_FLIGHT = 256
SLOT_BYTES = 16 * 1024

MAX_INTERACTION_ID_BYTES = 246  # what leaves room for "/assistant"
MAX_EVENT_LOOP_BYTES = 16 * 1024


class InFlightWindow:
    """The appends of one stream that are on their way, in order, bounded in number and in bytes.

    Each append comes after this (see `Append.after`): once one was refused, `error` is set, on the journal's thread
    and before the next one is looked at, and none behind it is stored.
    """

    def __init__(self, executors: Executors) -> None:
        self.error: BaseException | None = None
        self._bridge = executors
        self._tickets: asyncio.Queue[PendingCommand | None] = asyncio.Queue()
        self._places = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._taken: deque[int] = deque()

    async def make_room(self, draft: Draft) -> None:
        places = min(MAX_IN_FLIGHT, 1 + len(draft.body) // SLOT_BYTES)
        for _ in range(places):
            await self._places.acquire()
        self._taken.append(places)

    def put(self, ticket: PendingCommand) -> None:
        self._tickets.put_nowait(ticket)

    def end(self) -> None:
        self._tickets.put_nowait(None)

    async def tickets(self) -> AsyncIterator[PendingCommand]:
        """Each ticket once, in order; its room is free again when the next one is asked for."""
        while (ticket := await self._tickets.get()) is not None:
            yield ticket
            for _ in range(self._taken.popleft()):
                self._places.release()

    def settled(self, ticket: PendingCommand) -> None:
        """On the journal's thread."""
        if ticket.error is not None:
            self.error = self.error or ticket.error
        self._bridge.settled(ticket)


@dataclass(frozen=True)
class AddHandlers:
    memory: WorkingMemory
    executors: Executors
    max_batch_messages: int

    async def add(self, request: pb.AddRequest) -> pb.AddResponse:
        key = key_of(request)
        (draft,) = await self._drafts([_given(request)], ["message"])
        expected = None
        if request.HasField("expected_sequence"):
            expected = at_least("expected_sequence", request.expected_sequence, 0)
        appended = await self._append(Append(key, request.user_id, [draft], expected))
        added = appended.results[0]
        response = pb.AddResponse(
            message_id=added.id, sequence=added.sequence, tokens=added.tokens, duplicate=added.duplicate
        )
        if request.return_session:
            response.session.CopyFrom(await self._stats(appended.head))
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
        appended = await self._append(Append(key, request.user_id, drafts, expected))
        return pb.AddBatchResponse(results=_results(appended.results), session=await self._stats(appended.head))

    async def store_interaction(self, request: pb.StoreInteractionRequest) -> pb.StoreInteractionResponse:
        key = key_of(request)
        drafts = await self._drafts(_turn(request), ["user_message", "assistant_message"])
        appended = await self._append(Append(key, request.user_id, drafts))
        return pb.StoreInteractionResponse(results=_results(appended.results), session=await self._stats(appended.head))

    async def add_stream(self, requests: AsyncIterator[pb.AddStreamRequest]) -> AsyncIterator[pb.AddStreamResponse]:
        """Requests are taken ahead of their answers, so that a stream fills the groups that are committed."""
        ahead = InFlightWindow(self.executors)
        reader = asyncio.ensure_future(self._read_ahead(requests, ahead))
        try:
            async for ticket in ahead.tickets():
                appended = await self._settled(ticket)
                yield pb.AddStreamResponse(result=_results(appended.results)[0])
            await reader
        finally:
            reader.cancel()

    async def _read_ahead(self, requests: AsyncIterator[pb.AddStreamRequest], ahead: InFlightWindow) -> None:
        try:
            async for request in requests:
                key = key_of(request)
                (draft,) = await self._drafts([_given(request)], ["message"])
                await ahead.make_room(draft)
                ahead.put(self.memory.add.submit(Append(key, request.user_id, [draft], after=ahead), ahead.settled))
        finally:
            ahead.end()

    async def _drafts(self, messages: Sequence[Message], fields: Sequence[str]) -> list[Draft]:
        """Small messages are counted here; large ones, or the first while the vocabulary loads, in a thread."""
        draft = self.memory.add.validator
        if draft.ready and sum([message.ByteSize() for message in messages]) < MAX_EVENT_LOOP_BYTES:
            return [draft(message, field) for message, field in zip(messages, fields, strict=True)]
        return await self.executors.run_count(
            lambda: [draft(message, field) for message, field in zip(messages, fields, strict=True)]
        )

    def _append(self, command: Append) -> Awaitable[Appended]:
        return self._settled(self.memory.add.submit(command, self.executors.settled))

    async def _settled(self, ticket: PendingCommand) -> Appended:
        appended: Appended = await self.executors.outcome(ticket)
        if self.memory.auto_prune.due(appended.head):
            return replace(appended, head=await self.executors.run_write(self.memory.auto_prune.run, appended.head))
        return appended

    async def _stats(self, head: SessionHead) -> SessionStats:
        """What was added is durable, and must not be answered as if it were not because of this."""
        budget = self.memory.budgets.cached(head)
        if budget is None:
            budget = await self.executors.run_read(self.memory.budgets.or_default, head)
        return stats_of(head, budget)


def _given(request: pb.AddRequest | pb.AddStreamRequest) -> Message:
    if not request.HasField("message"):
        raise InvalidField("message", "is required")
    return request.message


def _results(results: Sequence[Added]) -> list[pb.Added]:
    return [
        pb.Added(message_id=one.id, sequence=one.sequence, tokens=one.tokens, duplicate=one.duplicate)
        for one in results
    ]


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
