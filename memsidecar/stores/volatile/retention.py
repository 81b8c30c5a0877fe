"""Reads of the RAM journal that find what exceeds the limits of a retention."""

from collections.abc import Iterable, Sequence

from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import ExpiredMessages, ExpiryQuery, Owner, Record, RecordKind, StoredDocument
from memsidecar.stores.volatile.state import JournalState

_BEGINNING = (-(1 << 63), "")


def sessions_after(state: JournalState, row_id: int, limit: int) -> Sequence[SessionHead]:
    later = sorted((each for each in state.sessions.values() if each.row_id > row_id), key=lambda each: each.row_id)
    return [state.head(session) for session in later[:limit]]


def expiry_boundary(state: JournalState, row_id: int, query: ExpiryQuery) -> int:
    session = state.by_row_id().get(row_id)
    messages = session.messages if session else []
    boundary = 0
    if query.keep and len(messages) >= query.keep:
        boundary = messages[-query.keep].original.sequence
    if query.cutoff_us is not None and messages:
        young = [each.original.sequence for each in messages if each.commit_us >= query.cutoff_us]
        boundary = max(boundary, min(young, default=messages[-1].original.sequence + 1))
    return boundary


def expired_messages(state: JournalState, row_id: int, boundary: int, after: int, limit: int) -> ExpiredMessages:
    session = state.by_row_id().get(row_id)
    messages = [message.original for message in session.messages] if session else []
    ends = {message.exchange: message.sequence for message in messages if message.exchange}
    expired = [each for each in messages if ends.get(each.exchange, each.sequence) < boundary]
    page = [each for each in expired if after < each.sequence < boundary][:limit]
    exchanges = {each.exchange for each in page if each.exchange}
    sequences = {each.sequence for each in page} | {each.sequence for each in messages if each.exchange in exchanges}
    return ExpiredMessages(sorted(sequences), page[-1].sequence if len(page) == limit else 0)


def next_owners(owners: Iterable[Owner], after: Owner | None, limit: int) -> Sequence[Owner]:
    in_order = sorted(set(owners), key=_place)
    return [owner for owner in in_order if after is None or _place(owner) > _place(after)][:limit]


def _place(owner: Owner) -> tuple[str, str, str]:
    return owner.namespace, owner.session_id, owner.user_id


def expired_records(state: JournalState, owner: Owner, kind: RecordKind, query: ExpiryQuery) -> Sequence[Record]:
    records = {(record.time_us, record.id): record for record in state.records.of_kind(owner, kind)}
    return [records[place] for place in _expired(list(records), query)]


def expired_documents(state: JournalState, owner: Owner, query: ExpiryQuery) -> Sequence[StoredDocument]:
    documents = {(document.create_time_us, document.id): document for document in state.documents.headers(owner)}
    return [documents[place] for place in _expired(list(documents), query)]


def _expired(places: list[tuple[int, str]], query: ExpiryQuery) -> list[tuple[int, str]]:
    places.sort()
    surplus = places[: -query.keep] if query.keep else []
    old = [place for place in places if query.cutoff_us is not None and place[0] < query.cutoff_us]
    expired = sorted({*surplus, *old})
    return [place for place in expired if place > (query.after or _BEGINNING)][: query.limit]
