"""The stored encodings of messages and documents, and the sizes that quotas count."""

import json
from collections.abc import Sequence
from typing import Any

from memsidecar.domain.message import varint
from memsidecar.stores.contract import DocumentDraft, Owner, StoredDocument

_SEQUENCE_TAG = b"\x50"  # field 10 of Message, a varint


def with_sequence(body: bytes, sequence: int) -> bytes:
    """Append the sequence field to a draft's encoding: the stored body of a message."""
    return body + _SEQUENCE_TAG + varint(sequence)


def message_bytes(body: bytes, vector: bytes | None) -> int:
    return len(body) + len(vector or b"")


def document_bytes(document: DocumentDraft | StoredDocument) -> int:
    return len(document_header(document)) + sum([len(chunk.text.encode()) for chunk in document.chunks])


def document_header(document: DocumentDraft | StoredDocument) -> bytes:
    """Encode title, source and metadata. JSON has no zero bytes, so a zero byte separates the metadata."""
    return json.dumps([document.title, document.source]).encode() + b"\0" + document.metadata


def document_of(columns: Sequence[Any], header: bytes) -> StoredDocument:
    """Return the document without its chunks, of the columns from its row id to its chunking and its header."""
    row_id, version, namespace, user_id, session_id, document_id, *rest = columns
    create_time_us, sha256, tokens, chunk_count, chunking = rest
    title_and_source, _, metadata = header.partition(b"\0")
    title, source = json.loads(title_and_source)
    return StoredDocument(
        row_id=row_id,
        version=version,
        owner=Owner(namespace, user_id, session_id),
        id=document_id,
        title=title,
        source=source,
        metadata=metadata,
        create_time_us=create_time_us,
        sha256=sha256,
        tokens=tokens,
        chunk_count=chunk_count,
        chunking=chunking,
    )
