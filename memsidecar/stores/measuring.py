"""How many bytes of its namespace's quota a thing takes: what was put, as it is kept."""

import json

from memsidecar.stores.contract import DocumentDraft, StoredDocument


def message_bytes(body: bytes, vector: bytes | None) -> int:
    return len(body) + len(vector or b"")


def document_bytes(document: DocumentDraft | StoredDocument) -> int:
    return len(cover_of(document)) + sum([len(chunk.text.encode()) for chunk in document.chunks])


def cover_of(document: DocumentDraft | StoredDocument) -> bytes:
    """Title, source and metadata; JSON has no zero bytes."""
    return json.dumps([document.title, document.source]).encode() + b"\0" + document.metadata
