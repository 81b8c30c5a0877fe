"""Claim, SetPolicy, UpdateWindow and UpdateMessage: what they check and change, on the rows of any store."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from memsidecar.domain.errors import NotFound
from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import Policy, SessionHead, SessionKey, claimed_copy
from memsidecar.stores.contract import (
    Claim,
    CommitEvent,
    MessageUpdated,
    PolicySet,
    Revision,
    SetPolicy,
    UpdateMessage,
    UpdateWindow,
    VersionConflict,
    WindowUpdated,
)

# Flags that only the journal sets: a revision cannot change them.
_JOURNAL_FLAGS = Flag.PRUNED | Flag.SHORTENED | Flag.LEARNED


class SessionTransaction(Protocol):
    """The part of a store's transaction that commands of sessions use."""

    @property
    def events(self) -> list[CommitEvent]: ...

    def head(self, key: SessionKey) -> SessionHead | None: ...

    def new_session(self, key: SessionKey, user_id: str) -> SessionHead: ...

    def reserve_quota(self, namespace: str, change: Usage) -> None: ...

    def log_claim(self, before: SessionHead, head: SessionHead) -> None: ...

    def save_session(self, head: SessionHead) -> None: ...


class WindowRows(Protocol):
    """The messages of a window update. Each change adds an entry to the log, whose lsn becomes the head's version."""

    def find(self, head: SessionHead, sequences: set[int]) -> Mapping[int, StoredMessage]:
        """Return those messages of the window, without bodies."""

    def find_start(self, head: SessionHead, removed: Sequence[int]) -> int:
        """Return the sequence of the oldest message, not of the system, that stays in the window."""

    def shorten(self, head: SessionHead, displayed: StoredMessage) -> None:
        """Display this version in place of the original, which is kept; an earlier shortened version is not."""

    def prune(self, head: SessionHead, removed: Sequence[StoredMessage]) -> None: ...


class Versions(Protocol):
    """Both versions of a message; they are the same unless the message was shortened."""

    @property
    def original(self) -> StoredMessage: ...

    @property
    def displayed(self) -> StoredMessage: ...

    @property
    def is_shortened(self) -> bool: ...


V = TypeVar("V", bound=Versions)


class MessageRows(Protocol, Generic[V]):
    """The rows of a message that is annotated."""

    def find(self, head: SessionHead, message_id: str) -> V | None: ...

    def save(self, head: SessionHead, versions: V, original: Revision, displayed: StoredMessage) -> None:
        """Store both versions and log the annotation; its lsn becomes the head's version."""


def claim(transaction: SessionTransaction, command: Claim) -> SessionHead:
    before = transaction.head(command.key)
    head = _claimed(transaction, command.key, command.user_id)
    if before is None or before.user_id != head.user_id:
        transaction.save_session(head)
        transaction.events.append(CommitEvent(head.key, head))
    return head


def _claimed(transaction: SessionTransaction, key: SessionKey, user_id: str) -> SessionHead:
    """Return a copy of the session with this user, or a new session. The caller saves it."""
    before = transaction.head(key)
    if before is None:
        transaction.reserve_quota(key.namespace, Usage(sessions=1))
        return transaction.new_session(key, user_id)
    head = claimed_copy(before, user_id)
    transaction.log_claim(before, head)
    return head


def set_policy(
    transaction: SessionTransaction, command: SetPolicy, save_policy: Callable[[SessionKey, Policy | None], None]
) -> PolicySet:
    head = _claimed(transaction, command.key, command.user_id) if command.key.session_id else None
    if head is not None:
        head.policy = command.policy
        transaction.save_session(head)
        transaction.events.append(CommitEvent(head.key, head))
    save_policy(command.key, command.policy)
    return PolicySet(head)


def update_window(transaction: SessionTransaction, command: UpdateWindow, rows: WindowRows) -> WindowUpdated:
    published = transaction.head(command.key)
    if published is None or published.version != command.expected_version:
        raise VersionConflict("the session has changed")
    head, removed = published.copy(), sorted(set(command.removed))
    window = _read_window(rows, head, {*removed, *(message.sequence for message in command.shortened)})
    window_start = rows.find_start(head, removed)
    replaced = [_shorten(rows, head, message, window) for message in command.shortened]
    if removed:
        _remove(rows, head, [window[sequence] for sequence in removed])
        head.window_start = window_start
    transaction.save_session(head)
    transaction.events.append(CommitEvent(head.key, head, removed=removed, replaced=replaced))
    return WindowUpdated(head, command.result)


def _read_window(rows: WindowRows, head: SessionHead, sequences: set[int]) -> dict[int, StoredMessage]:
    window = dict(rows.find(head, sequences))
    if missing := sequences - window.keys():
        raise NotFound(f"message {min(missing)} is not in the window")
    return window


def _shorten(
    rows: WindowRows, head: SessionHead, shortened: StoredMessage, window: dict[int, StoredMessage]
) -> StoredMessage:
    before = window[shortened.sequence]
    displayed = before._replace(tokens=shortened.tokens, flags=before.flags | Flag.SHORTENED, body=shortened.body)
    rows.shorten(head, displayed)
    head.tokens[displayed.role - 1] += displayed.tokens - before.tokens
    window[shortened.sequence] = displayed
    return displayed


def _remove(rows: WindowRows, head: SessionHead, removed: Sequence[StoredMessage]) -> None:
    for message in removed:
        head.count(message.role, message.tokens, sign=-1)
    head.pruned_count += len(removed)
    rows.prune(head, removed)


def update_message(transaction: SessionTransaction, command: UpdateMessage, rows: MessageRows[V]) -> MessageUpdated:
    before = transaction.head(command.key)
    head = claimed_copy(before, command.user_id) if before else None
    versions = rows.find(head, command.message_id) if head else None
    if before is None or head is None or versions is None:
        raise NotFound(f"there is no message {command.message_id!r} in this session")
    original = command.revise(versions.original)
    displayed = command.revise(versions.displayed) if versions.is_shortened else original
    flags = original.flags & ~_JOURNAL_FLAGS | versions.displayed.flags & _JOURNAL_FLAGS
    message = versions.displayed._replace(body=displayed.body, flags=flags, score=original.score)
    growth = len(original.body) - len(versions.original.body)
    transaction.reserve_quota(head.key.namespace, Usage(bytes=growth))
    transaction.log_claim(before, head)
    rows.save(head, versions, original, message)
    transaction.save_session(head)
    transaction.events.append(CommitEvent(head.key, head, replaced=(message,)))
    return MessageUpdated(head, message)
