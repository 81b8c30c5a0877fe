"""Documents: rows, PutDocument, DropDocument."""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from memsidecar.domain.errors import DataCorrupted, NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Chunk,
    CommitEvent,
    DeleteDocument,
    DocumentDeleted,
    DocumentDraft,
    DocumentPut,
    DocumentQuery,
    Owner,
    PutDocument,
    StoredDocument,
)
from memsidecar.stores.message_encoding import document_bytes, document_header
from memsidecar.stores.sqlite.schema import LogKind
from memsidecar.stores.sqlite.secure_delete import OrphanedTexts, PendingPurge, leave
from memsidecar.stores.sqlite.transaction import Entry, Transaction

_COLUMNS = """d.number, d.version, d.namespace, d.user_id, d.session_id, d.id, d.create_time_us, d.sha256,
  d.tokens, d.chunk_count, d.chunking, d.cover, d.first_chunk, d.bytes, c.text, c.crc"""
_DOCUMENTS = f"SELECT {_COLUMNS} FROM documents d JOIN texts c ON c.number = d.cover"
_PLACE = "SELECT d.number, d.chunk_count, d.cover, d.first_chunk, d.bytes FROM documents d"
_OF_OWNER = "d.namespace = ? AND d.user_id = ? AND d.session_id = ?"
_CHUNKS = "SELECT text, crc, tokens FROM texts WHERE number >= ? AND number < ? ORDER BY number"
# The version of a document is the entry of the log that tells its number: no index on it is needed.
_ASKED = f"""SELECT a.place, t.text, t.crc, t.tokens, {_COLUMNS}
  FROM (SELECT json_extract(value, '$[0]') AS version, json_extract(value, '$[1]') AS place FROM json_each(?)) a
  CROSS JOIN log l ON l.lsn = a.version CROSS JOIN documents d ON d.number = -l.session AND d.version = a.version
  CROSS JOIN texts c ON c.number = d.cover CROSS JOIN texts t ON t.number = d.first_chunk + a.place
  WHERE a.place >= 0 AND a.place < d.chunk_count"""

_INSERT = f"INSERT INTO documents VALUES ({', '.join('?' * 14)})"
_REPLACE = """UPDATE documents SET version = ?, create_time_us = ?, sha256 = ?, tokens = ?, chunk_count = ?,
  chunking = ?, cover = ?, first_chunk = ?, bytes = ? WHERE number = ?"""
_REPLACE_COVER = "UPDATE documents SET cover = ?, bytes = bytes + ? WHERE number = ?"


class Place(NamedTuple):
    """Where the texts of a document are; enough to drop it, whatever became of them."""

    number: int
    chunk_count: int
    cover: int
    first_chunk: int
    bytes: int

    @property
    def leftovers(self) -> Sequence[OrphanedTexts]:
        """All of its texts: the cover stands right before the chunks unless it was written anew."""
        last = self.first_chunk + self.chunk_count - 1
        if self.cover == self.first_chunk - 1:
            return [OrphanedTexts(self.cover, last)]
        cover = OrphanedTexts(self.cover, self.cover)
        return [cover, OrphanedTexts(self.first_chunk, last)] if self.chunk_count else [cover]


class Kept(NamedTuple):
    document: StoredDocument
    place: Place

    def has_text_of(self, draft: DocumentDraft) -> bool:
        return (self.document.sha256, self.document.chunking) == (draft.sha256, draft.chunking)


def find_document(connection: sqlite3.Connection, owner: Owner, document_id: str, path: Path) -> Kept | None:
    row = connection.execute(f"{_DOCUMENTS} WHERE {_OF_OWNER} AND d.id = ?", (*owner, document_id)).fetchone()
    return _kept(row, path) if row else None


def find_place(connection: sqlite3.Connection, owner: Owner, document_id: str) -> Place | None:
    row = connection.execute(f"{_PLACE} WHERE {_OF_OWNER} AND d.id = ?", (*owner, document_id)).fetchone()
    return Place(*row) if row else None


def find_places_of(connection: sqlite3.Connection, key: SessionKey) -> Sequence[Place]:
    """Of all documents that a session owns, in the order of their ids."""
    query = f"{_PLACE} WHERE d.namespace = ? AND d.session_id = ? AND d.session_id <> '' ORDER BY d.user_id, d.id"
    return [Place(*row) for row in connection.execute(query, key).fetchall()]


def list_documents(connection: sqlite3.Connection, page: DocumentQuery, path: Path) -> Sequence[StoredDocument]:
    query = f"{_DOCUMENTS} WHERE {_OF_OWNER} AND d.id > ? ORDER BY d.id LIMIT ?"
    found = connection.execute(query, (*page.owner, page.after_id, page.limit)).fetchall()
    return [_kept(row, path).document for row in found]


def read_version(connection: sqlite3.Connection, number: int, version: int, path: Path) -> StoredDocument | None:
    """The document with all its chunks, if this is the version that it has now."""
    query = f"{_DOCUMENTS} WHERE d.number = ? AND d.version = ?"
    row = connection.execute(query, (number, version)).fetchone()
    if row is None:
        return None
    kept = _kept(row, path)
    chunks = tuple(_read_chunks(connection, kept, path))
    return replace(kept.document, chunks=chunks)


def _read_chunks(connection: sqlite3.Connection, kept: Kept, path: Path) -> Iterator[Chunk]:
    stretch = (kept.place.first_chunk, kept.place.first_chunk + kept.place.chunk_count)
    found = connection.execute(_CHUNKS, stretch).fetchall()
    if len(found) != kept.place.chunk_count:
        raise _damaged(path)
    for text, crc, tokens in found:
        yield Chunk(_checked(text, crc, path).decode(), tokens)


def find_chunks(
    connection: sqlite3.Connection, places: Sequence[tuple[int, int]], path: Path
) -> dict[tuple[int, int], tuple[StoredDocument, Chunk]]:
    found = {}
    for place, text, crc, tokens, *row in connection.execute(_ASKED, (json.dumps(list(places)),)).fetchall():
        document = _kept(row, path).document
        found[document.version, place] = (document, Chunk(_checked(text, crc, path).decode(), tokens))
    return found


def _kept(row: Sequence[Any], path: Path) -> Kept:
    number, version, namespace, user_id, session_id, name, create_time_us, sha256, tokens, count, *rest = row
    chunking, cover, first_chunk, size, text, crc = rest
    words, _, metadata = _checked(text, crc, path).partition(b"\0")
    title, source = json.loads(words)
    owner = Owner(namespace, user_id, session_id)
    document = StoredDocument(
        number, version, owner, name, title, source, metadata, create_time_us, sha256, tokens, count, chunking
    )
    return Kept(document, Place(number, count, cover, first_chunk, size))


def _checked(text: bytes | None, crc: int | None, path: Path) -> bytes:
    if text is None or zlib.crc32(text) != crc:
        raise _damaged(path)
    return text


def _damaged(path: Path) -> DataCorrupted:
    return DataCorrupted(f"{path.name} is damaged: a document does not match its checksum", file=str(path))


def put_document(stage: Transaction, command: PutDocument) -> DocumentPut | PendingPurge:
    draft = command.document
    kept = find_document(stage.connection, draft.owner, draft.id, stage.path)
    if kept is None:
        return DocumentPut(_add(stage, draft), unchanged=False)
    if kept.has_text_of(draft):
        return _put_cover(stage, kept, draft)
    return _put_text(stage, kept, draft)


def _add(stage: Transaction, draft: DocumentDraft) -> StoredDocument:
    number, owner, size = stage.next_document, draft.owner, document_bytes(draft)
    stage.book(owner.namespace, Usage(bytes=size))
    version, texts = _shelve(stage, number, draft)
    stage.next_document += 1
    stage.do(_INSERT, number, *owner, draft.id, version, *_figures(draft), *texts, size)
    return draft.stored(number, version)


def _put_cover(stage: Transaction, kept: Kept, draft: DocumentDraft) -> DocumentPut | PendingPurge:
    """The text is known: only what stands on the cover may be new, and nobody who follows the log needs to know."""
    document = replace(kept.document, title=draft.title, source=draft.source, metadata=draft.metadata)
    if document == kept.document:
        return DocumentPut(document, unchanged=True)
    growth = len(document_header(document)) - len(document_header(kept.document))
    stage.book(draft.owner.namespace, Usage(bytes=growth))
    stage.do(_REPLACE_COVER, stage.add_texts([(document_header(document), 0)]), growth, document.row_id)
    leftovers = leave(stage, [OrphanedTexts(kept.place.cover, kept.place.cover)])
    return PendingPurge(leftovers, DocumentPut(document, unchanged=False))


def _put_text(stage: Transaction, kept: Kept, draft: DocumentDraft) -> PendingPurge:
    number, size = kept.document.row_id, document_bytes(draft)
    stage.book(draft.owner.namespace, Usage(bytes=size - kept.place.bytes))
    version, texts = _shelve(stage, number, draft)
    stage.do(_REPLACE, version, *_figures(draft), *texts, size, number)
    return PendingPurge(leave(stage, kept.place.leftovers), DocumentPut(draft.stored(number, version), unchanged=False))


def _shelve(stage: Transaction, number: int, draft: DocumentDraft) -> tuple[int, tuple[int, int]]:
    """Write the entry and the texts; answers the version, and where cover and chunks begin."""
    chunks = [(chunk.text.encode(), chunk.tokens) for chunk in draft.chunks]
    version = stage.write(-number, Entry(LogKind.DOCUMENT, id=draft.owner.namespace))
    cover = stage.add_texts([(document_header(draft), 0), *chunks])
    stage.changes.append(CommitEvent(SessionKey(draft.owner.namespace, ""), None))
    return version, (cover, cover + 1)


def _figures(draft: DocumentDraft) -> tuple[object, ...]:
    return draft.create_time_us, draft.sha256, draft.tokens, len(draft.chunks), draft.chunking


def drop_document(stage: Transaction, command: DeleteDocument) -> PendingPurge:
    place = find_place(stage.connection, command.owner, command.document_id)
    if place is None:
        raise NotFound(f"there is no document {command.document_id!r}")
    return PendingPurge(_drop(stage, command.owner.namespace, place), DocumentDeleted(place.chunk_count))


def drop_documents(stage: Transaction, namespace: str, places: Sequence[Place]) -> list[OrphanedTexts]:
    """Drop what a session owns, each with an entry of its own."""
    return [leftover for place in places for leftover in _drop(stage, namespace, place)]


def _drop(stage: Transaction, namespace: str, place: Place) -> Sequence[OrphanedTexts]:
    stage.write(-place.number, Entry(LogKind.DROP, id=namespace))
    stage.do("DELETE FROM documents WHERE number = ?", place.number)
    stage.book(namespace, Usage(bytes=-place.bytes))
    stage.changes.append(CommitEvent(SessionKey(namespace, ""), None))
    return leave(stage, place.leftovers)
