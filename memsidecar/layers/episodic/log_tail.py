"""Unindexed tail of the log; fallback without an index."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from memsidecar.layers.episodic.generations import OpenGeneration
from memsidecar.layers.episodic.query import Degradation, SearchScope
from memsidecar.stores.contract import (
    DocumentQuery,
    DocumentWritten,
    IndexBatch,
    Journal,
    LocatedMessage,
    LogEntry,
    MessageWritten,
    Owner,
    StoredDocument,
)

PIECES_AT_MOST = 16
"What is beyond is left to the task that indexes; a search says that it is behind."

MAX_FALLBACK_MESSAGES = 2_000
MAX_FALLBACK_CHUNKS = 2_000
_DOCUMENTS_AT_MOST = 200


class TailSegment(NamedTuple):
    """What the log says behind `after` up to `end`, and what was missing when it was read. `last`: it ended there."""

    after: int
    end: int
    harvest: IndexBatch
    degraded: frozenset[Degradation] = frozenset()
    last: bool = False


class LogTail:
    """Kept between searches, so that each entry is read and embedded once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: list[TailSegment] = []
        self._beat = -1

    def since(
        self, standing: OpenGeneration, beat: int, read_on: Callable[[int], Sequence[TailSegment]]
    ) -> list[TailSegment]:
        """What came behind the table's position. `read_on` reads what is still missing, if `beat` says that some is."""
        with self._lock:
            position = standing.position
            self._pieces = [piece for piece in self._pieces if piece.end > position]
            if self._pieces and (self._pieces[0].after > position or Degradation.EMBEDDER in self._pieces[-1].degraded):
                self._pieces, self._beat = [], -1
            if self._beat != beat and len(self._pieces) < PIECES_AT_MOST:
                more = read_on(self._pieces[-1].end if self._pieces else position)
                self._pieces += more
                self._beat = beat if not more else -1
            return [piece._replace(harvest=piece.harvest.after(position)) for piece in self._pieces]


def journal_fallback(journal: Journal, within: SearchScope) -> Iterator[LogEntry]:
    """Told as the log would tell it, oldest first."""
    if within.scope is not None:
        yield from reversed([_said(found) for found in _newest(journal, within)])
    for owner in within.owners:
        yield from _documents(journal, owner)


def _newest(journal: Journal, within: SearchScope) -> list[LocatedMessage]:
    assert within.scope is not None
    found: list[LocatedMessage] = []
    before = None if within.as_of is None else within.as_of + 1
    while len(found) < MAX_FALLBACK_MESSAGES:
        more = journal.scan(within.scope, before, MAX_FALLBACK_MESSAGES - len(found))
        if not more:
            break
        found += more
        before = more[-1].lsn
    return found


def _said(found: LocatedMessage) -> MessageWritten:
    return MessageWritten(found.lsn, found.lsn, found.session, found.key, found.user_id, found.message, None)


def _documents(journal: Journal, owner: Owner) -> Iterator[DocumentWritten]:
    room = MAX_FALLBACK_CHUNKS
    for document in journal.documents(DocumentQuery(owner, limit=_DOCUMENTS_AT_MOST)):
        whole = _with_chunks(journal, document, room)
        if whole is not None:
            room -= len(whole.chunks)
            yield DocumentWritten(whole.version, whole)


def _with_chunks(journal: Journal, document: StoredDocument, room: int) -> StoredDocument | None:
    """None if it has changed meanwhile, or there is no room for it."""
    if document.chunk_count > room:
        return None
    places = [(document.version, index) for index in range(document.chunk_count)]
    found = journal.find_chunks(places)
    if len(found) < len(places):
        return None
    return replace(document, chunks=[found[place][1] for place in places])
