"""Put, list, delete, rank for a query."""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts.artifact import (
    ArtifactValidator,
    StoredArtifact,
    artifact_of,
    conflict_key_of,
    owner_of,
)
from memsidecar.layers.artifacts.offload import Offloader
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.layers.ownership import check_owner, claim
from memsidecar.layers.record_cache import DoneCallback, RecordCache
from memsidecar.layers.text_analysis import content_terms, stem, tokenize
from memsidecar.stores.contract import (
    CommitEvent,
    DeleteRecord,
    Journal,
    Owner,
    PendingCommand,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    UpsertRecords,
)
from memsidecar.v1.knowledge_pb2 import Artifact

_FIRST_STEP, _LONGEST_STEP = 16, 256
_FIGURES_BYTES = 256
"What an answer says of an artifact besides its texts, at most."

ArtifactCursor = tuple[int, str]

LONGEST_READ_CHARACTERS = 200_000
"What stands behind this in an artifact is not compared: it is longer than any context."
_STEM_BYTES = 64  # in a set, about: the stems themselves are shared

MAX_RANKED = 200
"As many of a session's artifacts are looked at for a query, the newest ..."
WALKED = 1_000
"... among so many, expired ones included ..."
COMPARED_BYTES = 8 << 20
"... and within so many bytes."
AT_HAND_BYTES = 32 << 20
_SHELF_BYTES = 512


def read_newest(
    journal: Journal, owner: Owner, after: ArtifactCursor | None, limit: int, most_bytes: int
) -> Iterator[StoredArtifact]:
    """Up to `limit` artifacts behind a place, and at least one, if there is any. Expired ones are there, too."""
    left = most_bytes
    for note in _notes(journal, RecordQuery(owner, RecordKind.ARTIFACT, _FIRST_STEP, after), limit, most_bytes):
        left -= _size(note)
        if left < 0 and left + _size(note) < most_bytes:
            return
        yield artifact_of(note)


def _notes(journal: Journal, page: RecordQuery, limit: int, most_bytes: int) -> Iterator[Record]:
    """In steps that follow the size of what came so far, so that never much more is read than is wanted."""
    seen = size = 0
    while seen < limit:
        notes = journal.records(replace(page, limit=min(page.limit, limit - seen)))
        yield from notes
        if len(notes) < min(page.limit, limit - seen):
            return
        seen += len(notes)
        size += sum(map(_size, notes))
        step = max(1, (most_bytes - size) * seen // size)
        page = replace(page, after=(notes[-1].time_us, notes[-1].id), limit=min(step, _LONGEST_STEP))


def _size(note: Record) -> int:
    return len(note.body) + len(note.id) + _FIGURES_BYTES


@dataclass(frozen=True, slots=True)
class IndexedArtifact:
    """An artifact and its words, taken apart once."""

    artifact: StoredArtifact
    stems: frozenset[str]

    @property
    def size_bytes(self) -> int:
        return len(self.artifact.content) * 2 + len(self.artifact.metadata) + len(self.stems) * _STEM_BYTES


def shelve(artifact: StoredArtifact) -> IndexedArtifact:
    words = tokenize(f"{artifact.source} {artifact.content[:LONGEST_READ_CHARACTERS]}")
    return IndexedArtifact(artifact, frozenset(map(stem, set(words))))


def ranked(shelf: Sequence[IndexedArtifact], query: str) -> list[tuple[StoredArtifact, float]]:
    """Each with the share of the query that it has, above 0 and at most 1; the most first, else as they came."""
    if not shelf:
        return []
    asked = {stem(word) for word in content_terms(tokenize(query))}
    weights = {one: _rarity(one, shelf) for one in asked}
    total = sum(weights.values())
    scored = [(one.artifact, _sum(weights, one.stems & asked) / total) for one in shelf if one.stems & asked]
    return sorted(scored, key=lambda scored_one: -scored_one[1])


def _rarity(asked: str, shelf: Sequence[IndexedArtifact]) -> float:
    found = sum(1 for one in shelf if asked in one.stems)
    return math.log(1 + (len(shelf) + 1) / (found + 1))


def _sum(weights: dict[str, float], stems: Iterable[str]) -> float:
    # In a fixed order, so that equal ones are equal to the last bit.
    return sum(weights[one] for one in sorted(stems))


@dataclass(frozen=True, slots=True)
class PutArtifactRequest:
    """What a caller asks for; `preview_tokens` 0: as many as an overflow leaves."""

    key: SessionKey
    user_id: str
    artifact: Artifact
    offload_message_id: str = ""
    preview_tokens: int = 0


class Artifacts:
    """Thread-safe. What was put is found from then on, and what was deleted or erased is not."""

    def __init__(self, journal: Journal, draft: ArtifactValidator, offload: Offloader) -> None:
        self._journal = journal
        self.draft = draft
        self._offload = offload
        self._at_hand: RecordCache[Sequence[IndexedArtifact]] = RecordCache(AT_HAND_BYTES, _weigh)
        journal.subscribe(self._committed)

    def put(self, order: PutArtifactRequest) -> StoredArtifact:
        """Store a checked artifact, and show a preview in place of the message that it holds. Waits for commits."""
        check_owner(self._journal.head(order.key), order.user_id)
        if not order.offload_message_id:
            return self._keep(order, self.draft(order.artifact), None)
        found = self._offload.find(order.key, order.offload_message_id)
        whole = self._offload.fill(self.draft(order.artifact), found, order.artifact.id)
        stored = self._keep(order, whole, found.head.row_id)
        self._offload.show_preview(order.key, stored, order.preview_tokens)
        return stored

    def _keep(self, order: PutArtifactRequest, artifact: StoredArtifact, derived_from: int | None) -> StoredArtifact:
        kept = [artifact]

        def revise(notes: Sequence[Record]) -> RecordChanges:
            if not order.artifact.HasField("create_time"):
                kept[0] = _as_old_as(artifact, notes)
            return RecordChanges([kept[0].note(order.key.session_id)])

        claim(self._journal, order.key, order.user_id)
        owner, slots = owner_of(order.key), [conflict_key_of(artifact.id)]
        ticket = self._begin(PendingCommand(UpsertRecords(owner, RecordKind.ARTIFACT, slots, revise, derived_from)))
        try:
            ticket.wait()
        finally:
            self._at_hand.invalidate(owner)
        return kept[0]

    def page(
        self, key: SessionKey, user_id: str, after: ArtifactCursor | None, size: int, now_us: int
    ) -> tuple[Sequence[StoredArtifact], ArtifactCursor | None]:
        """Up to `size` artifacts behind a place, newest first, and the place of the next page, if there is one.

        A page may be short, or empty, because of expired ones.
        """
        check_owner(self._journal.head(key), user_id)
        owner = owner_of(key)
        seen = list(read_newest(self._journal, owner, after, size, MAX_RESPONSE_BYTES))
        if not seen:
            return (), None
        last = (seen[-1].create_time_us, seen[-1].id)
        there_are_more = any(read_newest(self._journal, owner, last, 1, 1))
        return [one for one in seen if not one.is_expired(now_us)], last if there_are_more else None

    def submit_delete(self, key: SessionKey, artifact_id: str, settled: DoneCallback) -> PendingCommand:
        """Settled when the last byte is gone."""
        owner = owner_of(key)
        command = DeleteRecord(owner, RecordKind.ARTIFACT, artifact_id)
        return self._begin(PendingCommand(command, self._at_hand.invalidating(owner, settled)))

    def check_owner(self, key: SessionKey, user_id: str) -> None:
        check_owner(self._journal.head(key), user_id)

    def _begin(self, ticket: PendingCommand) -> PendingCommand:
        self._journal.submit(ticket)
        return ticket

    def relevant(self, key: SessionKey, query: str, now_us: int, limit: int) -> Sequence[tuple[StoredArtifact, float]]:
        """Those that have something to do with a query, with how much (above 0, at most 1), the most first.

        Newer ones come first among equals. Of a session's artifacts the newest 200 are looked at, within 8 MiB.
        """
        owner = owner_of(key)
        shelf = self._at_hand.get(owner, lambda: self._shelf(owner))
        alive = [one for one in shelf if not one.artifact.is_expired(now_us)]
        if len(alive) < len(shelf) >= MAX_RANKED:
            # Some expired since, and there may be older ones that did not.
            self._at_hand.invalidate(owner)
        return ranked(alive, query)[:limit]

    def _shelf(self, owner: Owner) -> Sequence[IndexedArtifact]:
        now_us = time.time_ns() // 1000
        newest = read_newest(self._journal, owner, None, WALKED, COMPARED_BYTES)
        return [shelve(one) for one in islice((one for one in newest if not one.is_expired(now_us)), MAX_RANKED)]

    def _committed(self, changes: Sequence[CommitEvent]) -> None:
        for change in changes:
            if change.reload or change.head is None:
                self._at_hand.invalidate(owner_of(change.key))


def _as_old_as(artifact: StoredArtifact, notes: Sequence[Record]) -> StoredArtifact:
    """With the time of the one that is there, if it says the same: to repeat a call changes nothing."""
    for known in (artifact_of(note) for note in notes if note.id == artifact.id):
        ends_after = artifact.expire_time_us is None or artifact.expire_time_us > known.create_time_us
        if known.content == artifact.content and ends_after:
            return replace(artifact, create_time_us=known.create_time_us)
    return artifact


def _weigh(shelf: Sequence[IndexedArtifact]) -> int:
    return _SHELF_BYTES + sum(one.size_bytes for one in shelf)
