"""The stored encodings of messages and documents, and the sizes that quotas count."""

import json

from memsidecar.domain.message import varint
from memsidecar.stores.contract import DocumentDraft, StoredDocument

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


def decode_document_header(header: bytes) -> tuple[str, str, bytes]:
    """Return title, source and metadata."""
    title_and_source, _, metadata = header.partition(b"\0")
    title, source = json.loads(title_and_source)
    return title, source, metadata
