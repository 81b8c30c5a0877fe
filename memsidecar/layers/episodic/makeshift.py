"""A shelf from the journal alone, while the index is away: the newest of what is asked for."""

from collections.abc import Iterator
from dataclasses import replace

from memsidecar.layers.episodic.asking import Range
from memsidecar.stores.contract import DocumentPage, Found, Journal, News, Owner, Said, Shelved, StoredDocument

MESSAGES_AT_MOST = 2_000
CHUNKS_AT_MOST = 2_000
_DOCUMENTS_AT_MOST = 200


def recent_news(journal: Journal, within: Range) -> Iterator[News]:
    """Told as the log would tell it, oldest first."""
    if within.scope is not None:
        yield from reversed([_said(found) for found in _newest(journal, within)])
    for owner in within.owners:
        yield from _documents(journal, owner)


def _newest(journal: Journal, within: Range) -> list[Found]:
    assert within.scope is not None
    found: list[Found] = []
    before = None if within.as_of is None else within.as_of + 1
    while len(found) < MESSAGES_AT_MOST:
        more = journal.scan(within.scope, before, MESSAGES_AT_MOST - len(found))
        if not more:
            break
        found += more
        before = more[-1].lsn
    return found


def _said(found: Found) -> Said:
    return Said(found.lsn, found.lsn, found.session, found.key, found.user_id, found.message, None)


def _documents(journal: Journal, owner: Owner) -> Iterator[Shelved]:
    room = CHUNKS_AT_MOST
    for document in journal.documents(DocumentPage(owner, limit=_DOCUMENTS_AT_MOST)):
        whole = _with_chunks(journal, document, room)
        if whole is not None:
            room -= len(whole.chunks)
            yield Shelved(whole.version, whole)


def _with_chunks(journal: Journal, document: StoredDocument, room: int) -> StoredDocument | None:
    """None if it has changed meanwhile, or there is no room for it."""
    if document.chunk_count > room:
        return None
    places = [(document.version, index) for index in range(document.chunk_count)]
    found = journal.find_chunks(places)
    if len(found) < len(places):
        return None
    return replace(document, chunks=[found[place][1] for place in places])
