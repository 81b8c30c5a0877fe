"""Put, list, delete, visibility; FindChunks protocol."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Protocol, TypeVar

from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.domain.ids import check_id
from memsidecar.domain.session import SessionKey
from memsidecar.layers.documents.chunker import Chunker
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES, check_metadata, check_time
from memsidecar.layers.ownership import check_owner, claim
from memsidecar.layers.record_cache import RecordCache
from memsidecar.stores.contract import (
    Chunk,
    CommitEvent,
    DeleteDocument,
    DocumentDraft,
    DocumentQuery,
    Journal,
    Owner,
    PendingCommand,
    PutDocument,
    StoredDocument,
)
from memsidecar.v1.knowledge_pb2 import Document

MAX_COVER_BYTES = 1_024
"""Of a title, and of a source."""
MAX_CHUNKS = 50_000
"""All chunks of a document are one transaction, and everybody else's commit waits for it."""

OWNERS_KEPT = 10_000
_FIGURES_BYTES = 256
"""What an answer says of a document or a chunk besides its texts, at most."""

T = TypeVar("T")


@dataclass(frozen=True)
class DocumentValidator:
    """Makes drafts. May take a second for a megabyte: never on the event loop."""

    chunking: Chunker
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


class Documents:
    """`begin_` hands a command to the journal and returns at once; `settled` is called when it is durable."""

    def __init__(self, journal: Journal, draft: DocumentValidator) -> None:
        self.journal = journal
        self.draft = draft
        self._any: RecordCache[bool] = RecordCache(OWNERS_KEPT)
        journal.subscribe(self._committed)

    def _committed(self, changes: Sequence[CommitEvent]) -> None:
        """A changed document is told as a change of no session."""
        changed = {change.key.namespace for change in changes if not change.key.session_id}
        if changed:
            self._any.invalidate_where(lambda owner: owner.namespace in changed)

    def having_documents(self, owners: Sequence[Owner]) -> list[Owner]:
        """Most users have no documents, and what is not there need not be searched."""
        return [owner for owner in owners if self._has_any(owner)]

    def _has_any(self, owner: Owner) -> bool:
        return self._any.get(owner, lambda: bool(self.journal.documents(DocumentQuery(owner, 1))))

    def owner(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """Whose documents are meant. Raises NotYourSession where the session belongs to another user."""
        if not session_id:
            return Owner(namespace, user_id)
        check_owner(self.journal.head(SessionKey(namespace, session_id)), user_id)
        return Owner(namespace, session_id=session_id)

    def claim(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """The same for whoever puts one: the first user that is named makes the session theirs."""
        claim(self.journal, SessionKey(namespace, session_id), user_id)
        return self.owner(namespace, user_id, session_id)

    def visible_owners(self, namespace: str, user_id: str, session_id: str) -> Sequence[Owner]:
        """Whose documents may be found: everybody's, the user's and the session's.

        A session's user counts as named where only the session is.
        """
        owners = [Owner(namespace)]
        if session_id:
            head = self.journal.head(SessionKey(namespace, session_id))
            check_owner(head, user_id)
            user_id = user_id or (head.user_id if head else "")
            owners.append(Owner(namespace, session_id=session_id))
        return [*owners, Owner(namespace, user_id)] if user_id else owners

    def known(self, owner: Owner, document: Document) -> StoredDocument | None:
        """The document as it is kept, if putting it again would change nothing."""
        stored = self.journal.document(owner, document.id)
        return stored if stored is not None and self.draft.is_same(stored, document) else None

    def submit_put(
        self, draft: DocumentDraft, settled: Callable[[PendingCommand], None] | None = None
    ) -> PendingCommand:
        return self._begin(PendingCommand(PutDocument(draft), settled))

    def submit_delete(
        self, owner: Owner, document_id: str, settled: Callable[[PendingCommand], None] | None = None
    ) -> PendingCommand:
        """Settled when the last byte is gone, which may take a while."""
        return self._begin(PendingCommand(DeleteDocument(owner, document_id), settled))

    def _begin(self, ticket: PendingCommand) -> PendingCommand:
        self.journal.submit(ticket)
        return ticket

    def page(self, owner: Owner, after_id: str, size: int) -> tuple[Sequence[StoredDocument], bool]:
        """Documents in the order of their ids, as many as one answer holds, and whether there are more."""
        found = self.journal.documents(DocumentQuery(owner, size + 1, after_id))
        kept = fit_response(found[:size], _cover)
        return kept, len(kept) < len(found)


def fit_response(items: Sequence[T], texts_of: Callable[[T], Iterable[bytes | str]]) -> Sequence[T]:
    """As many as one answer holds, and at least one: a single document or chunk is far smaller than an answer."""
    size = 0
    for at, item in enumerate(items):
        size += _FIGURES_BYTES + sum(len(text.encode() if isinstance(text, str) else text) for text in texts_of(item))
        if at and size > MAX_RESPONSE_BYTES:
            return items[:at]
    return items


def _cover(document: StoredDocument) -> Iterable[bytes | str]:
    return document.id, document.title, document.source, document.metadata


@dataclass(frozen=True, slots=True)
class ChunkHit:
    document: StoredDocument
    index: int
    chunk: Chunk
    score: float
    parts: ScoreBreakdown
    cosine: float = 0.0
    "As it is, not relative to the other chunks."


@dataclass(frozen=True, slots=True)
class FoundChunks:
    """Chunks, best first, and what was missing when they were looked for: the contract's degradations."""

    hits: Sequence[ChunkHit]
    degraded: frozenset[int] = frozenset()


class FindChunks(Protocol):
    def __call__(self, owners: Sequence[Owner], query: str, limit: int, min_score: float) -> FoundChunks:
        """At most `limit` chunks of these owners' documents, best first, none with a score under `min_score`.

        Scores are from 0 to 1. A document that was put is found as soon as the put is answered; one that was deleted is
        not found from then on. May read from the disk: never on the event loop.
        """
