"""Rows of documents and chunks, and the queries that find them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from psycopg import Connection

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Chunk, ChunksByPlace, DocumentQuery, Owner, StoredDocument
from memsidecar.stores.expiry import Place
from memsidecar.stores.message_encoding import document_of
from memsidecar.stores.postgres.namespaces import NUMBER

# In the order of `_document`.
_COLUMNS = """d.row_id, d.version, n.name, d.user_id, d.session_id, d.id, d.create_time_us, d.sha256, d.tokens,
  d.chunk_count, d.chunking, d.header, d.layout"""
_DOCUMENTS = f"SELECT {_COLUMNS} FROM documents d JOIN namespaces n ON n.number = d.namespace"
_OF_OWNER = "n.name = %s AND d.user_id = %s AND d.session_id = %s"
_DOCUMENT = f"{_DOCUMENTS} WHERE {_OF_OWNER} AND d.id = %s"
_BETWEEN = f"""{_DOCUMENTS} WHERE {_OF_OWNER} AND (d.create_time_us, d.id) > (%s, %s)
  AND (d.create_time_us, d.id) < (%s, %s) ORDER BY d.create_time_us, d.id LIMIT %s"""
# In the order of DocumentReference.
_REFERENCES = "SELECT d.row_id, d.version, d.chunk_count, d.bytes FROM documents d"
_REFERENCE = f"{_REFERENCES} WHERE d.namespace = {NUMBER} AND d.user_id = %s AND d.session_id = %s AND d.id = %s"
_OF_SESSION = f"""{_REFERENCES} WHERE d.namespace = {NUMBER} AND d.session_id = %s AND d.session_id <> ''
  ORDER BY d.user_id, d.id"""
_OF_USER = f"""{_REFERENCES} WHERE d.namespace = {NUMBER} AND d.session_id = '' AND d.user_id = %s
  UNION {_REFERENCES} JOIN sessions s ON s.namespace = d.namespace AND s.session_id = d.session_id
    WHERE s.namespace = {NUMBER} AND s.user_id = %s ORDER BY row_id"""
_CHUNKS = "SELECT text, tokens FROM chunks WHERE document = %s ORDER BY place"
_CHUNKS_BY_VERSION = f"""SELECT c.place, c.text, c.tokens, {_COLUMNS}
  FROM unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS wanted(version, place, rank)
  JOIN namespaces n ON n.name = %s JOIN documents d ON d.namespace = n.number AND d.version = wanted.version
  JOIN chunks c ON c.document = d.row_id AND c.place = wanted.place ORDER BY wanted.rank"""


class DocumentReference(NamedTuple):
    """The row of a document, without its content."""

    row_id: int
    version: int
    chunk_count: int
    bytes: int


def find_document(connection: Connection, owner: Owner, document_id: str) -> StoredDocument | None:
    """Return the document without its chunks and layout."""
    row = connection.execute(_DOCUMENT, (*owner, document_id)).fetchone()
    return _document(row) if row else None


def find_reference(connection: Connection, owner: Owner, document_id: str) -> DocumentReference | None:
    row = connection.execute(_REFERENCE, (*owner, document_id)).fetchone()
    return DocumentReference._make(row) if row else None


def find_documents_of_session(connection: Connection, key: SessionKey) -> Sequence[DocumentReference]:
    """Return the documents that a session owns, in the order of their ids."""
    return [DocumentReference._make(row) for row in connection.execute(_OF_SESSION, key).fetchall()]


def find_documents_of_user(connection: Connection, namespace: str, user_id: str) -> Sequence[DocumentReference]:
    """Return the documents of a user and of the user's sessions, in the order of their rows."""
    if not user_id:
        return []
    found = connection.execute(_OF_USER, (namespace, user_id, namespace, user_id)).fetchall()
    return [DocumentReference._make(row) for row in found]


def list_documents(connection: Connection, query: DocumentQuery) -> Sequence[StoredDocument]:
    sql = f"{_DOCUMENTS} WHERE {_OF_OWNER} AND d.id > %s ORDER BY d.id LIMIT %s"
    found = connection.execute(sql, (*query.owner, query.after_id, query.limit)).fetchall()
    return [_document(row) for row in found]


def list_documents_between(
    connection: Connection, owner: Owner, places: tuple[Place, Place], limit: int
) -> Sequence[StoredDocument]:
    """Return an owner's documents between two places (create time, id), oldest first."""
    found = connection.execute(_BETWEEN, (*owner, *places[0], *places[1], limit)).fetchall()
    return [_document(row) for row in found]


def read_version(connection: Connection, row_id: int, version: int) -> StoredDocument | None:
    """Return the document with its chunks and layout, if this is its current version. Needs a snapshot."""
    row = connection.execute(f"{_DOCUMENTS} WHERE d.row_id = %s AND d.version = %s", (row_id, version)).fetchone()
    if row is None:
        return None
    chunks = [Chunk(text.decode(), tokens) for text, tokens in connection.execute(_CHUNKS, (row_id,)).fetchall()]
    return replace(_document(row), chunks=tuple(chunks), layout=row[-1])


def find_chunks(connection: Connection, namespace: str, places: Sequence[tuple[int, int]]) -> ChunksByPlace:
    versions, indexes = [version for version, _ in places], [index for _, index in places]
    found = {}
    for place, text, tokens, *row in connection.execute(_CHUNKS_BY_VERSION, (versions, indexes, namespace)).fetchall():
        document = _document(row)
        found[document.version, place] = (document, Chunk(text.decode(), tokens))
    return found


def _document(row: Sequence[Any]) -> StoredDocument:
    *columns, header, _ = row
    return document_of(columns, header)
