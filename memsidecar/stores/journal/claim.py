"""Claim: there is a session, and it is its user's, before anything but messages is kept in it."""

from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Head, SessionKey
from memsidecar.stores.contract import Change, Claim
from memsidecar.stores.journal.staging import Stage, owned


def claim(stage: Stage, command: Claim) -> Head:
    before = stage.head(command.key)
    head = claimed(stage, command.key, command.user_id)
    if before is None or before.user_id != head.user_id:
        stage.keep(head)
        stage.changes.append(Change(head.key, head))
    return head


def claimed(stage: Stage, key: SessionKey, user_id: str) -> Head:
    """The session as this user's, to be kept; a new one where there is none."""
    before = stage.head(key)
    if before is None:
        stage.book(key.namespace, Usage(sessions=1))
        return stage.new(key, user_id)
    head = owned(before, user_id)
    stage.claim(before, head)
    return head
