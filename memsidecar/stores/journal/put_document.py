"""PutDocument: all chunks at once, in place of those that the document had."""

from dataclasses import replace

from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Change, DocumentDraft, DocumentPut, PutDocument, StoredDocument
from memsidecar.stores.journal.documents import Kept, find_document
from memsidecar.stores.journal.leftovers import Erasing, Leftover, leave
from memsidecar.stores.journal.schema import Kind
from memsidecar.stores.journal.staging import Entry, Stage
from memsidecar.stores.message_encoding import cover_of, document_bytes

_INSERT = f"INSERT INTO documents VALUES ({', '.join('?' * 14)})"
_REPLACE = """UPDATE documents SET version = ?, create_time_us = ?, sha256 = ?, tokens = ?, chunk_count = ?,
  chunking = ?, cover = ?, first_chunk = ?, bytes = ? WHERE number = ?"""
_REPLACE_COVER = "UPDATE documents SET cover = ?, bytes = bytes + ? WHERE number = ?"


def put_document(stage: Stage, command: PutDocument) -> DocumentPut | Erasing:
    draft = command.document
    kept = find_document(stage.connection, draft.owner, draft.id, stage.path)
    if kept is None:
        return DocumentPut(_add(stage, draft), unchanged=False)
    if kept.has_text_of(draft):
        return _put_cover(stage, kept, draft)
    return _put_text(stage, kept, draft)


def _add(stage: Stage, draft: DocumentDraft) -> StoredDocument:
    number, owner, size = stage.next_document, draft.owner, document_bytes(draft)
    stage.book(owner.namespace, Usage(bytes=size))
    version, texts = _shelve(stage, number, draft)
    stage.next_document += 1
    stage.do(_INSERT, number, *owner, draft.id, version, *_figures(draft), *texts, size)
    return draft.stored(number, version)


def _put_cover(stage: Stage, kept: Kept, draft: DocumentDraft) -> DocumentPut | Erasing:
    """The text is known: only what stands on the cover may be new, and nobody who follows the log needs to know."""
    document = replace(kept.document, title=draft.title, source=draft.source, metadata=draft.metadata)
    if document == kept.document:
        return DocumentPut(document, unchanged=True)
    growth = len(cover_of(document)) - len(cover_of(kept.document))
    stage.book(draft.owner.namespace, Usage(bytes=growth))
    stage.do(_REPLACE_COVER, stage.add_texts([(cover_of(document), 0)]), growth, document.number)
    leftovers = leave(stage, [Leftover(kept.place.cover, kept.place.cover)])
    return Erasing(leftovers, DocumentPut(document, unchanged=False))


def _put_text(stage: Stage, kept: Kept, draft: DocumentDraft) -> Erasing:
    number, size = kept.document.number, document_bytes(draft)
    stage.book(draft.owner.namespace, Usage(bytes=size - kept.place.bytes))
    version, texts = _shelve(stage, number, draft)
    stage.do(_REPLACE, version, *_figures(draft), *texts, size, number)
    return Erasing(leave(stage, kept.place.leftovers), DocumentPut(draft.stored(number, version), unchanged=False))


def _shelve(stage: Stage, number: int, draft: DocumentDraft) -> tuple[int, tuple[int, int]]:
    """Write the entry and the texts; answers the version, and where cover and chunks begin."""
    chunks = [(chunk.text.encode(), chunk.tokens) for chunk in draft.chunks]
    version = stage.write(-number, Entry(Kind.DOCUMENT, id=draft.owner.namespace))
    cover = stage.add_texts([(cover_of(draft), 0), *chunks])
    stage.changes.append(Change(SessionKey(draft.owner.namespace, ""), None))
    return version, (cover, cover + 1)


def _figures(draft: DocumentDraft) -> tuple[object, ...]:
    return draft.create_time_us, draft.sha256, draft.tokens, len(draft.chunks), draft.chunking
