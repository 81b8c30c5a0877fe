"""Conversion of change-feed entries to index batches, with vectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from memsidecar.embedding.contract import Embedder
from memsidecar.layers.episodic.query import document_partition, message_partition
from memsidecar.layers.text_analysis import index_terms
from memsidecar.stores.contract import (
    ChangeFeed,
    DocumentWritten,
    Episodes,
    IndexBatch,
    LogEntry,
    MessageErased,
    MessageWritten,
    RowsErased,
    SessionClaimed,
    StoredDocument,
)
from memsidecar.v1.message_pb2 import Message

_SESSION_READ_MESSAGES = 500


@dataclass(slots=True)
class PendingRow:
    """An episode before it is embedded. `vector` is the client's own, if it sent one."""

    lsn: int
    sequence: int
    written: int
    partition: int
    session: int
    role: int
    time_us: int
    score: float | None
    name: str
    text: str
    vector: bytes | None = None


@dataclass
class BatchBuilder:
    """Collects the net effect of log entries. With `partition`, rows of other partitions are skipped."""

    journal: ChangeFeed
    partition: int | None = None
    _deleted: dict[int, int] = field(default_factory=dict)
    _erased: dict[tuple[int, int], None] = field(default_factory=dict)
    _updated: dict[tuple[int, int], None] = field(default_factory=dict)
    _rows: dict[tuple[int, int], PendingRow] = field(default_factory=dict)

    def add(self, entry: LogEntry) -> None:
        if isinstance(entry, MessageWritten):
            self._add_message(entry, entry.lsn)
        elif isinstance(entry, RowsErased):
            self._delete(entry.session, entry.lsn)
        elif isinstance(entry, MessageErased):
            self._erase(entry.session, entry.sequence)
        elif isinstance(entry, SessionClaimed):
            self._move_session(entry)
        elif isinstance(entry, DocumentWritten):
            self._add_document(entry.document, entry.lsn)

    def _add_message(self, entry: MessageWritten, written: int) -> None:
        message = entry.message
        if entry.first_lsn != written:
            self._updated[entry.first_lsn, message.sequence] = None
        decoded = Message.FromString(message.body)
        self._add_row(
            PendingRow(
                lsn=entry.first_lsn,
                sequence=message.sequence,
                written=written,
                partition=message_partition(entry.user_id, entry.session),
                session=entry.session,
                role=message.role,
                time_us=message.time_us,
                score=message.score,
                name=decoded.name,
                text=text_of(decoded),
                vector=entry.vector,
            )
        )

    def _add_row(self, row: PendingRow) -> None:
        if self.partition is None or row.partition == self.partition:
            self._rows[row.lsn, row.sequence] = row

    def _delete(self, session: int, lsn: int) -> None:
        self._deleted[session] = lsn
        for key in [key for key, row in self._rows.items() if row.session == session]:
            del self._rows[key]

    def _erase(self, session: int, sequence: int) -> None:
        self._erased[session, sequence] = None
        for key in [key for key, row in self._rows.items() if (row.session, row.sequence) == (session, sequence)]:
            del self._rows[key]

    def _move_session(self, entry: SessionClaimed) -> None:
        """Move a claimed session's messages to its user's partition.

        Messages after the claim have entries of their own. Adding them here would advance the table's watermark past
        entries that are not applied yet.
        """
        self._delete(entry.session, entry.lsn)
        after = 0
        while messages := self.journal.read_session(entry.session, after, _SESSION_READ_MESSAGES):
            for message in messages:
                if message.lsn > entry.lsn:
                    return
                self._add_message(message, entry.lsn)
            after = messages[-1].message.sequence

    def _add_document(self, document: StoredDocument, lsn: int) -> None:
        self._delete(-document.row_id, lsn)
        partition = document_partition(document.owner)
        for index, chunk in enumerate(document.chunks):
            self._add_row(
                PendingRow(
                    lsn=lsn,
                    sequence=index,
                    written=lsn,
                    partition=partition,
                    session=-document.row_id,
                    role=0,
                    time_us=document.create_time_us,
                    score=None,
                    name="",
                    text=chunk.text,
                )
            )

    def deletions(self) -> IndexBatch:
        """Return a batch of the erasures alone, which needs no embedder."""
        return IndexBatch(
            deleted_sessions=list(self._deleted),
            deleted_before=list(self._deleted.values()),
            deleted_positions=list(self._erased),
        )

    def build(
        self,
        embed: Callable[[Sequence[PendingRow]], NDArray[np.float32]],
        yield_cpu: Callable[[], None] = lambda: None,
    ) -> IndexBatch:
        rows = list(self._rows.values())
        return replace(
            self.deletions(),
            deleted_episodes=[key for key in self._updated if key in self._rows],
            episodes=episodes_of(rows, embed(rows), yield_cpu) if rows else None,
        )


def text_of(message: Message) -> str:
    """Return the text of a message that is indexed: its content and its tool calls."""
    parts = [message.content, *(f"{call.name} {call.arguments_json}" for call in message.tool_calls)]
    return "\n".join(part for part in parts if part)


def episodes_of(
    rows: Sequence[PendingRow], vectors: NDArray[np.float32], yield_cpu: Callable[[], None] = lambda: None
) -> Episodes:
    def numbers(name: str) -> NDArray[np.int64]:
        return np.array([getattr(row, name) for row in rows], np.int64)

    return Episodes(
        lsn=numbers("lsn"),
        sequence=numbers("sequence"),
        written_lsn=numbers("written"),
        partition=numbers("partition"),
        session=numbers("session"),
        role=np.array([row.role for row in rows], np.int8),
        time_us=numbers("time_us"),
        score=np.array([np.nan if row.score is None else row.score for row in rows], np.float32),
        name=[row.name for row in rows],
        terms=[index_terms(row.text) for row in _yielding_cpu(rows, yield_cpu)],
        vectors=vectors,
    )


def _yielding_cpu(rows: Sequence[PendingRow], yield_cpu: Callable[[], None]) -> Iterator[PendingRow]:
    for row in rows:
        yield row
        yield_cpu()


@dataclass(frozen=True)
class BatchEmbedder:
    """Vectors of pending rows: the client's own where it sent one, else the embedder's, in batches."""

    embedder: Embedder
    yield_cpu: Callable[[], None] = lambda: None

    def __call__(self, rows: Sequence[PendingRow]) -> NDArray[np.float32]:
        vectors = np.zeros((len(rows), self.embedder.dimensions), np.float32)
        supplied = [at for at, row in enumerate(rows) if self._has_vector(row)]
        for at in supplied:
            vectors[at] = unit(np.frombuffer(rows[at].vector or b"", np.float32))
        others = np.setdiff1d(np.arange(len(rows)), supplied)
        batch_size = self.embedder.batch_size
        for start in range(0, len(others), batch_size):
            batch = others[start : start + batch_size]
            vectors[batch] = self.embedder.embed([rows[at].text for at in batch])
            self.yield_cpu()
        return vectors

    def _has_vector(self, row: PendingRow) -> bool:
        """Return whether the client's vector fits; one of other dimensions was sent for an earlier embedder."""
        return row.vector is not None and len(row.vector) == 4 * self.embedder.dimensions


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vector scaled to length 1; zeros stay zeros."""
    length = float(np.linalg.norm(vector.astype(np.float64)))
    return (vector.astype(np.float64) / length).astype(np.float32) if length > 0 else np.zeros_like(vector)


def zero_vectors(rows: Sequence[PendingRow], dimensions: int) -> NDArray[np.float32]:
    """Return zeros, for rows that are found by their words alone."""
    return np.zeros((len(rows), dimensions), np.float32)
