"""Unindexed tail of the log; fallback without an index."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from memsidecar.layers.episodic.generations import Standing
from memsidecar.layers.episodic.query import Lack, Range
from memsidecar.stores.contract import DocumentPage, Found, Harvest, Journal, News, Owner, Said, Shelved, StoredDocument

PIECES_AT_MOST = 16
"What is beyond is left to the task that indexes; a search says that it is behind."

MESSAGES_AT_MOST = 2_000
CHUNKS_AT_MOST = 2_000
_DOCUMENTS_AT_MOST = 200


class Piece(NamedTuple):
    """What the log says behind `after` up to `end`, and what was missing when it was read. `last`: it ended there."""

    after: int
    end: int
    harvest: Harvest
    lacks: frozenset[Lack] = frozenset()
    last: bool = False


class Tail:
    """Kept between searches, so that each entry is read and embedded once. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: list[Piece] = []
        self._beat = -1

    def since(self, standing: Standing, beat: int, read_on: Callable[[int], Sequence[Piece]]) -> list[Piece]:
        """What came behind the table's position. `read_on` reads what is still missing, if `beat` says that some is."""
        with self._lock:
            position = standing.position
            self._pieces = [piece for piece in self._pieces if piece.end > position]
            if self._pieces and (self._pieces[0].after > position or Lack.EMBEDDER in self._pieces[-1].lacks):
                self._pieces, self._beat = [], -1
            if self._beat != beat and len(self._pieces) < PIECES_AT_MOST:
                more = read_on(self._pieces[-1].end if self._pieces else position)
                self._pieces += more
                self._beat = beat if not more else -1
            return [piece._replace(harvest=piece.harvest.since(position)) for piece in self._pieces]


def recent_news(journal: Journal, within: Range) -> Iterator[News]:
    """Told as the log would tell it, oldest first."""
    if within.scope is not None:
        yield from reversed([_said(found) for found in _newest(journal, within)])
    for owner in within.owners:
        yield from _documents(journal, owner)


def _newest(journal: Journal, within: Range) -> list[Found]:
    assert within.scope is not None
    found: list[Found] = []
    before = None if within.as_of is None else within.as_of + 1
    while len(found) < MESSAGES_AT_MOST:
        more = journal.scan(within.scope, before, MESSAGES_AT_MOST - len(found))
        if not more:
            break
        found += more
        before = more[-1].lsn
    return found


def _said(found: Found) -> Said:
    return Said(found.lsn, found.lsn, found.session, found.key, found.user_id, found.message, None)


def _documents(journal: Journal, owner: Owner) -> Iterator[Shelved]:
    room = CHUNKS_AT_MOST
    for document in journal.documents(DocumentPage(owner, limit=_DOCUMENTS_AT_MOST)):
        whole = _with_chunks(journal, document, room)
        if whole is not None:
            room -= len(whole.chunks)
            yield Shelved(whole.version, whole)


def _with_chunks(journal: Journal, document: StoredDocument, room: int) -> StoredDocument | None:
    """None if it has changed meanwhile, or there is no room for it."""
    if document.chunk_count > room:
        return None
    places = [(document.version, index) for index in range(document.chunk_count)]
    found = journal.find_chunks(places)
    if len(found) < len(places):
        return None
    return replace(document, chunks=[found[place][1] for place in places])
