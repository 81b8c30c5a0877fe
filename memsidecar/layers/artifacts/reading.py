"""Artifacts newest first, as many as a number of bytes holds: each may have a megabyte, and a session thousands."""

from collections.abc import Iterator
from dataclasses import replace

from memsidecar.layers.artifacts.artifact import StoredArtifact, artifact_of
from memsidecar.stores.contract import Journal, Note, NoteKind, NotePage, Owner

_FIRST_STEP, _LONGEST_STEP = 16, 256
_FIGURES_BYTES = 256
"What an answer says of an artifact besides its texts, at most."

Place = tuple[int, str]


def read_newest(
    journal: Journal, owner: Owner, after: Place | None, limit: int, most_bytes: int
) -> Iterator[StoredArtifact]:
    """Up to `limit` artifacts behind a place, and at least one, if there is any. Expired ones are there, too."""
    left = most_bytes
    for note in _notes(journal, NotePage(owner, NoteKind.ARTIFACT, _FIRST_STEP, after), limit, most_bytes):
        left -= _size(note)
        if left < 0 and left + _size(note) < most_bytes:
            return
        yield artifact_of(note)


def _notes(journal: Journal, page: NotePage, limit: int, most_bytes: int) -> Iterator[Note]:
    """In steps that follow the size of what came so far, so that never much more is read than is wanted."""
    seen = size = 0
    while seen < limit:
        notes = journal.notes(replace(page, limit=min(page.limit, limit - seen)))
        yield from notes
        if len(notes) < min(page.limit, limit - seen):
            return
        seen += len(notes)
        size += sum(map(_size, notes))
        step = max(1, (most_bytes - size) * seen // size)
        page = replace(page, after=(notes[-1].time_us, notes[-1].id), limit=min(step, _LONGEST_STEP))


def _size(note: Note) -> int:
    return len(note.body) + len(note.id) + _FIGURES_BYTES
