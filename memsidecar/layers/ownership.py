"""Check_owner, claim: used by five layers."""

from memsidecar.domain.errors import SessionOwnerMismatch
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import Claim, Journal, PendingCommand


def check_owner(head: SessionHead | None, user_id: str) -> None:
    """Nobody reads another user's session by naming themselves."""
    if head is not None and user_id and head.user_id and user_id != head.user_id:
        raise SessionOwnerMismatch()


def claim(journal: Journal, key: SessionKey, user_id: str) -> None:
    """Make a session where there is none, and one that is nobody's this user's, if one is named.

    For whatever is kept in it beside messages; where no session is named, there is nothing to do. Waits for a commit
    where there is.
    """
    if not key.session_id:
        return
    head = journal.head(key)
    check_owner(head, user_id)
    if head is None or (user_id and not head.user_id):
        ticket = PendingCommand(Claim(key, user_id))
        journal.submit(ticket)
        ticket.wait()
