"""Facts as things: whose they are, putting, listing, deleting them; read often, so kept at hand."""

from collections.abc import Sequence
from dataclasses import dataclass

from memsidecar.domain.session import SessionKey
from memsidecar.layers.at_hand import AtHand, Settled
from memsidecar.layers.semantic.fact import KnownFact, fact_of
from memsidecar.layers.semantic.superseding import Told, take_all
from memsidecar.layers.working.owning import check_owner, claim
from memsidecar.stores.contract import (
    Change,
    DropNote,
    Journal,
    Note,
    NoteKind,
    NotePage,
    Owner,
    Revised,
    ReviseNotes,
    Ticket,
)

MOST_READ = 10_000
"More of one user's facts than this are not looked at: the oldest are then out of sight."


@dataclass(frozen=True, slots=True)
class Put:
    """A put on its way; `facts` is what they are when the ticket is settled, in the order in which they were given."""

    ticket: Ticket
    facts: list[KnownFact]


def owner_of(journal: Journal, namespace: str, user_id: str, session_id: str) -> Owner:
    """The user, who may be named by the session; a session without one for itself. NotYourSession for another's."""
    if session_id:
        head = journal.head(SessionKey(namespace, session_id))
        check_owner(head, user_id)
        user_id = user_id or (head.user_id if head else "")
    return Owner(namespace, user_id) if user_id else Owner(namespace, session_id=session_id)


class Facts:
    """Thread-safe. What was put is read from then on, from the cache too."""

    def __init__(self, journal: Journal, cached_owners: int) -> None:
        self._journal = journal
        self._at_hand: AtHand[Sequence[KnownFact]] = AtHand(cached_owners)
        journal.listen(self._committed)

    def owner(self, namespace: str, user_id: str, session_id: str) -> Owner:
        return owner_of(self._journal, namespace, user_id, session_id)

    def claim(self, namespace: str, user_id: str, session_id: str) -> Owner:
        """The same for whoever puts some: the first user that is named makes the session theirs."""
        claim(self._journal, SessionKey(namespace, session_id), user_id)
        return self.owner(namespace, user_id, session_id)

    def begin_putting(self, owner: Owner, told: Sequence[Told], settled: Settled) -> Put:
        stored: list[KnownFact] = []

        def revise(notes: Sequence[Note]) -> Revised:
            revised, stored[:] = take_all(notes, told)
            return revised

        slots = sorted({one.fact.slot for one in told})
        return Put(self.begin_revising(ReviseNotes(owner, NoteKind.FACT, slots, revise), settled), stored)

    def begin_revising(self, command: ReviseNotes, settled: Settled) -> Ticket:
        return self._begin(Ticket(command, self._at_hand.forgetting(command.owner, settled)))

    def revise(self, command: ReviseNotes) -> None:
        """The same for those who can wait."""
        ticket = self._begin(Ticket(command))
        try:
            ticket.wait()
        finally:
            self._at_hand.forget_one(command.owner)

    def begin_deleting(self, owner: Owner, fact_id: str, settled: Settled) -> Ticket:
        command = DropNote(owner, NoteKind.FACT, fact_id)
        return self._begin(Ticket(command, self._at_hand.forgetting(owner, settled)))

    def _begin(self, ticket: Ticket) -> Ticket:
        self._journal.submit(ticket)
        return ticket

    def current(self, owner: Owner) -> Sequence[KnownFact]:
        """What holds now, newest first."""
        return self._at_hand.get(owner, lambda: self.all(owner, history=False))

    def all(self, owner: Owner, history: bool) -> Sequence[KnownFact]:
        page = NotePage(owner, NoteKind.FACT, MOST_READ, history=history)
        return [fact_of(note) for note in self._journal.notes(page)]

    def _committed(self, changes: Sequence[Change]) -> None:
        """What is erased takes facts of any user with it."""
        erased = {one.key.namespace for one in changes if one.reload or (one.head is None and one.key.session_id)}
        if erased:
            self._at_hand.forget(lambda owner: owner.namespace in erased)
