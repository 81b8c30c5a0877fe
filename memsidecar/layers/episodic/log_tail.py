"""The tail of the log: entries that are not in the index yet, read by searches themselves."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memsidecar.embedding.contract import Embedder, EmbedderMismatch, Embedders, EmbedderUnavailable
from memsidecar.layers.episodic.generations import NamespaceIndex, OpenGeneration
from memsidecar.layers.episodic.index_batch import BatchBuilder, BatchEmbedder, zero_vectors
from memsidecar.layers.episodic.query import Degradation, SearchScope
from memsidecar.stores.contract import (
    DocumentQuery,
    DocumentReader,
    DocumentWritten,
    EndOfLog,
    IndexBatch,
    Journal,
    LocatedMessage,
    LogEntry,
    LogFilter,
    MessageReader,
    MessageWritten,
    Owner,
    StoredDocument,
)

BATCH_ENTRIES, MAX_TAIL_BATCHES = 1_000, 8
"A search reads at most so many entries; if there are more, its response is marked as stale."
MAX_TAIL_SEGMENTS = 16
"A LogTail keeps at most so many segments; later entries are found when the indexer has caught up."

MAX_FALLBACK_MESSAGES = 2_000
MAX_FALLBACK_CHUNKS = 2_000
_MAX_FALLBACK_DOCUMENTS = 200


class LogSource(NamedTuple):
    """The log to read, and the embedder and dimensions of the vectors; `log_filter` None reads all entries."""

    namespace: str
    embedder: Embedder | None
    dimensions: int
    log_filter: LogFilter | None

    @classmethod
    def of(cls, index: NamespaceIndex, log_filter: LogFilter | None = None) -> "LogSource":
        return cls(index.namespace, index.live.embedder, index.live.table.generation.dimensions, log_filter)


class TailSegment(NamedTuple):
    """The entries after `after` up to `end` as an index batch. `is_last`: the log ended there."""

    after: int
    end: int
    batch: IndexBatch
    degraded: frozenset[Degradation] = frozenset()
    is_last: bool = False


class TailSegments(NamedTuple):
    """Consecutive segments. `truncated`: the log has more entries than were read."""

    segments: Sequence[TailSegment]
    truncated: bool

    @property
    def degraded(self) -> frozenset[Degradation]:
        degraded = frozenset[Degradation]().union(*(segment.degraded for segment in self.segments))
        return degraded | {Degradation.STALE} if self.truncated else degraded


@dataclass(frozen=True)
class LogReader:
    """Reads log entries as index batches. Rows get zero vectors if the embedder is unavailable. Thread-safe."""

    journal: Journal
    embedders: Embedders

    def read_segment(self, source: LogSource, after: int, partition: int | None = None) -> TailSegment | None:
        """Return the next entries, of one partition or of all; None at the end of the log."""
        entries = self.journal.read_changes(source.namespace, after, BATCH_ENTRIES, source.log_filter)
        if not entries:
            return None
        batch, degraded = self.to_batch(entries, source.embedder, source.dimensions, partition)
        return TailSegment(after, entries[-1].lsn, batch, degraded, isinstance(entries[-1], EndOfLog))

    def read_segments(self, source: LogSource, after: int) -> TailSegments:
        """Return the entries up to the end of the log, at most MAX_TAIL_BATCHES batches."""
        segments: list[TailSegment] = []
        for _ in range(MAX_TAIL_BATCHES):
            segment = self.read_segment(source, after)
            if segment is None:
                return TailSegments(segments, truncated=False)
            segments.append(segment)
            if segment.is_last:
                return TailSegments(segments, truncated=False)
            after = segment.end
        return TailSegments(segments, truncated=True)

    def to_batch(
        self, entries: Sequence[LogEntry], embedder: Embedder | None, dimensions: int, partition: int | None = None
    ) -> tuple[IndexBatch, frozenset[Degradation]]:
        builder = BatchBuilder(self.journal, partition)
        for entry in entries:
            builder.add(entry)
        try:
            if embedder is not None:
                return builder.build(BatchEmbedder(self.embedders.interactive(embedder))), frozenset()
        except (EmbedderUnavailable, EmbedderMismatch):
            pass
        return builder.build(lambda rows: zero_vectors(rows, dimensions)), frozenset({Degradation.EMBEDDER})


class LogTail:
    """Cache of a namespace's tail, so that each entry is read and embedded once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._segments: list[TailSegment] = []
        self._seen_commits = -1

    def after(self, generation: OpenGeneration, commits: int, read_on: Callable[[int], TailSegments]) -> TailSegments:
        """Return the entries after the table's position.

        `commits` is the namespace's commit count. If it has changed, `read_on` is called to read the entries after an
        lsn. Segments that were read without the embedder are read again.
        """
        truncated = False
        with self._lock:
            position = generation.position
            self._segments = [segment for segment in self._segments if segment.end > position]
            if self._segments and self._must_read_again(position):
                self._segments, self._seen_commits = [], -1
            if self._seen_commits != commits and len(self._segments) < MAX_TAIL_SEGMENTS:
                more, truncated = read_on(self._segments[-1].end if self._segments else position)
                self._segments += more
                self._seen_commits = commits if not more else -1
            truncated = truncated or len(self._segments) >= MAX_TAIL_SEGMENTS
            return TailSegments(
                [segment._replace(batch=segment.batch.after(position)) for segment in self._segments], truncated
            )

    def _must_read_again(self, position: int) -> bool:
        # Not only the last one: entries without content may follow, of facts, which the index does not wait for.
        lacks_vectors = any(Degradation.EMBEDDER in segment.degraded for segment in self._segments)
        return self._segments[0].after > position or lacks_vectors


def journal_fallback(journal: Journal, scope: SearchScope) -> Iterator[LogEntry]:
    """Return the newest messages and documents in scope as log entries, oldest first; used without an index."""
    if scope.message_scope is not None:
        yield from reversed([_message_entry(found) for found in _newest_messages(journal, scope)])
    for owner in scope.owners:
        yield from _document_entries(journal, owner)


def _newest_messages(journal: MessageReader, scope: SearchScope) -> list[LocatedMessage]:
    assert scope.message_scope is not None
    found: list[LocatedMessage] = []
    before = None if scope.as_of is None else scope.as_of + 1
    while len(found) < MAX_FALLBACK_MESSAGES:
        more = journal.scan(scope.message_scope, before, MAX_FALLBACK_MESSAGES - len(found))
        if not more:
            break
        found += more
        before = more[-1].lsn
    return found


def _message_entry(found: LocatedMessage) -> MessageWritten:
    return MessageWritten(found.lsn, found.lsn, found.session, found.key, found.user_id, found.message, None)


def _document_entries(journal: DocumentReader, owner: Owner) -> Iterator[DocumentWritten]:
    chunks_left = MAX_FALLBACK_CHUNKS
    for header in journal.documents(DocumentQuery(owner, limit=_MAX_FALLBACK_DOCUMENTS)):
        document = _with_chunks(journal, header, chunks_left)
        if document is not None:
            chunks_left -= len(document.chunks)
            yield DocumentWritten(document.version, document)


def _with_chunks(journal: DocumentReader, header: StoredDocument, max_chunks: int) -> StoredDocument | None:
    """Return the document with its chunks; None if it has too many, or was replaced meanwhile."""
    if header.chunk_count > max_chunks:
        return None
    positions = [(header.version, index) for index in range(header.chunk_count)]
    found = journal.find_chunks(header.owner.namespace, positions)
    if len(found) < len(positions):
        return None
    return replace(header, chunks=[found[position][1] for position in positions])
