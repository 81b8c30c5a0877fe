"""Export: the stream of an archive, and the encoding of its records."""

import asyncio
from array import array
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from memsidecar.api.artifacts import encode_artifact
from memsidecar.api.documents import encode_document
from memsidecar.api.executors import Executors
from memsidecar.api.facts import encode_fact
from memsidecar.api.interceptors.concurrency import InFlightCounter
from memsidecar.api.knowledge_service import encode_summary
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.wire import policy_of, scope_of, timestamp_of
from memsidecar.domain.errors import ShuttingDown
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.archive.export import (
    CalibrationItem,
    ExportCursor,
    Exporter,
    ExportItem,
    MessageItem,
    PolicyItem,
    SummaryItem,
)
from memsidecar.layers.artifacts.artifact import artifact_of
from memsidecar.layers.documents.layout import text_of
from memsidecar.layers.learned_until import LearnedUntil
from memsidecar.layers.ownership import check_owner
from memsidecar.layers.semantic.fact import fact_of
from memsidecar.layers.summaries.store import summary_of
from memsidecar.stores.contract import ArchivedRecord, ArchivePosition, RecordKind, Scope, StoredDocument
from memsidecar.v1 import session_pb2 as pb
from memsidecar.v1.message_pb2 import Message

VERSION = 1
"The version of the record format."
_CURSOR_TYPES = (int, int, str, *[int] * 7)


@dataclass(frozen=True)
class ExportHandler:
    """Streams archives. All exports together use one thread at a time, so that they slow other reads little."""

    exporter: Exporter
    executors: Executors
    page_tokens: PageTokens
    streams: InFlightCounter
    _reading: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def export(self, requests: AsyncIterator[pb.ExportRequest]) -> AsyncIterator[pb.ExportResponse]:
        async for request in requests:
            scope = Scope(*scope_of(request))
            cursor = await self._begin(request, scope)
            while cursor is not None:
                responses, cursor = await self._page(request, scope, cursor)
                for response in responses:
                    if self.streams.draining:
                        raise ShuttingDown()
                    yield response

    async def _begin(self, request: pb.ExportRequest, scope: Scope) -> ExportCursor | None:
        values = self.page_tokens.decode(request, *_CURSOR_TYPES, field="cursor")
        async with self._reading:
            await self.executors.run_read(self._check_owner, scope)
            if values is None:
                return await self.executors.run_read(self.exporter.begin, scope)
        phase, after, after_name, others_lsn, large_lsn, *position = values
        learned = LearnedUntil(others_lsn, large_lsn)
        return ExportCursor(phase, after, after_name, learned, ArchivePosition._make(position))

    def _check_owner(self, scope: Scope) -> None:
        if scope.session_id:
            check_owner(self.exporter.journal.head(SessionKey(scope.namespace, scope.session_id)), scope.user_id)

    async def _page(
        self, request: pb.ExportRequest, scope: Scope, cursor: ExportCursor
    ) -> tuple[Sequence[pb.ExportResponse], ExportCursor | None]:
        async with self._reading:
            return await self.executors.run_read(self._read_page, request, scope, cursor)

    def _read_page(
        self, request: pb.ExportRequest, scope: Scope, cursor: ExportCursor
    ) -> tuple[Sequence[pb.ExportResponse], ExportCursor | None]:
        page = self.exporter.page(scope, cursor)
        responses = [
            pb.ExportResponse(record=encode_record(item), cursor=self._token(request, after))
            for item, after in page.items
        ]
        return responses, page.next_cursor

    def _token(self, request: pb.ExportRequest, cursor: ExportCursor) -> str:
        place = (cursor.phase, cursor.after, cursor.after_name)
        return self.page_tokens.encode(request, (*place, *cursor.learned, *cursor.position))


def encode_record(item: ExportItem) -> pb.ArchiveRecord:
    record = pb.ArchiveRecord()
    match item:
        case MessageItem():
            record = _message_record(item)
        case SessionHead():
            record = _of_session(item)
            record.session.create_time.CopyFrom(timestamp_of(item.create_time_us))
            record.session.last_active.CopyFrom(timestamp_of(item.last_active_us))
            record.session.last_sequence = item.last_sequence
        case PolicyItem(head, policy):
            record = _of_session(head) if head is not None else record
            record.policy.CopyFrom(policy_of(policy) or pb.SessionPolicy())
        case CalibrationItem(model, calibration):
            record = pb.ArchiveRecord(
                calibration=pb.Calibration(model=model, factor=calibration.factor, reports=calibration.reports)
            )
        case SummaryItem():
            record = _of_session(item.head)
            record.summary.CopyFrom(encode_summary(summary_of(item.record.record)) or record.summary)
            record.summary.last_sequence = min(record.summary.last_sequence, item.last_sequence)
        case ArchivedRecord():
            record = _knowledge_record(item)
        case StoredDocument():
            record = pb.ArchiveRecord(user_id=item.owner.user_id, session_id=item.owner.session_id)
            record.document.CopyFrom(encode_document(item))
            record.document.text = text_of(item)
    record.version = VERSION
    return record


def _of_session(head: SessionHead) -> pb.ArchiveRecord:
    return pb.ArchiveRecord(user_id=head.user_id, session_id=head.key.session_id)


def _message_record(item: MessageItem) -> pb.ArchiveRecord:
    archived = item.message
    record = pb.ArchiveRecord(
        user_id=archived.user_id,
        session_id=archived.key.session_id,
        message=Message.FromString(archived.original.body),
        pruned=archived.original.pruned,
        learned=item.learned,
    )
    if archived.vector is not None:
        record.message.vector.extend(array("f", archived.vector))
    if archived.displayed is not None:
        record.displayed.MergeFromString(archived.displayed.body)
    return record


def _knowledge_record(item: ArchivedRecord) -> pb.ArchiveRecord:
    """Encode a fact or an artifact. The session of a user's fact is the one whose erasure erases the fact."""
    owner, stored = item.owner, item.record
    record = pb.ArchiveRecord(user_id=owner.user_id, session_id=owner.session_id or stored.source)
    if item.kind is RecordKind.FACT:
        record.fact.CopyFrom(encode_fact(fact_of(stored)))
    else:
        record.session_id = owner.session_id
        record.artifact.CopyFrom(encode_artifact(artifact_of(stored)))
    return record
