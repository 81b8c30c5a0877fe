"""Add, AddBatch, StoreInteraction, and AddStream with its window of appends in flight."""

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
"A message takes a slot of the window for each of these bytes."
MAX_EVENT_LOOP_BYTES = 16 * 1024
"Smaller requests are validated and counted on the event loop."
MAX_INTERACTION_ID_BYTES = 246  # leaves space for the suffix "/assistant"


@dataclass(frozen=True)
class AddHandlers:
    memory: WorkingMemory
    executors: Executors
    max_batch_messages: int

    async def add(self, request: pb.AddRequest) -> pb.AddResponse:
        key = key_of(request)
        (draft,) = await self._drafts([_message_of(request)], ["message"])
        appended = await self._append(Append(key, request.user_id, [draft], _expected_sequence(request)))
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
        appended = await self._append(Append(key, request.user_id, drafts, _expected_sequence(request)))
        return pb.AddBatchResponse(results=_results(appended.results), session=await self._stats(appended.head))

    async def store_interaction(self, request: pb.StoreInteractionRequest) -> pb.StoreInteractionResponse:
        key = key_of(request)
        drafts = await self._drafts(_interaction(request), ["user_message", "assistant_message"])
        appended = await self._append(Append(key, request.user_id, drafts))
        return pb.StoreInteractionResponse(results=_results(appended.results), session=await self._stats(appended.head))

    async def add_stream(self, requests: AsyncIterator[pb.AddStreamRequest]) -> AsyncIterator[pb.AddStreamResponse]:
        """Submit requests before earlier ones are answered, so that one stream fills group commits."""
        window = InFlightWindow(self.executors)
        reader = asyncio.ensure_future(self._submit_all(requests, window))
        try:
            async for pending in window.pending():
                appended = await self._wait_for(pending)
                yield pb.AddStreamResponse(result=_results(appended.results)[0])
            await reader
        finally:
            reader.cancel()

    async def _submit_all(self, requests: AsyncIterator[pb.AddStreamRequest], window: "InFlightWindow") -> None:
        try:
            async for request in requests:
                key = key_of(request)
                (draft,) = await self._drafts([_message_of(request)], ["message"])
                await window.acquire(draft)
                window.put(self.memory.add.submit(Append(key, request.user_id, [draft], after=window), window.on_done))
        finally:
            window.close()

    async def _drafts(self, messages: Sequence[Message], fields: Sequence[str]) -> list[Draft]:
        """Validate and count messages: small ones here, large ones, and all while the vocabulary loads, in a thread."""
        draft = self.memory.add.validator
        if draft.ready and sum([message.ByteSize() for message in messages]) < MAX_EVENT_LOOP_BYTES:
            return [draft(message, field) for message, field in zip(messages, fields, strict=True)]
        return await self.executors.run_count(
            lambda: [draft(message, field) for message, field in zip(messages, fields, strict=True)]
        )

    def _append(self, command: Append) -> Awaitable[Appended]:
        return self._wait_for(self.memory.add.submit(command, self.executors.on_done))

    async def _wait_for(self, pending: PendingCommand) -> Appended:
        appended: Appended = await self.executors.wait_for(pending)
        if self.memory.auto_prune.due(appended.head):
            return replace(appended, head=await self.executors.run_write(self.memory.auto_prune.run, appended.head))
        return appended

    async def _stats(self, head: SessionHead) -> SessionStats:
        """Return the session's statistics. Never fails: the messages are durable, and the client must learn that."""
        budget = self.memory.budgets.cached(head)
        if budget is None:
            budget = await self.executors.run_read(self.memory.budgets.or_default, head)
        return stats_of(head, budget)


class InFlightWindow:
    """The appends of one stream that are in flight, in order, bounded in number and in bytes.

    Each append has the window as its predecessor (see `Append.after`). Once an append has failed, `error` is set, on
    the journal's thread and before the next append is processed, and no later one is stored.
    """

    def __init__(self, executors: Executors) -> None:
        self.error: BaseException | None = None
        self._executors = executors
        self._queue: asyncio.Queue[PendingCommand | None] = asyncio.Queue()
        self._free_slots = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._taken_slots: deque[int] = deque()

    async def acquire(self, draft: Draft) -> None:
        slots = min(MAX_IN_FLIGHT, 1 + len(draft.body) // SLOT_BYTES)
        for _ in range(slots):
            await self._free_slots.acquire()
        self._taken_slots.append(slots)

    def put(self, pending: PendingCommand) -> None:
        self._queue.put_nowait(pending)

    def close(self) -> None:
        self._queue.put_nowait(None)

    async def pending(self) -> AsyncIterator[PendingCommand]:
        """Yield each append once, in order. Its slots are free again when the next one is requested."""
        while (pending := await self._queue.get()) is not None:
            yield pending
            for _ in range(self._taken_slots.popleft()):
                self._free_slots.release()

    def on_done(self, pending: PendingCommand) -> None:
        """Called on the journal's thread."""
        if pending.error is not None:
            self.error = self.error or pending.error
        self._executors.on_done(pending)


def _message_of(request: pb.AddRequest | pb.AddStreamRequest) -> Message:
    if not request.HasField("message"):
        raise InvalidField("message", "is required")
    return request.message


def _expected_sequence(request: pb.AddRequest | pb.AddBatchRequest) -> int | None:
    if not request.HasField("expected_sequence"):
        return None
    return at_least("expected_sequence", request.expected_sequence, 0)


def _results(results: Sequence[Added]) -> list[pb.Added]:
    return [
        pb.Added(message_id=added.id, sequence=added.sequence, tokens=added.tokens, duplicate=added.duplicate)
        for added in results
    ]


def _check_shared_fields(request: pb.StoreInteractionRequest) -> None:
    """Validate the fields that both messages get, so that an error names the request's own field."""
    if request.HasField("create_time"):
        check_time("create_time", request.create_time)
    if request.HasField("metadata"):
        check_metadata("metadata", request.metadata)
    if request.HasField("evaluation_score"):
        check_score("evaluation_score", request.evaluation_score)


def _interaction(request: pb.StoreInteractionRequest) -> list[Message]:
    """Return the two messages of the interaction, with ids derived from its id."""
    interaction_id = optional_id("interaction_id", request.interaction_id) or new_id()
    if len(interaction_id.encode()) > MAX_INTERACTION_ID_BYTES:
        raise InvalidField("interaction_id", f"is longer than {MAX_INTERACTION_ID_BYTES} bytes")
    for field in ("user_message", "assistant_message"):
        if not getattr(request, field):
            raise InvalidField(field, "is required")
    _check_shared_fields(request)
    messages = [
        Message(role=ROLE_USER, content=request.user_message),
        Message(role=ROLE_ASSISTANT, content=request.assistant_message),
    ]
    for message, suffix in zip(messages, ("user", "assistant"), strict=True):
        message.id = f"{interaction_id}/{suffix}"
        if request.HasField("create_time"):
            message.create_time.CopyFrom(request.create_time)
        if request.HasField("metadata"):
            message.metadata.CopyFrom(request.metadata)
        if request.HasField("evaluation_score"):
            message.evaluation_score = request.evaluation_score
    return messages
