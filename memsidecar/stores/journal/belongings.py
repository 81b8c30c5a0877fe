"""What goes with a session: found the same way for its erasure and for whoever only asks."""

import sqlite3
from collections import Counter
from collections.abc import Container, Sequence
from typing import NamedTuple

from memsidecar.domain.errors import NoSuchThing
from memsidecar.domain.session import Head
from memsidecar.stores.contract import Belongings, Erase, NoteKind
from memsidecar.stores.journal import documents, notes
from memsidecar.stores.journal.rows import find_head
from memsidecar.stores.journal.staging import owned


class Found(NamedTuple):
    """Where everything is that an erasure takes besides messages, and how much it is with them."""

    documents: Sequence[documents.Place]
    notes: Sequence[notes.Place]
    figures: Belongings


def find_belongings(
    connection: sqlite3.Connection, command: Erase, head: Head | None, dropped: Container[int] = ()
) -> Found:
    """Of the session at `head`, but for the notes that were `dropped` in the same transaction.

    Without a head, documents and notes that came before their session are all there is of it; NoSuchThing where not
    even those are.
    """
    papers = documents.find_places_of(connection, command.key) if command.whole else []
    user_id = head.user_id if head else ""
    learned = notes.find_places_of(connection, command.key, user_id, command.whole)
    kept = [place for place in learned if place.number not in dropped]
    found = Found(papers, kept, _figures(head, papers, kept))
    if command.whole and head is None and not any(found.figures):
        raise NoSuchThing(f"there is no session {command.key.session_id!r}")
    return found


def _figures(head: Head | None, papers: Sequence[documents.Place], kept: Sequence[notes.Place]) -> Belongings:
    kinds = Counter(place.kind for place in kept)
    return Belongings(
        messages=head.message_count + head.pruned_count if head else 0,
        facts=kinds[NoteKind.FACT],
        summaries=kinds[NoteKind.SUMMARY],
        artifacts=kinds[NoteKind.ARTIFACT],
        patterns=kinds[NoteKind.PATTERNS],
        documents=len(papers),
        chunks=sum(place.chunk_count for place in papers),
    )


def read_belongings(connection: sqlite3.Connection, command: Erase) -> Belongings:
    head = find_head(connection, command.key)
    return find_belongings(connection, command, owned(head, command.user_id) if head else None).figures
