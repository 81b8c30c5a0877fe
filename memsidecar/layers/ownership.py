"""Ownership of sessions: the check and the claim that five layers share."""

from memsidecar.domain.errors import SessionOwnerMismatch
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import Claim, Journal, submit_and_wait


def check_owner(head: SessionHead | None, user_id: str) -> None:
    """Raise SessionOwnerMismatch if both the session and the request name a user, and the two differ."""
    if head is not None and user_id and head.user_id and user_id != head.user_id:
        raise SessionOwnerMismatch()


def claim(journal: Journal, key: SessionKey, user_id: str) -> None:
    """Create the session if it does not exist, and set its user if it has none.

    A layer calls this before it stores something other than messages in the session. It waits for the commit if there
    is one. An empty session id is ignored.
    """
    if not key.session_id:
        return
    head = journal.head(key)
    check_owner(head, user_id)
    if head is None or (user_id and not head.user_id):
        submit_and_wait(journal, Claim(key, user_id))
