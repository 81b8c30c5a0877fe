"""From a document as it was sent to a draft that can be stored: checked, cut into chunks, counted."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.ids import check_id
from memsidecar.layers.documents.chunking import Chunking
from memsidecar.layers.working.drafting import check_time
from memsidecar.layers.working.metadata import check_metadata
from memsidecar.stores.contract import Chunk, DocumentDraft, Owner, StoredDocument
from memsidecar.v1.knowledge_pb2 import Document

MAX_COVER_BYTES = 1_024
"""Of a title, and of a source."""
MAX_CHUNKS = 50_000
"""All chunks of a document are one transaction, and everybody else's commit waits for it."""


@dataclass(frozen=True)
class Drafting:
    """Makes drafts. May take a second for a megabyte: never on the event loop."""

    chunking: Chunking
    max_document_bytes: int

    def check(self, document: Document) -> None:
        """All that can be said without looking into the text; raises InvalidField or TooLarge."""
        check_id("document.id", document.id)
        _check_cover("document.title", document.title)
        _check_cover("document.source", document.source)
        if document.HasField("metadata"):
            check_metadata("document.metadata", document.metadata)
        if document.HasField("create_time"):
            check_time("document.create_time", document.create_time)
        self._check_text(document.text)

    def _check_text(self, text: str) -> None:
        if not text:
            raise InvalidField("document.text", "is required")
        size = len(text.encode())
        if size > self.max_document_bytes:
            raise TooLarge(f"document.text has {size} bytes; a document may have {self.max_document_bytes}")
        if text.isspace():
            raise InvalidField("document.text", "has nothing but white space")

    def is_same(self, stored: StoredDocument, document: Document) -> bool:
        """Whether putting it would change nothing at all; far quicker than to chunk it and see."""
        return (
            (stored.sha256, stored.chunking) == (_digest(document), self.chunking.name)
            and (stored.title, stored.source) == (document.title, document.source)
            and stored.metadata == document.metadata.SerializeToString(deterministic=True)
        )

    def __call__(self, owner: Owner, document: Document) -> DocumentDraft:
        """The draft of a document that was checked."""
        document.DiscardUnknownFields()
        return DocumentDraft(
            owner=owner,
            id=document.id,
            title=document.title,
            source=document.source,
            # Deterministic, so that the same tags are known as the same.
            metadata=document.metadata.SerializeToString(deterministic=True),
            create_time_us=_time_us(document),
            sha256=_digest(document),
            tokens=self.chunking.counter.count(document.text),
            chunking=self.chunking.name,
            chunks=self._chunks(document.text),
        )

    def _chunks(self, text: str) -> Sequence[Chunk]:
        chunks = [Chunk(one.text, one.tokens) for one in islice(self.chunking(text), MAX_CHUNKS + 1)]
        if len(chunks) > MAX_CHUNKS:
            raise TooLarge(f"document.text makes more than {MAX_CHUNKS} chunks")
        return chunks


def _digest(document: Document) -> str:
    return sha256(document.text.encode()).hexdigest()


def _check_cover(field: str, text: str) -> None:
    if len(text.encode()) > MAX_COVER_BYTES:
        raise InvalidField(field, f"is longer than {MAX_COVER_BYTES} bytes")


def _time_us(document: Document) -> int:
    if document.HasField("create_time"):
        return check_time("document.create_time", document.create_time)
    return time.time_ns() // 1000
