"""Documents of the RAM journal."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    ChunksByPlace,
    DeleteDocument,
    DocumentDeleted,
    DocumentDraft,
    DocumentPut,
    DocumentQuery,
    Owner,
    PutDocument,
    StoredDocument,
)
from memsidecar.stores.message_encoding import document_bytes
from memsidecar.stores.volatile.events import EntryKind


class DocumentTable:
    """All documents. `write` adds a log entry and returns its lsn; `check_quota` raises QuotaExceeded."""

    def __init__(self, write: Callable[[EntryKind, str, int], int], check_quota: Callable[[str, Usage], None]) -> None:
        self._write = write
        self._check_quota = check_quota
        self._documents: dict[tuple[Owner, str], StoredDocument] = {}
        self.last_row_id = 0

    def put(self, command: PutDocument) -> DocumentPut:
        draft = command.document
        stored = self._documents.get((draft.owner, draft.id))
        growth = document_bytes(draft) - (document_bytes(stored) if stored else 0)
        self._check_quota(draft.owner.namespace, Usage(bytes=growth))
        same_text = stored is not None and (stored.sha256, stored.chunking) == (draft.sha256, draft.chunking)
        if stored is None or not same_text:
            return DocumentPut(_header(self._put_text(draft, stored)), unchanged=False)
        document = replace(stored, title=draft.title, source=draft.source, metadata=draft.metadata)
        self._documents[draft.owner, draft.id] = document
        return DocumentPut(_header(document), unchanged=document == stored)

    def _put_text(self, draft: DocumentDraft, stored: StoredDocument | None) -> StoredDocument:
        if stored is None:
            self.last_row_id += 1
        row_id = self.last_row_id if stored is None else stored.row_id
        version = self._write(EntryKind.DOCUMENT, draft.owner.namespace, -row_id)
        document = replace(draft.stored(row_id, version), chunks=tuple(draft.chunks), layout=draft.layout)
        self._documents[draft.owner, draft.id] = document
        return document

    def bytes(self, namespace: str) -> int:
        return sum(document_bytes(document) for document in self._all() if document.owner.namespace == namespace)

    def delete(self, command: DeleteDocument) -> DocumentDeleted:
        name = (command.owner, command.document_id)
        stored = self._documents.get(name)
        if stored is None or command.version not in (None, stored.version):
            raise NotFound(f"there is no document {command.document_id!r}")
        return DocumentDeleted(self._delete(name).chunk_count)

    def of_session(self, key: SessionKey) -> Sequence[StoredDocument]:
        """Return the documents that a session owns, in the order of their ids."""
        owned = [document for document in self._all() if key.session_id and _session(document.owner) == key]
        return sorted(owned, key=lambda document: (document.owner.user_id, document.id))

    def of_owner(self, owner: Owner) -> Sequence[StoredDocument]:
        return [document for document in self._all() if document.owner == owner]

    def headers(self, owner: Owner) -> Sequence[StoredDocument]:
        return [_header(document) for document in self.of_owner(owner)]

    def owners(self) -> set[Owner]:
        return {owner for owner, _ in self._documents}

    def remove(self, documents: Iterable[StoredDocument]) -> None:
        for document in documents:
            self._delete((document.owner, document.id))

    def _delete(self, name: tuple[Owner, str]) -> StoredDocument:
        document = self._documents.pop(name)
        self._write(EntryKind.DOCUMENT_DELETE, document.owner.namespace, -document.row_id)
        return document

    def get(self, owner: Owner, document_id: str) -> StoredDocument | None:
        stored = self._documents.get((owner, document_id))
        return _header(stored) if stored else None

    def list(self, query: DocumentQuery) -> Sequence[StoredDocument]:
        ids = sorted(name for owner, name in self._documents if owner == query.owner and name > query.after_id)
        return [_header(self._documents[query.owner, name]) for name in ids[: query.limit]]

    def in_order(self) -> Sequence[StoredDocument]:
        """Return all documents with their chunks, in the order of their row ids."""
        return sorted(self._all(), key=lambda document: document.row_id)

    def by_version(self, lsn: int) -> StoredDocument | None:
        """Return the document, with its chunks, whose newest put has this lsn."""
        return next((document for document in self._all() if document.version == lsn), None)

    def find_chunks(self, namespace: str, places: Sequence[tuple[int, int]]) -> ChunksByPlace:
        versions = {document.version: document for document in self._all() if document.owner.namespace == namespace}
        return {
            (version, index): (_header(versions[version]), versions[version].chunks[index])
            for version, index in places
            if version in versions and 0 <= index < versions[version].chunk_count
        }

    def _all(self) -> Iterator[StoredDocument]:
        return iter(self._documents.values())


def _header(document: StoredDocument) -> StoredDocument:
    return replace(document, chunks=(), layout=b"")


def _session(owner: Owner) -> SessionKey:
    return SessionKey(owner.namespace, owner.session_id)
