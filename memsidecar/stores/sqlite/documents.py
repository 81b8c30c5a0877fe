"""Rows of documents, and the handlers of PutDocument and DeleteDocument."""

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
    ChunksByPlace,
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
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.message_encoding import document_bytes, document_header, document_of
from memsidecar.stores.sqlite.secure_delete import CLEAN_LATER_SECONDS, OrphanedTexts, PendingPurge, orphan_texts
from memsidecar.stores.sqlite.transaction import Entry, Transaction

# In the order of `_document_row`.
_COLUMNS = """d.row_id, d.version, d.namespace, d.user_id, d.session_id, d.id, d.create_time_us, d.sha256,
  d.tokens, d.chunk_count, d.chunking, d.header, d.first_chunk, d.bytes, h.text, h.crc"""
_DOCUMENTS = f"SELECT {_COLUMNS} FROM documents d JOIN texts h ON h.row_id = d.header"
# In the order of DocumentLocation.
_LOCATIONS = "SELECT d.row_id, d.version, d.chunk_count, d.header, d.first_chunk, d.bytes FROM documents d"
_OF_OWNER = "d.namespace = ? AND d.user_id = ? AND d.session_id = ?"
_OF_USER = f"""{_LOCATIONS}
    WHERE d.namespace = :namespace AND d.session_id = '' AND d.user_id = :user_id AND d.user_id <> ''
  UNION {_LOCATIONS} JOIN sessions s ON s.namespace = d.namespace AND s.session_id = d.session_id
    WHERE d.namespace = :namespace AND s.user_id = :user_id AND s.user_id <> '' ORDER BY row_id"""
_CHUNKS = "SELECT text, crc, tokens FROM texts WHERE row_id >= ? AND row_id < ? ORDER BY row_id"
# The version of a document is the lsn of an entry that has its row id: no index on it is needed.
_CHUNKS_BY_VERSION = f"""SELECT w.chunk, t.text, t.crc, t.tokens, {_COLUMNS}
  FROM (SELECT json_extract(value, '$[0]') AS version, json_extract(value, '$[1]') AS chunk FROM json_each(?)) w
  CROSS JOIN log l ON l.lsn = w.version CROSS JOIN documents d ON d.row_id = -l.session AND d.version = w.version
  CROSS JOIN texts h ON h.row_id = d.header CROSS JOIN texts t ON t.row_id = d.first_chunk + w.chunk
  WHERE w.chunk >= 0 AND w.chunk < d.chunk_count AND d.namespace = ?"""

_INSERT = f"INSERT INTO documents VALUES ({', '.join('?' * 15)})"
_REPLACE = """UPDATE documents SET version = ?, create_time_us = ?, sha256 = ?, tokens = ?, chunk_count = ?,
  chunking = ?, header = ?, first_chunk = ?, bytes = ?, layout = ? WHERE row_id = ?"""
_REPLACE_HEADER = "UPDATE documents SET header = ?, bytes = bytes + ? WHERE row_id = ?"


class DocumentLocation(NamedTuple):
    """The rows of a document and its texts: enough to delete it, also if the texts are damaged."""

    row_id: int
    version: int
    chunk_count: int
    header: int
    first_chunk: int
    bytes: int

    @property
    def texts(self) -> Sequence[OrphanedTexts]:
        """All texts of the document. The header is right before the chunks unless it was replaced."""
        last = self.first_chunk + self.chunk_count - 1
        if self.header == self.first_chunk - 1:
            return [OrphanedTexts(self.header, last)]
        header = OrphanedTexts(self.header, self.header)
        return [header, OrphanedTexts(self.first_chunk, last)] if self.chunk_count else [header]


class DocumentRow(NamedTuple):
    document: StoredDocument
    location: DocumentLocation

    def has_text_of(self, draft: DocumentDraft) -> bool:
        return (self.document.sha256, self.document.chunking) == (draft.sha256, draft.chunking)


def find_document(connection: sqlite3.Connection, owner: Owner, document_id: str, path: Path) -> DocumentRow | None:
    row = connection.execute(f"{_DOCUMENTS} WHERE {_OF_OWNER} AND d.id = ?", (*owner, document_id)).fetchone()
    return _document_row(row, path) if row else None


def find_location(connection: sqlite3.Connection, owner: Owner, document_id: str) -> DocumentLocation | None:
    row = connection.execute(f"{_LOCATIONS} WHERE {_OF_OWNER} AND d.id = ?", (*owner, document_id)).fetchone()
    return DocumentLocation._make(row) if row else None


def find_documents_of_session(connection: sqlite3.Connection, key: SessionKey) -> Sequence[DocumentLocation]:
    """Return the documents that a session owns, in the order of their ids."""
    query = f"{_LOCATIONS} WHERE d.namespace = ? AND d.session_id = ? AND d.session_id <> '' ORDER BY d.user_id, d.id"
    return [DocumentLocation._make(row) for row in connection.execute(query, key).fetchall()]


def find_documents_of_user(connection: sqlite3.Connection, namespace: str, user_id: str) -> Sequence[DocumentLocation]:
    """Return the documents of a user and of the user's sessions, in the order of their rows."""
    parameters = {"namespace": namespace, "user_id": user_id}
    return [DocumentLocation._make(row) for row in connection.execute(_OF_USER, parameters).fetchall()]


def list_documents(connection: sqlite3.Connection, query: DocumentQuery, path: Path) -> Sequence[StoredDocument]:
    sql = f"{_DOCUMENTS} WHERE {_OF_OWNER} AND d.id > ? ORDER BY d.id LIMIT ?"
    found = connection.execute(sql, (*query.owner, query.after_id, query.limit)).fetchall()
    return [_document_row(row, path).document for row in found]


def list_documents_between(
    connection: sqlite3.Connection,
    owner: Owner,
    places: tuple[tuple[int, str], tuple[int, str]],
    limit: int,
    path: Path,
) -> Sequence[StoredDocument]:
    """Return an owner's documents between two places (create time, id), oldest first."""
    sql = f"""{_DOCUMENTS} WHERE {_OF_OWNER} AND (d.create_time_us, d.id) > (?, ?) AND (d.create_time_us, d.id) < (?, ?)
      ORDER BY d.create_time_us, d.id LIMIT ?"""
    found = connection.execute(sql, (*owner, *places[0], *places[1], limit)).fetchall()
    return [_document_row(row, path).document for row in found]


def read_version(connection: sqlite3.Connection, row_id: int, version: int, path: Path) -> StoredDocument | None:
    """Return the document with all its chunks, if this is its current version."""
    query = f"{_DOCUMENTS} WHERE d.row_id = ? AND d.version = ?"
    row = connection.execute(query, (row_id, version)).fetchone()
    if row is None:
        return None
    document, location = _document_row(row, path)
    return replace(document, chunks=tuple(_read_chunks(connection, location, path)))


def _read_chunks(connection: sqlite3.Connection, location: DocumentLocation, path: Path) -> Iterator[Chunk]:
    chunk_range = (location.first_chunk, location.first_chunk + location.chunk_count)
    found = connection.execute(_CHUNKS, chunk_range).fetchall()
    if len(found) != location.chunk_count:
        raise _damaged(path)
    for text, crc, tokens in found:
        yield Chunk(_verified(text, crc, path).decode(), tokens)


def find_chunks(
    connection: sqlite3.Connection, namespace: str, places: Sequence[tuple[int, int]], path: Path
) -> ChunksByPlace:
    found = {}
    for index, text, crc, tokens, *row in connection.execute(
        _CHUNKS_BY_VERSION, (json.dumps(list(places)), namespace)
    ).fetchall():
        document = _document_row(row, path).document
        found[document.version, index] = (document, Chunk(_verified(text, crc, path).decode(), tokens))
    return found


def _document_row(row: Sequence[Any], path: Path) -> DocumentRow:
    *columns, header, first_chunk, size, header_text, header_crc = row
    document = document_of(columns, _verified(header_text, header_crc, path))
    location = DocumentLocation(document.row_id, document.version, document.chunk_count, header, first_chunk, size)
    return DocumentRow(document, location)


def _verified(text: bytes | None, crc: int | None, path: Path) -> bytes:
    if text is None or zlib.crc32(text) != crc:
        raise _damaged(path)
    return text


def _damaged(path: Path) -> DataCorrupted:
    return DataCorrupted(f"{path.name} is damaged: a document does not match its checksum", file=str(path))


def put_document(transaction: Transaction, command: PutDocument) -> DocumentPut | PendingPurge:
    draft = command.document
    stored = find_document(transaction.connection, draft.owner, draft.id, transaction.path)
    if stored is None:
        return DocumentPut(_insert(transaction, draft), unchanged=False)
    if stored.has_text_of(draft):
        return _replace_header(transaction, stored, draft)
    return _replace_text(transaction, stored, draft)


def _insert(transaction: Transaction, draft: DocumentDraft) -> StoredDocument:
    row_id, size = transaction.next_document, document_bytes(draft)
    transaction.reserve_quota(draft.owner.namespace, Usage(bytes=size))
    version, texts = _write_text(transaction, row_id, draft)
    transaction.next_document += 1
    transaction.add_statement(
        _INSERT, row_id, *draft.owner, draft.id, version, *_columns(draft), *texts, size, draft.layout
    )
    return draft.stored(row_id, version)


def _replace_header(transaction: Transaction, stored: DocumentRow, draft: DocumentDraft) -> DocumentPut | PendingPurge:
    """Store a new title, source or metadata. The text is the same, so no log entry is needed."""
    document = replace(stored.document, title=draft.title, source=draft.source, metadata=draft.metadata)
    if document == stored.document:
        return DocumentPut(document, unchanged=True)
    growth = len(document_header(document)) - len(document_header(stored.document))
    transaction.reserve_quota(draft.owner.namespace, Usage(bytes=growth))
    header = transaction.add_texts([(document_header(document), 0)])
    transaction.add_statement(_REPLACE_HEADER, header, growth, document.row_id)
    orphans = orphan_texts(transaction, [OrphanedTexts(stored.location.header, stored.location.header)])
    return PendingPurge(orphans, DocumentPut(document, unchanged=False))


def _replace_text(transaction: Transaction, stored: DocumentRow, draft: DocumentDraft) -> PendingPurge:
    row_id, size = stored.document.row_id, document_bytes(draft)
    transaction.reserve_quota(draft.owner.namespace, Usage(bytes=size - stored.location.bytes))
    version, texts = _write_text(transaction, row_id, draft)
    transaction.add_statement(_REPLACE, version, *_columns(draft), *texts, size, draft.layout, row_id)
    orphans = orphan_texts(transaction, stored.location.texts)
    return PendingPurge(orphans, DocumentPut(draft.stored(row_id, version), unchanged=False))


def _write_text(transaction: Transaction, row_id: int, draft: DocumentDraft) -> tuple[int, tuple[int, int]]:
    """Add the log entry and the texts; return the version, and the row ids of the header and the first chunk."""
    chunks = [(chunk.text.encode(), chunk.tokens) for chunk in draft.chunks]
    version = transaction.write_entry(-row_id, Entry(LogKind.DOCUMENT, id=draft.owner.namespace))
    header = transaction.add_texts([(document_header(draft), 0), *chunks])
    transaction.events.append(CommitEvent(SessionKey(draft.owner.namespace, ""), None))
    return version, (header, header + 1)


def _columns(draft: DocumentDraft) -> tuple[object, ...]:
    return draft.create_time_us, draft.sha256, draft.tokens, len(draft.chunks), draft.chunking


def delete_document(transaction: Transaction, command: DeleteDocument) -> PendingPurge:
    location = find_location(transaction.connection, command.owner, command.document_id)
    if location is None or command.version not in (None, location.version):
        raise NotFound(f"there is no document {command.document_id!r}")
    orphans = _delete(transaction, command.owner.namespace, location)
    return PendingPurge(orphans, DocumentDeleted(location.chunk_count), CLEAN_LATER_SECONDS)


def delete_documents(
    transaction: Transaction, namespace: str, locations: Sequence[DocumentLocation]
) -> list[OrphanedTexts]:
    """Delete the documents of a session, each with a log entry of its own."""
    return [orphan for location in locations for orphan in _delete(transaction, namespace, location)]


def _delete(transaction: Transaction, namespace: str, location: DocumentLocation) -> Sequence[OrphanedTexts]:
    transaction.write_entry(-location.row_id, Entry(LogKind.DOCUMENT_DELETE, id=namespace))
    transaction.add_statement("DELETE FROM documents WHERE row_id = ?", location.row_id)
    transaction.reserve_quota(namespace, Usage(bytes=-location.bytes))
    transaction.events.append(CommitEvent(SessionKey(namespace, ""), None))
    return orphan_texts(transaction, location.texts)
