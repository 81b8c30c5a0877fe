"""Import: a stream of records, stored in batches."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from memsidecar.api.archive_record import (
    CalibrationImport,
    DefaultPolicyItem,
    DocumentItem,
    ImportItem,
    RecordItem,
    RecordParser,
)
from memsidecar.api.executors import Executors
from memsidecar.api.interceptors.call import current_tenant
from memsidecar.api.interceptors.concurrency import InFlightCounter
from memsidecar.api.wire import namespace_of
from memsidecar.domain.errors import InvalidField, ShuttingDown, SidecarError
from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.documents.documents import Documents
from memsidecar.layers.semantic.fact_merge import restore_facts
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.summaries.store import SummaryStore, keep_known, summary_of
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.stores.contract import (
    ImportCommand,
    ImportDocument,
    Imported,
    ImportMessages,
    ImportRecords,
    ImportSession,
    MessageImport,
    Outcome,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    SessionImport,
)
from memsidecar.v1 import session_pb2 as pb

MAX_BATCH_RECORDS = 128
MAX_BATCH_BYTES = 1 << 20
"Bounds on what is stored at once: other writers wait for one command at most."
MAX_EVENT_LOOP_BYTES = 16 * 1024
"Smaller records are validated and counted on the event loop."


class BufferedItem(NamedTuple):
    item: ImportItem
    namespace: str
    override_erasures: bool
    bytes: int


@dataclass
class ImportBuffer:
    """Validated items that are not stored yet, bounded in number and bytes. It is filled while a batch commits."""

    _items: deque[BufferedItem] = field(default_factory=deque)
    _bytes: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _ended: bool = False

    async def put(self, item: BufferedItem) -> None:
        """Add an item, when there is room for it."""
        while self._items and (len(self._items) >= MAX_BATCH_RECORDS or self._bytes + item.bytes > MAX_BATCH_BYTES):
            await self._change()
        self._items.append(item)
        self._bytes += item.bytes
        self._changed.set()

    def end(self) -> None:
        self._ended = True
        self._changed.set()

    async def take(self) -> list[BufferedItem]:
        """Return all items, as soon as there is one; none after the last one."""
        while not self._items and not self._ended:
            await self._change()
        batch, self._bytes = list(self._items), 0
        self._items.clear()
        self._changed.set()
        return batch

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()


@dataclass(frozen=True)
class ImportHandler:
    parser: RecordParser
    memory: WorkingMemory
    facts: Facts
    artifacts: Artifacts
    documents: Documents
    summaries: SummaryStore
    executors: Executors
    streams: InFlightCounter

    async def import_records(self, requests: AsyncIterator[pb.ImportRequest]) -> AsyncIterator[pb.ImportResponse]:
        """Store the records of a stream; one response for each durable batch.

        An error ends the stream after a response for the records before it.
        """
        buffer = ImportBuffer()
        reader = asyncio.ensure_future(self._read(requests, buffer))
        progress = pb.ImportResponse()
        try:
            while batch := await buffer.take():
                outcomes, error = await self._store(batch)
                if outcomes:
                    _add(progress, outcomes)
                    yield progress
                if error is not None:
                    raise error
                if self.streams.draining:
                    raise ShuttingDown()
            await reader
        finally:
            reader.cancel()

    async def _read(self, requests: AsyncIterator[pb.ImportRequest], buffer: ImportBuffer) -> None:
        try:
            async for request in requests:
                await buffer.put(await self._parse(request))
        finally:
            buffer.end()

    async def _parse(self, request: pb.ImportRequest) -> BufferedItem:
        namespace, size = namespace_of(request), request.ByteSize()
        if not request.HasField("record"):
            raise InvalidField("record", "is required")
        if self.memory.add.validator.ready and size < MAX_EVENT_LOOP_BYTES:
            item = self.parser(namespace, request.record)
        else:
            item = await self.executors.run_count(self.parser, namespace, request.record)
        if isinstance(item, DocumentItem):
            self._check_document(item)
        return BufferedItem(item, namespace, request.override_erasures, size)

    def _check_document(self, item: DocumentItem) -> None:
        try:
            self.documents.validator.check(item.document)
        except InvalidField as error:
            raise InvalidField(f"record.{error.field}", error.problem) from None

    async def _store(self, batch: Sequence[BufferedItem]) -> tuple[list[Outcome], SidecarError | None]:
        """Store a batch; return the outcomes of its first records, and the error of the next one, if there is one."""
        outcomes: list[Outcome] = []
        for _, run in groupby(batch, _run_of):
            groups = [list(group) for _, group in groupby(run, _lane_of)]
            results = await asyncio.gather(*map(self._store_group, groups), return_exceptions=True)
            for group, result in zip(groups, results, strict=True):
                if not isinstance(result, BaseException):
                    outcomes += result
                    continue
                stored, error = await self._store_each(group, result)
                outcomes += stored
                if error is not None:
                    return outcomes, error
        return outcomes, None

    async def _store_each(
        self, items: Sequence[BufferedItem], refusal: BaseException
    ) -> tuple[list[Outcome], SidecarError | None]:
        """Store the items of a refused group one by one: alone, each shows whether it is the one that is refused."""
        if not isinstance(refusal, SidecarError):
            raise refusal
        outcomes: list[Outcome] = []
        if len(items) == 1:
            return outcomes, refusal
        for item in items:
            try:
                outcomes += await self._store_group([item])
            except SidecarError as error:
                return outcomes, error
        return outcomes, None

    async def _store_group(self, items: Sequence[BufferedItem]) -> Sequence[Outcome]:
        """Store items of one lane, all or nothing."""
        first, namespace, override_erasures, _ = items[0]
        current_tenant.set(namespace)  # the admission of a request sets it only for the task that reads
        if isinstance(first, DefaultPolicyItem):
            stored = await self.executors.run_write(self.memory.policies.set_default_if_none, *first)
            return [_outcome(stored)]
        if isinstance(first, CalibrationImport):
            stored = await self.executors.run_write(self.memory.token_counts.restore, *first)
            return [_outcome(stored)]
        if isinstance(first, DocumentItem):
            return await self._store_document(first, override_erasures)
        if isinstance(first, RecordItem):
            return await self._store_records(first, [each.item for each in items], override_erasures)
        if isinstance(first, SessionImport):
            return await self._submit(ImportSession(first, override_erasures))
        messages = [each.item for each in items if isinstance(each.item, MessageImport)]
        return await self._submit(ImportMessages(messages, override_erasures))

    async def _submit(self, command: ImportCommand) -> Sequence[Outcome]:
        pending = PendingCommand(command, self.executors.on_done)
        self.memory.add.journal.submit(pending)
        return await self._outcomes(pending)

    async def _outcomes(self, pending: PendingCommand) -> Sequence[Outcome]:
        imported: Imported = await self.executors.wait_for(pending)
        return imported.outcomes

    async def _store_document(self, item: DocumentItem, override_erasures: bool) -> Sequence[Outcome]:
        # Chunking takes a second for a megabyte: a known document is not chunked again.
        if await self.executors.run_read(self.documents.journal.document, item.owner, item.document.id) is not None:
            return [Outcome.DUPLICATE]
        draft = await self.executors.run_chunk(self.documents.validator, item.owner, item.document)
        undated = not item.document.HasField("create_time")
        return await self._submit(ImportDocument(draft, item.user_id, override_erasures, undated))

    async def _store_records(
        self, first: RecordItem, items: Sequence[ImportItem], override_erasures: bool
    ) -> Sequence[Outcome]:
        if first.kind is RecordKind.SUMMARY and await self.executors.run_read(self._is_of_other_messages, first):
            return [Outcome.DUPLICATE]
        merge, submit = self._lanes()[first.kind]
        records = [item.imported for item in items if isinstance(item, RecordItem)]
        command = ImportRecords(first.owner, first.user_id, first.kind, records, merge, override_erasures)
        return await self._outcomes(submit(command, self.executors.on_done))

    def _lanes(self) -> dict[RecordKind, tuple[Any, Callable[..., PendingCommand]]]:
        return {
            RecordKind.FACT: (restore_facts, self.facts.submit_import),
            RecordKind.ARTIFACT: (_add_all, self.artifacts.submit_import),
            RecordKind.SUMMARY: (keep_known, self.summaries.submit_import),
        }

    def _is_of_other_messages(self, item: RecordItem) -> bool:
        """Tell whether the session was used before the import, so that the summary's sequences are of others."""
        key = SessionKey(item.owner.namespace, item.owner.session_id)
        head = self.memory.add.journal.head(key)
        last_sequence = summary_of(item.imported.record).last_sequence
        return head is not None and 0 < head.last_sequence < last_sequence


def _run_of(buffered: BufferedItem) -> object:
    """Return a value that is equal for neighbours that are stored at the same time. Documents keep their order."""
    return id(buffered) if isinstance(buffered.item, DocumentItem) else type(buffered.item)


def _lane_of(buffered: BufferedItem) -> object:
    """Return a value that is equal for neighbours that are stored with one command."""
    item, namespace, override_erasures, _ = buffered
    if isinstance(item, MessageImport):
        return MessageImport, namespace, override_erasures
    if isinstance(item, RecordItem) and item.kind is not RecordKind.SUMMARY:
        return item.owner, item.user_id, item.kind, override_erasures
    return id(buffered)


def _add_all(_stored: Sequence[Record], new: Sequence[Record]) -> RecordChanges:
    return RecordChanges(new)


def _outcome(stored: bool) -> Outcome:
    return Outcome.STORED if stored else Outcome.DUPLICATE


def _add(progress: pb.ImportResponse, outcomes: Sequence[Outcome]) -> None:
    progress.durable_count += len(outcomes)
    progress.duplicate_count += outcomes.count(Outcome.DUPLICATE)
    progress.forgotten_count += outcomes.count(Outcome.FORGOTTEN)
