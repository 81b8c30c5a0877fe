"""Documents: put, list, delete, visibility; the protocol of a chunk search."""

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
from memsidecar.layers.documents.chunker import Chunker, ChunkSpan
from memsidecar.layers.documents.layout import encode_layout
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

MAX_TITLE_BYTES = MAX_SOURCE_BYTES = 1_024
MAX_CHUNKS = 50_000
"""All chunks of a document are one transaction, and all other commits wait for it."""

MAX_CACHED_OWNERS = 10_000
_FIELDS_BYTES = 256
"""Upper bound on the size of an encoded document or chunk without its texts."""

T = TypeVar("T")


@dataclass(frozen=True)
class DocumentValidator:
    """Validates, counts and chunks documents. It may take a second for a megabyte: not for the event loop."""

    chunker: Chunker
    max_document_bytes: int

    def check(self, document: Document) -> None:
        """Check all that needs no chunks; raise InvalidField or TooLarge."""
        check_id("document.id", document.id)
        _check_length("document.title", document.title, MAX_TITLE_BYTES)
        _check_length("document.source", document.source, MAX_SOURCE_BYTES)
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
        """Whether a put would change nothing. Much faster than to chunk the document and compare."""
        return (
            (stored.sha256, stored.chunking) == (_digest(document), self.chunker.name)
            and (stored.title, stored.source) == (document.title, document.source)
            and stored.metadata == document.metadata.SerializeToString(deterministic=True)
        )

    def __call__(self, owner: Owner, document: Document) -> DocumentDraft:
        """Return the draft of a document. It must have passed `check`."""
        document.DiscardUnknownFields()
        spans = self._spans(document.text)
        return DocumentDraft(
            owner=owner,
            id=document.id,
            title=document.title,
            source=document.source,
            # Deterministic, so that equal metadata has equal bytes.
            metadata=document.metadata.SerializeToString(deterministic=True),
            create_time_us=_time_us(document),
            sha256=_digest(document),
            tokens=self.chunker.counter.count(document.text),
            chunking=self.chunker.name,
            chunks=[Chunk(span.text, span.tokens) for span in spans],
            layout=encode_layout(document.text, spans),
        )

    def _spans(self, text: str) -> Sequence[ChunkSpan]:
        spans = list(islice(self.chunker(text), MAX_CHUNKS + 1))
        if len(spans) > MAX_CHUNKS:
            raise TooLarge(f"document.text makes more than {MAX_CHUNKS} chunks")
        return spans


def _digest(document: Document) -> str:
    return sha256(document.text.encode()).hexdigest()


def _check_length(field: str, text: str, max_bytes: int) -> None:
    if len(text.encode()) > max_bytes:
        raise InvalidField(field, f"is longer than {max_bytes} bytes")


def _time_us(document: Document) -> int:
    if document.HasField("create_time"):
        return check_time("document.create_time", document.create_time)
    return time.time_ns() // 1000


class Documents:
    """Documents of all owners. `submit_` methods return at once; `on_done` is called when the command is durable."""

    def __init__(self, journal: Journal, validator: DocumentValidator) -> None:
        self.journal = journal
        self.validator = validator
        self._has_documents: RecordCache[bool] = RecordCache(journal, MAX_CACHED_OWNERS)
        journal.subscribe(self._invalidate, only_invalidations=True)

    def _invalidate(self, changes: Sequence[CommitEvent]) -> None:
        """Invalidate the namespaces of changed documents: such a commit event has no session id."""
        changed = {change.key.namespace for change in changes if not change.key.session_id}
        if changed:
            self._has_documents.invalidate_where(lambda owner: owner.namespace in changed)

    def having_documents(self, owners: Sequence[Owner]) -> list[Owner]:
        """Return the owners with at least one document. Most have none, and need no search."""
        return [owner for owner in owners if self._has_any(owner)]

    def _has_any(self, owner: Owner) -> bool:
        return self._has_documents.get(owner, lambda: bool(self.journal.documents(DocumentQuery(owner, 1))))

    def owner(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """Return the owner that the ids name. Raises SessionOwnerMismatch if the session belongs to another user."""
        if not session_id:
            return Owner(namespace, user_id)
        check_owner(self.journal.head(SessionKey(namespace, session_id)), user_id)
        return Owner(namespace, session_id=session_id)

    def claim(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """Return the owner for a put; a session without a user is assigned to the given one."""
        claim(self.journal, SessionKey(namespace, session_id), user_id)
        return self.owner(namespace, user_id, session_id)

    def visible_owners(self, namespace: str, user_id: str, session_id: str) -> Sequence[Owner]:
        """Return the owners whose documents a search may find: the namespace, the user and the session.

        If only a session is given, its user counts as given.
        """
        owners = [Owner(namespace)]
        if session_id:
            head = self.journal.head(SessionKey(namespace, session_id))
            check_owner(head, user_id)
            user_id = user_id or (head.user_id if head else "")
            owners.append(Owner(namespace, session_id=session_id))
        return [*owners, Owner(namespace, user_id)] if user_id else owners

    def known(self, owner: Owner, document: Document) -> StoredDocument | None:
        """Return the stored document if a put would change nothing."""
        stored = self.journal.document(owner, document.id)
        return stored if stored is not None and self.validator.is_same(stored, document) else None

    def submit_put(
        self, draft: DocumentDraft, on_done: Callable[[PendingCommand], None] | None = None
    ) -> PendingCommand:
        return self._submit(PendingCommand(PutDocument(draft), on_done))

    def submit_delete(
        self, owner: Owner, document_id: str, on_done: Callable[[PendingCommand], None] | None = None
    ) -> PendingCommand:
        """Delete a document. The command is done when the last byte is overwritten, which may take a while."""
        return self._submit(PendingCommand(DeleteDocument(owner, document_id), on_done))

    def _submit(self, pending: PendingCommand) -> PendingCommand:
        self.journal.submit(pending)
        return pending

    def page(self, owner: Owner, after_id: str, size: int) -> tuple[Sequence[StoredDocument], bool]:
        """Return documents in the order of their ids, as many as fit into a response, and whether there are more."""
        found = self.journal.documents(DocumentQuery(owner, size + 1, after_id))
        page = fit_response(found[:size], _texts)
        return page, len(page) < len(found)


def fit_response(items: Sequence[T], texts_of: Callable[[T], Iterable[bytes | str]]) -> Sequence[T]:
    """Return as many items as fit into a response, at least one: a single document or chunk is far smaller."""
    size = 0
    for at, item in enumerate(items):
        size += _FIELDS_BYTES + sum(len(text.encode() if isinstance(text, str) else text) for text in texts_of(item))
        if at and size > MAX_RESPONSE_BYTES:
            return items[:at]
    return items


def _texts(document: StoredDocument) -> Iterable[bytes | str]:
    return document.id, document.title, document.source, document.metadata


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """Found chunk. `score` and `parts` are relative to the other hits, `relevance` is not."""

    document: StoredDocument
    index: int
    chunk: Chunk
    score: float
    parts: ScoreBreakdown
    relevance: float


@dataclass(frozen=True, slots=True)
class FoundChunks:
    """Chunks, best first, and the degradations of the search (numbers of the proto enum)."""

    hits: Sequence[ChunkHit]
    degraded: frozenset[int] = frozenset()


class FindChunks(Protocol):
    def __call__(self, owners: Sequence[Owner], query: str, limit: int, min_score: float) -> FoundChunks:
        """Return at most `limit` chunks of these owners' documents, best first, with a score from `min_score` to 1.

        A document is found from the moment its put is acknowledged until its delete is. May read from disk: not for the
        event loop.
        """
