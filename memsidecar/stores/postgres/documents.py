"""The handlers of PutDocument and DeleteDocument, and the deletion of documents by erasures."""

from collections.abc import Sequence
from dataclasses import replace

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    CommitEvent,
    DeleteDocument,
    DocumentDeleted,
    DocumentDraft,
    DocumentPut,
    PutDocument,
    StoredDocument,
)
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.message_encoding import document_bytes, document_header
from memsidecar.stores.postgres.deletion_queue import Deletion, ErasedRows, PendingDeletion, add_erased
from memsidecar.stores.postgres.document_rows import DocumentReference, find_document, find_reference
from memsidecar.stores.postgres.transaction import NEW_LSN, NewLsn, PostgresTransaction

_INSERT = f"""INSERT INTO documents(version, create_time_us, sha256, tokens, chunk_count, chunking, header, layout,
    bytes, row_id, namespace, user_id, session_id, id)
  VALUES ({NEW_LSN}, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
_REPLACE = f"""UPDATE documents SET version = {NEW_LSN}, create_time_us = %s, sha256 = %s, tokens = %s,
  chunk_count = %s, chunking = %s, header = %s, layout = %s, bytes = %s WHERE row_id = %s"""
_REPLACE_HEADER = "UPDATE documents SET header = %s, bytes = bytes + %s WHERE row_id = %s"
_INSERT_CHUNKS = """INSERT INTO chunks(document, place, text, tokens)
  SELECT %s, c.place - 1, c.text, c.tokens
  FROM unnest(%b::bytea[], %b::bigint[]) WITH ORDINALITY AS c(text, tokens, place)"""
_DELETE_CHUNKS = "DELETE FROM chunks WHERE document = %s"
_DELETE = "DELETE FROM documents WHERE row_id = ANY(%s)"


def put_document(transaction: PostgresTransaction, command: PutDocument) -> DocumentPut:
    draft = command.document
    stored = find_document(transaction.connection, draft.owner, draft.id)
    if stored is None:
        return DocumentPut(_insert(transaction, draft), unchanged=False)
    if (stored.sha256, stored.chunking) == (draft.sha256, draft.chunking):
        return _replace_header(transaction, stored, draft)
    return DocumentPut(_replace_text(transaction, stored, draft), unchanged=False)


def _insert(transaction: PostgresTransaction, draft: DocumentDraft) -> StoredDocument:
    transaction.reserve_quota(draft.owner.namespace, Usage(bytes=document_bytes(draft)))
    row_id = transaction.next_row_id("document_row_ids")
    place = (row_id, transaction.number(draft.owner.namespace), *draft.owner[1:], draft.id)
    version = _log(transaction, draft.owner.namespace, LogKind.DOCUMENT, row_id)
    transaction.add_statement(_INSERT, *_columns(draft, version), *place)
    _add_chunks(transaction, draft, row_id)
    return draft.stored(row_id, version)


def _replace_header(transaction: PostgresTransaction, stored: StoredDocument, draft: DocumentDraft) -> DocumentPut:
    """Store a new title, source or metadata. The text is the same, so no log entry is needed."""
    document = replace(stored, title=draft.title, source=draft.source, metadata=draft.metadata)
    if document == stored:
        return DocumentPut(document, unchanged=True)
    growth = len(document_header(document)) - len(document_header(stored))
    transaction.reserve_quota(draft.owner.namespace, Usage(bytes=growth))
    transaction.add_statement(_REPLACE_HEADER, document_header(document), growth, document.row_id)
    return DocumentPut(document, unchanged=False)


def _replace_text(transaction: PostgresTransaction, stored: StoredDocument, draft: DocumentDraft) -> StoredDocument:
    before = find_reference(transaction.connection, draft.owner, draft.id)
    size_before = before.bytes if before else 0
    transaction.reserve_quota(draft.owner.namespace, Usage(bytes=document_bytes(draft) - size_before))
    version = _log(transaction, draft.owner.namespace, LogKind.DOCUMENT, stored.row_id)
    transaction.add_statement(_REPLACE, *_columns(draft, version), stored.row_id)
    transaction.add_statement(_DELETE_CHUNKS, stored.row_id)
    _add_chunks(transaction, draft, stored.row_id)
    return draft.stored(stored.row_id, version)


def _columns(draft: DocumentDraft, version: int) -> tuple[object, ...]:
    """Return the columns that a new text changes, from the version to the bytes."""
    return (
        NewLsn(draft.owner.namespace, version),
        draft.create_time_us,
        draft.sha256,
        draft.tokens,
        len(draft.chunks),
        draft.chunking,
        document_header(draft),
        draft.layout,
        document_bytes(draft),
    )


def _add_chunks(transaction: PostgresTransaction, draft: DocumentDraft, row_id: int) -> None:
    texts, tokens = [chunk.text.encode() for chunk in draft.chunks], [chunk.tokens for chunk in draft.chunks]
    transaction.add_statement(_INSERT_CHUNKS, row_id, texts, tokens)


def _log(transaction: PostgresTransaction, namespace: str, kind: LogKind, row_id: int) -> int:
    transaction.events.append(CommitEvent(SessionKey(namespace, ""), None))
    return transaction.write_entry(namespace, kind, -row_id)


def delete_document(transaction: PostgresTransaction, command: DeleteDocument) -> PendingDeletion:
    document = find_reference(transaction.connection, command.owner, command.document_id)
    if document is None or command.version not in (None, document.version):
        raise NotFound(f"there is no document {command.document_id!r}")
    erased = delete_documents(transaction, command.owner.namespace, [document])
    return PendingDeletion(erased, DocumentDeleted(document.chunk_count))


def delete_documents(
    transaction: PostgresTransaction, namespace: str, documents: Sequence[DocumentReference]
) -> Sequence[Deletion]:
    """Delete documents, each with a log entry of its own; return those whose chunks are to be deleted."""
    if not documents:
        return ()
    row_ids = [document.row_id for document in documents]
    for row_id in row_ids:
        _log(transaction, namespace, LogKind.DOCUMENT_DELETE, row_id)
    transaction.add_statement(_DELETE, row_ids)
    transaction.add_statement(*add_erased(row_ids, ErasedRows.CHUNKS))
    transaction.reserve_quota(namespace, Usage(bytes=-sum(document.bytes for document in documents)))
    return [Deletion(ErasedRows.CHUNKS, row_id) for row_id in row_ids]
