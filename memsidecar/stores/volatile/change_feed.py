"""Read_changes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from memsidecar.domain.session import Head
from memsidecar.stores.contract import Claimed, Ended, Found, Gone, Heard, News, Passed, Said, Shelved
from memsidecar.stores.volatile.session import About, Entry, Message, Session
from memsidecar.stores.volatile.state import Ledger


def news(ledger: Ledger, namespace: str, after_lsn: int, limit: int, heard: Heard | None) -> Sequence[News]:
    sessions = ledger.by_number()
    # Every number was given to one entry, from 1 on.
    behind = (ledger.log[at] for at in range(max(after_lsn, 0), len(ledger.log)))
    mine = (entry for entry in behind if entry.namespace == namespace and _is_heard(sessions, entry, heard))
    told = (_tell(ledger, sessions, entry) for entry in mine)
    news = list(islice((one for one in told if one is not None), limit))
    if heard is not None and len(news) < limit and len(ledger.log) > after_lsn:
        news.append(Ended(len(ledger.log)))
    return news


def _is_heard(sessions: Mapping[int, Session], entry: Entry, heard: Heard | None) -> bool:
    if heard is None or entry.about is About.ERASURE:
        return True
    if entry.about in (About.DOCUMENT, About.WINDOW):
        return entry.about is About.DOCUMENT and heard.documents
    session = sessions.get(entry.number)
    return session is not None and (session.number == heard.session or session.user_id == heard.user_id != "")


def _tell(ledger: Ledger, sessions: Mapping[int, Session], entry: Entry) -> News | None:
    """None for entries of a session that was erased: they belong nowhere any more."""
    if entry.about is About.ERASURE:
        return Gone(entry.lsn, entry.number)
    if entry.about is About.DOCUMENT:
        document = ledger.library.version(entry.lsn)
        return Shelved(entry.lsn, document) if document else Passed(entry.lsn)
    session = sessions.get(entry.number)
    return _tell_of(session, entry) if session else None


def _tell_of(session: Session, entry: Entry) -> News:
    if entry.about is About.CLAIM:
        return Claimed(entry.lsn, session.number, session.key, session.user_id)
    if entry.about is About.WINDOW:
        return Passed(entry.lsn)
    return _said(session, session.at(entry.sequence), entry.lsn)


def _said(session: Session, message: Message, lsn: int) -> Said:
    first_lsn, vector = message.lsn, message.draft.vector
    return Said(lsn, first_lsn, session.number, session.key, session.user_id, message.written, vector)


def said(ledger: Ledger, number: int, after_sequence: int, limit: int) -> Sequence[Said]:
    session = ledger.by_number().get(number)
    messages = session.messages if session else []
    behind = [message for message in messages if message.written.sequence > after_sequence]
    return [_said(session, message, message.lsn) for message in behind[:limit] if session]


def sequence_at(ledger: Ledger, head: Head, lsn: int) -> int:
    session = ledger.by_number().get(head.number)
    later = [message.written.sequence for message in session.messages if message.lsn > lsn] if session else []
    return min([head.last_sequence, *(sequence - 1 for sequence in later)])


def find(ledger: Ledger, lsns: Sequence[int]) -> Mapping[int, Found]:
    return {found.lsn: found for found in _found(ledger, lsns)}


def _found(ledger: Ledger, lsns: Sequence[int]) -> Iterator[Found]:
    sessions = ledger.by_number()
    for entry in (ledger.log[lsn - 1] for lsn in lsns if 0 < lsn <= len(ledger.log)):
        session = sessions.get(entry.number)
        if session and entry.about is About.MESSAGE:
            yield session.found(session.at(entry.sequence))
