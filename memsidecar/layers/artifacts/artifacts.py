"""Artifacts as things: putting, listing, deleting them, and which of them a question is about."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts.artifact import StoredArtifact, artifact_of, owner_of, slot_of
from memsidecar.layers.artifacts.drafting import Drafting
from memsidecar.layers.artifacts.offloading import Offloading
from memsidecar.layers.artifacts.reading import Place, read_newest
from memsidecar.layers.artifacts.relevance import Shelved, ranked, shelve
from memsidecar.layers.at_hand import AtHand, Settled
from memsidecar.layers.working.owning import check_owner, claim
from memsidecar.layers.working.reading import ANSWER_BYTES
from memsidecar.stores.contract import (
    Change,
    DropNote,
    Journal,
    Note,
    NoteKind,
    Owner,
    Revised,
    ReviseNotes,
    Ticket,
)
from memsidecar.v1.knowledge_pb2 import Artifact

COMPARED = 200
"As many of a session's artifacts are looked at for a query, the newest ..."
WALKED = 1_000
"... among so many, expired ones included ..."
COMPARED_BYTES = 8 << 20
"... and within so many bytes."
AT_HAND_BYTES = 32 << 20
_SHELF_BYTES = 512


@dataclass(frozen=True, slots=True)
class PutOrder:
    """What a caller asks for; `preview_tokens` 0: as many as an overflow leaves."""

    key: SessionKey
    user_id: str
    artifact: Artifact
    offload_message_id: str = ""
    preview_tokens: int = 0


class Artifacts:
    """Thread-safe. What was put is found from then on, and what was deleted or erased is not."""

    def __init__(self, journal: Journal, draft: Drafting, offload: Offloading) -> None:
        self._journal = journal
        self.draft = draft
        self._offload = offload
        self._at_hand: AtHand[Sequence[Shelved]] = AtHand(AT_HAND_BYTES, _weigh)
        journal.listen(self._committed)

    def put(self, order: PutOrder) -> StoredArtifact:
        """Store a checked artifact, and show a preview in place of the message that it holds. Waits for commits."""
        check_owner(self._journal.head(order.key), order.user_id)
        if not order.offload_message_id:
            return self._keep(order, self.draft(order.artifact), None)
        found = self._offload.find(order.key, order.offload_message_id)
        whole = self._offload.fill(self.draft(order.artifact), found, order.artifact.id)
        stored = self._keep(order, whole, found.head.number)
        self._offload.show_preview(order.key, stored, order.preview_tokens)
        return stored

    def _keep(self, order: PutOrder, artifact: StoredArtifact, derived_from: int | None) -> StoredArtifact:
        kept = [artifact]

        def revise(notes: Sequence[Note]) -> Revised:
            if not order.artifact.HasField("create_time"):
                kept[0] = _as_old_as(artifact, notes)
            return Revised([kept[0].note(order.key.session_id)])

        claim(self._journal, order.key, order.user_id)
        owner, slots = owner_of(order.key), [slot_of(artifact.id)]
        ticket = self._begin(Ticket(ReviseNotes(owner, NoteKind.ARTIFACT, slots, revise, derived_from)))
        try:
            ticket.wait()
        finally:
            self._at_hand.forget_one(owner)
        return kept[0]

    def page(
        self, key: SessionKey, user_id: str, after: Place | None, size: int, now_us: int
    ) -> tuple[Sequence[StoredArtifact], Place | None]:
        """Up to `size` artifacts behind a place, newest first, and the place of the next page, if there is one.

        A page may be short, or empty, because of expired ones.
        """
        check_owner(self._journal.head(key), user_id)
        owner = owner_of(key)
        seen = list(read_newest(self._journal, owner, after, size, ANSWER_BYTES))
        if not seen:
            return (), None
        last = (seen[-1].create_time_us, seen[-1].id)
        there_are_more = any(read_newest(self._journal, owner, last, 1, 1))
        return [one for one in seen if not one.is_expired(now_us)], last if there_are_more else None

    def begin_deleting(self, key: SessionKey, artifact_id: str, settled: Settled) -> Ticket:
        """Settled when the last byte is gone."""
        owner = owner_of(key)
        command = DropNote(owner, NoteKind.ARTIFACT, artifact_id)
        return self._begin(Ticket(command, self._at_hand.forgetting(owner, settled)))

    def check_owner(self, key: SessionKey, user_id: str) -> None:
        check_owner(self._journal.head(key), user_id)

    def _begin(self, ticket: Ticket) -> Ticket:
        self._journal.submit(ticket)
        return ticket

    def relevant(self, key: SessionKey, query: str, now_us: int, limit: int) -> Sequence[tuple[StoredArtifact, float]]:
        """Those that have something to do with a query, with how much (above 0, at most 1), the most first.

        Newer ones come first among equals. Of a session's artifacts the newest 200 are looked at, within 8 MiB.
        """
        owner = owner_of(key)
        shelf = self._at_hand.get(owner, lambda: self._shelf(owner))
        alive = [one for one in shelf if not one.artifact.is_expired(now_us)]
        if len(alive) < len(shelf) >= COMPARED:
            # Some expired since, and there may be older ones that did not.
            self._at_hand.forget_one(owner)
        return ranked(alive, query)[:limit]

    def _shelf(self, owner: Owner) -> Sequence[Shelved]:
        now_us = time.time_ns() // 1000
        newest = read_newest(self._journal, owner, None, WALKED, COMPARED_BYTES)
        return [shelve(one) for one in islice((one for one in newest if not one.is_expired(now_us)), COMPARED)]

    def _committed(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.reload or change.head is None:
                self._at_hand.forget_one(owner_of(change.key))


def _as_old_as(artifact: StoredArtifact, notes: Sequence[Note]) -> StoredArtifact:
    """With the time of the one that is there, if it says the same: to repeat a call changes nothing."""
    for known in (artifact_of(note) for note in notes if note.id == artifact.id):
        ends_after = artifact.expire_time_us is None or artifact.expire_time_us > known.create_time_us
        if known.content == artifact.content and ends_after:
            return replace(artifact, create_time_us=known.create_time_us)
    return artifact


def _weigh(shelf: Sequence[Shelved]) -> int:
    return _SHELF_BYTES + sum(one.size_bytes for one in shelf)
