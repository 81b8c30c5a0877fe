"""Stored body = draft + sequence field; sizes for quotas."""

import json

from memsidecar.domain.message import varint
from memsidecar.stores.contract import DocumentDraft, StoredDocument

_SEQUENCE_TAG = b"\x50"  # field 10 of Message, a varint


def message_bytes(body: bytes, vector: bytes | None) -> int:
    return len(body) + len(vector or b"")


def document_bytes(document: DocumentDraft | StoredDocument) -> int:
    return len(document_header(document)) + sum([len(chunk.text.encode()) for chunk in document.chunks])


def document_header(document: DocumentDraft | StoredDocument) -> bytes:
    """Title, source and metadata; JSON has no zero bytes."""
    return json.dumps([document.title, document.source]).encode() + b"\0" + document.metadata


def with_sequence(body: bytes, sequence: int) -> bytes:
    return body + _SEQUENCE_TAG + varint(sequence)
