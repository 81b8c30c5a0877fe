"""Erase and its dry run."""

import sqlite3
from collections import Counter
from collections.abc import Container, Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NotFound
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import CommitEvent, Erase, Erased, ErasureCounts, RecordKind
from memsidecar.stores.sqlite import documents, records
from memsidecar.stores.sqlite.documents import drop_documents
from memsidecar.stores.sqlite.records import drop_notes
from memsidecar.stores.sqlite.rows import find_bytes, find_head
from memsidecar.stores.sqlite.schema import LogKind
from memsidecar.stores.sqlite.secure_delete import OrphanedTexts, PendingPurge
from memsidecar.stores.sqlite.transaction import Entry, Transaction, owned


class Found(NamedTuple):
    """Where everything is that an erasure takes besides messages, and how much it is with them."""

    documents: Sequence[documents.Place]
    notes: Sequence[records.Place]
    figures: ErasureCounts


def find_belongings(
    connection: sqlite3.Connection, command: Erase, head: SessionHead | None, dropped: Container[int] = ()
) -> Found:
    """Of the session at `head`, but for the notes that were `dropped` in the same transaction.

    Without a head, documents and notes that came before their session are all there is of it; NoSuchThing where not
    even those are.
    """
    papers = documents.find_places_of(connection, command.key) if command.delete_session else []
    user_id = head.user_id if head else ""
    learned = records.find_places_of(connection, command.key, user_id, command.delete_session)
    kept = [place for place in learned if place.number not in dropped]
    found = Found(papers, kept, _figures(head, papers, kept))
    if command.delete_session and head is None and not any(found.figures):
        raise NotFound(f"there is no session {command.key.session_id!r}")
    return found


def _figures(
    head: SessionHead | None, papers: Sequence[documents.Place], kept: Sequence[records.Place]
) -> ErasureCounts:
    kinds = Counter(place.kind for place in kept)
    return ErasureCounts(
        messages=head.message_count + head.pruned_count if head else 0,
        facts=kinds[RecordKind.FACT],
        summaries=kinds[RecordKind.SUMMARY],
        artifacts=kinds[RecordKind.ARTIFACT],
        patterns=kinds[RecordKind.PATTERNS],
        documents=len(papers),
        chunks=sum(place.chunk_count for place in papers),
    )


def read_belongings(connection: sqlite3.Connection, command: Erase) -> ErasureCounts:
    head = find_head(connection, command.key)
    return find_belongings(connection, command, owned(head, command.user_id) if head else None).figures


def erase(stage: Transaction, command: Erase) -> PendingPurge | Erased:
    head = stage.head(command.key)
    # No claim is told: what could be claimed is gone with the same commit.
    head = owned(head, command.user_id) if head else None
    found = find_belongings(stage.connection, command, head, stage.dropped_notes)
    if head is None:
        return _erase_unknown(stage, command, found)
    size = find_bytes(stage.connection, head.row_id)
    stage.book(head.key.namespace, Usage(-int(command.delete_session), -found.figures.messages, -size))
    kind = LogKind.DELETE if command.delete_session else LogKind.CLEAR
    stage.log(head, Entry(kind, id=head.key.namespace))
    stage.do("INSERT INTO erasures VALUES (?)", head.row_id)
    stage.do("DELETE FROM sessions WHERE number = ?", head.row_id)
    left = None if command.delete_session else _emptied(stage, head)
    if left is None:
        stage.do("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *command.key)
        stage.heads[command.key] = None
    else:
        stage.keep(left)
    stage.changes.append(CommitEvent(command.key, left, reload=True))
    return PendingPurge([head.row_id, *_drop(stage, command, found)], Erased(left, found.figures))


def _erase_unknown(stage: Transaction, command: Erase, found: Found) -> PendingPurge | Erased:
    leftovers = _drop(stage, command, found)
    if found.notes:
        stage.changes.append(CommitEvent(command.key, None, reload=True))
    erased = Erased(None, found.figures)
    return PendingPurge(leftovers, erased) if leftovers else erased


def _drop(stage: Transaction, command: Erase, found: Found) -> list[OrphanedTexts]:
    namespace = command.key.namespace
    return [*drop_documents(stage, namespace, found.documents), *drop_notes(stage, namespace, found.notes)]


def _emptied(stage: Transaction, head: SessionHead) -> SessionHead:
    """The same session under a new number: ids are free again, sequences go on."""
    left = stage.new(head.key, head.user_id)
    left.version, left.last_sequence, left.window_start = head.version, head.last_sequence, head.last_sequence + 1
    left.create_time_us, left.policy = head.create_time_us, head.policy
    return left
