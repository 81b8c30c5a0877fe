"""Builders of drafts, records and documents; functions that submit one command; readers."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from memsidecar.domain.message import Draft, Flag, Role, StoredMessage
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import (
    Append,
    Appended,
    Chunk,
    Command,
    CommitEvent,
    Derivations,
    DocumentDraft,
    DocumentPut,
    DocumentWritten,
    Erase,
    Erased,
    ErasedSources,
    ExpireMessages,
    ForgetMessages,
    Journal,
    LogEntry,
    MessageQuery,
    MessageUpdated,
    MessageWritten,
    Owner,
    PendingCommand,
    PutDocument,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    RecordsUpserted,
    Revision,
    SessionQuery,
    UpdateMessage,
    UpdateWindow,
    UpsertRecords,
    WindowUpdated,
)
from memsidecar.stores.message_encoding import document_bytes, message_bytes
from memsidecar.v1 import message_pb2

KEY = SessionKey("default", "s1")
NAMESPACE_OWNER = Owner("default")
ANN = Owner("default", "ann")


def draft(content: str, *, message_id: str = "", role: Role = Role.USER, tokens: int = 10, **rest: Any) -> Draft:
    """Return a draft; its id is its content by default."""
    message_id = message_id or content
    body = message_pb2.Message(id=message_id, content=content).SerializeToString()
    fingerprint = hashlib.sha256(f"{role} {content}".encode()).digest()
    return Draft(message_id, role, tokens, 1_000, body, fingerprint, **rest)


def call(content: str, *calls: str, **rest: Any) -> Draft:
    return draft(content, role=Role.ASSISTANT, calls=calls, **rest)


def answer(content: str, answers: str, **rest: Any) -> Draft:
    return draft(content, role=Role.TOOL, answers=answers, **rest)


def execute(journal: Journal, command: Command) -> Any:
    pending = PendingCommand(command)
    journal.submit(pending)
    return pending.wait()


def append(
    journal: Journal, *drafts: Draft, key: SessionKey = KEY, user_id: str = "", expected: int | None = None
) -> Appended:
    result: Appended = execute(journal, Append(key, user_id, drafts, expected))
    return result


def update_window(
    journal: Journal, *removed: int, shortened: Sequence[StoredMessage] = (), key: SessionKey = KEY
) -> WindowUpdated:
    head = journal.head(key)
    assert head is not None
    result: WindowUpdated = execute(journal, UpdateWindow(key, head.version, removed, shortened))
    return result


def erase(journal: Journal, *, delete_session: bool = False, key: SessionKey = KEY, user_id: str = "") -> Erased:
    result: Erased = execute(journal, Erase(key, user_id, delete_session))
    return result


def artifact_key(message_id: str) -> int:
    return int.from_bytes(hashlib.sha256(message_id.encode()).digest()[:4])


def revise_fact(record: Record, erased: ErasedSources) -> Record | None:
    """Revise a fact whose body is a list of messages, as session/id."""
    sources = [tuple(name.split("/")) for name in record.body.decode().split() if "/" in name]
    left = [name for name in sources if erased.exists(*name)]
    if len(left) == len(sources):
        return record
    return replace(record, body=" ".join("/".join(name) for name in left).encode()) if left else None


def concerns(body: bytes, _: int, erased: ErasedSources) -> bool:
    return any(name.encode() in body for name in erased.ids)


def covers(record: Record, sequence: int) -> bool:
    """Tell whether a summary whose body is its last sequence was made from a message."""
    return record.body.isdigit() and sequence <= int(record.body)


DERIVATIONS = Derivations(concerns, revise_fact, covers, artifact_key)


def forget(journal: Journal, *message_ids: str, key: SessionKey = KEY, user_id: str = "") -> Erased:
    result: Erased = execute(journal, ForgetMessages(key, user_id, message_ids, DERIVATIONS))
    return result


def expire(
    journal: Journal, *sequences: int, key: SessionKey = KEY, is_held: Callable[[bytes], bool] | None = None
) -> Erased:
    command = ExpireMessages(key, known_head(journal, key).row_id, sequences, DERIVATIONS, is_held)
    result: Erased = execute(journal, command)
    return result


def update_message(
    journal: Journal, message_id: str, revise: Callable[[StoredMessage], Revision], user_id: str = ""
) -> MessageUpdated:
    result: MessageUpdated = execute(journal, UpdateMessage(KEY, user_id, message_id, revise))
    return result


def scored(score: float, mark: str = "") -> Callable[[StoredMessage], Revision]:
    """Return a revision that sets the score, and adds a mark to the body."""
    added = message_pb2.Message(name=mark).SerializeToString()
    return lambda stored: Revision(stored.body + added, stored.flags | Flag.IMPORTANT, score)


def shortened(stored: StoredMessage, content: str, tokens: int) -> StoredMessage:
    body = message_pb2.Message(content=content, sequence=stored.sequence).SerializeToString()
    return stored._replace(body=body, tokens=tokens)


def content(stored: StoredMessage) -> str:
    return message_pb2.Message.FromString(stored.body).content


def read(journal: Journal, key: SessionKey = KEY, **selection: Any) -> list[StoredMessage]:
    return list(journal.messages(key, MessageQuery(**selection)).messages)


def contents(journal: Journal, key: SessionKey = KEY, **selection: Any) -> list[str]:
    return [content(stored) for stored in read(journal, key, **selection)]


def known_head(journal: Journal, key: SessionKey = KEY) -> SessionHead:
    head = journal.head(key)
    assert head is not None
    return head


def document(*chunks: str, name: str = "d1", owner: Owner = NAMESPACE_OWNER, **rest: Any) -> DocumentDraft:
    """Return a document whose chunks have as many tokens as letters."""
    given = {"title": "", "source": "", "metadata": b"", "create_time_us": 1_000, "chunking": "by hand", **rest}
    digest = hashlib.sha256("".join(chunks).encode()).hexdigest()
    cut = [Chunk(text, len(text)) for text in chunks]
    return DocumentDraft(owner, name, sha256=digest, tokens=sum(len(text) for text in chunks), chunks=cut, **given)


def put(journal: Journal, *chunks: str, **rest: Any) -> DocumentPut:
    result: DocumentPut = execute(journal, PutDocument(document(*chunks, **rest)))
    return result


def new_record(
    body: str = "body", *, name: str = "n1", conflict_key: int = 1, source: str = "", **times: int
) -> Record:
    return Record(name, conflict_key, source, body=body.encode(), **{"time_us": 1_000, **times})


def upsert_command(
    *records: Record, owner: Owner = ANN, kind: RecordKind = RecordKind.ARTIFACT, **rest: Any
) -> UpsertRecords:
    """Return a command that upserts these records, and deletes the `deleted` ones."""
    revised = RecordChanges(records, rest.pop("deleted", ()))
    return UpsertRecords(owner, kind, rest.pop("conflict_keys", ()), lambda _: revised, **rest)


def upsert(journal: Journal, *records: Record, **rest: Any) -> RecordsUpserted:
    result: RecordsUpserted = execute(journal, upsert_command(*records, **rest))
    return result


def record_ids(journal: Journal, owner: Owner = ANN, kind: RecordKind = RecordKind.ARTIFACT, **page: Any) -> list[str]:
    """Return the ids of an owner's records, newest first."""
    return [record.id for record in journal.records(RecordQuery(owner, kind, **page))]


def follow(journal: Journal, namespace: str = "default", after_lsn: int = 0, limit: int = 100) -> list[LogEntry]:
    """Return all entries of the change feed, read batch by batch."""
    entries: list[LogEntry] = []
    while batch := journal.read_changes(namespace, entries[-1].lsn if entries else after_lsn, limit):
        assert len(batch) <= limit
        entries += batch
    return entries


def recount(journal: Journal, namespace: str = "default", owners: Iterable[Owner] = (NAMESPACE_OWNER, ANN)) -> Usage:
    """Return the usage of a namespace, added up from all reads; records of these owners only."""
    entries = follow(journal, namespace)
    messages = {
        (entry.session, entry.message.sequence): entry for entry in entries if isinstance(entry, MessageWritten)
    }
    size = sum(message_bytes(entry.message.body, entry.vector) for entry in messages.values())
    size += sum(document_bytes(entry.document) for entry in entries if isinstance(entry, DocumentWritten))
    for owner, kind in product(owners, RecordKind):
        if owner.namespace == namespace:
            size += sum(len(record.body) for record in journal.records(RecordQuery(owner, kind, 1_000, history=True)))
    heads = journal.sessions(SessionQuery(namespace, limit=1_000))
    assert len(messages) == sum(head.message_count + head.pruned_count for head in heads)
    return Usage(len(heads), len(messages), size)


class Replica:
    """The windows of all sessions, derived from commit events; a reload event reads the window again."""

    def __init__(self, journal: Journal) -> None:
        self.heads: dict[SessionKey, SessionHead] = {}
        self.windows: dict[SessionKey, dict[int, StoredMessage]] = {}
        self.changes: list[CommitEvent] = []
        self.to_reload: set[SessionKey] = set()
        journal.subscribe(self.apply)

    def apply(self, changes: Sequence[CommitEvent]) -> None:
        for change in changes:
            self.changes.append(change)
            self._apply(change)

    def _apply(self, change: CommitEvent) -> None:
        if change.head is None:
            self.heads.pop(change.key, None)
            self.windows.pop(change.key, None)
            self.to_reload.discard(change.key)
            return
        self.heads[change.key] = change.head
        window = self.windows.setdefault(change.key, {})
        window.update((stored.sequence, stored) for stored in change.appended)
        window.update((stored.sequence, stored) for stored in change.replaced if stored.sequence in window)
        for sequence in change.removed:
            del window[sequence]
        if change.reload:
            self.to_reload.add(change.key)

    def window(self, journal: Journal, key: SessionKey) -> list[StoredMessage]:
        if key in self.to_reload:
            self.to_reload.discard(key)
            self.windows[key] = {stored.sequence: stored for stored in read(journal, key)}
        return list(self.windows.get(key, {}).values())
