"""Documents."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Chunk,
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
from memsidecar.stores.volatile.session import EntryKind


class DocumentTable:
    """All documents. `write` adds an entry to the log and answers its lsn, `refuse_growth` raises QuotaExceeded."""

    def __init__(
        self, write: Callable[[EntryKind, str, int], int], refuse_growth: Callable[[str, Usage], None]
    ) -> None:
        self._write = write
        self._refuse_growth = refuse_growth
        self._kept: dict[tuple[Owner, str], StoredDocument] = {}
        self._number = 0

    def put(self, command: PutDocument) -> DocumentPut:
        draft = command.document
        kept = self._kept.get((draft.owner, draft.id))
        self._check(draft, kept)
        same_text = kept is not None and (kept.sha256, kept.chunking) == (draft.sha256, draft.chunking)
        if kept is None or not same_text:
            return DocumentPut(bare(self._shelve(draft, kept)), unchanged=False)
        document = replace(kept, title=draft.title, source=draft.source, metadata=draft.metadata)
        self._kept[draft.owner, draft.id] = document
        return DocumentPut(bare(document), unchanged=document == kept)

    def _check(self, draft: DocumentDraft, kept: StoredDocument | None) -> None:
        before = document_bytes(kept) if kept else 0
        self._refuse_growth(draft.owner.namespace, Usage(bytes=document_bytes(draft) - before))

    def bytes(self, namespace: str) -> int:
        return sum(document_bytes(one) for one in self._documents() if one.owner.namespace == namespace)

    def _shelve(self, draft: DocumentDraft, kept: StoredDocument | None) -> StoredDocument:
        if kept is None:
            self._number += 1
        number = self._number if kept is None else kept.number
        version = self._write(EntryKind.DOCUMENT, draft.owner.namespace, -number)
        document = replace(draft.stored(number, version), chunks=tuple(draft.chunks))
        self._kept[draft.owner, draft.id] = document
        return document

    def drop(self, command: DeleteDocument) -> DocumentDeleted:
        place = (command.owner, command.document_id)
        if place not in self._kept:
            raise NotFound(f"there is no document {command.document_id!r}")
        return DocumentDeleted(self._drop(place).chunk_count)

    def drop_all_of(self, key: SessionKey) -> None:
        for place in sorted(place for place in self._kept if key.session_id and _session(place[0]) == key):
            self._drop(place)

    def all_of(self, key: SessionKey) -> Sequence[StoredDocument]:
        """What a session owns."""
        return [one for one in self._documents() if key.session_id and _session(one.owner) == key]

    def _drop(self, place: tuple[Owner, str]) -> StoredDocument:
        document = self._kept.pop(place)
        self._write(EntryKind.ERASURE, document.owner.namespace, -document.row_id)
        return document

    def find(self, owner: Owner, document_id: str) -> StoredDocument | None:
        kept = self._kept.get((owner, document_id))
        return bare(kept) if kept else None

    def page(self, page: DocumentQuery) -> Sequence[StoredDocument]:
        ids = sorted(name for owner, name in self._kept if owner == page.owner and name > page.after_id)
        return [bare(self._kept[page.owner, name]) for name in ids[: page.limit]]

    def version(self, lsn: int) -> StoredDocument | None:
        """The document with its chunks whose newest put this entry is."""
        return next((document for document in self._documents() if document.version == lsn), None)

    def find_chunks(self, places: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], tuple[StoredDocument, Chunk]]:
        versions = {document.version: document for document in self._documents()}
        return {
            (version, place): (bare(versions[version]), versions[version].chunks[place])
            for version, place in places
            if version in versions and 0 <= place < versions[version].chunk_count
        }

    def _documents(self) -> Iterator[StoredDocument]:
        return iter(self._kept.values())


def bare(document: StoredDocument) -> StoredDocument:
    return replace(document, chunks=())


def _session(owner: Owner) -> SessionKey:
    return SessionKey(owner.namespace, owner.session_id)
