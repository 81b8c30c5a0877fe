"""The handlers of Claim, SetPolicy, UpdateWindow and UpdateMessage."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.errors import NotFound
from memsidecar.domain.message import Flag, Role, StoredMessage
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
    UpdateWindowExclusive,
    VersionConflict,
    WindowUpdated,
)
from memsidecar.stores.log_kinds import LogKind
from memsidecar.stores.session_rows import policy_columns
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.schema import id_hash
from memsidecar.stores.sqlite.transaction import Entry, Transaction

_LISTED = "m.sequence IN (SELECT value FROM json_each(?))"
_READ_WINDOW = f"""SELECT m.lsn, m.displayed_lsn, {rows.DISPLAYED} FROM messages m
  WHERE m.session = ? AND {_LISTED} AND {rows.IN_WINDOW}"""
_OLDEST = f"""SELECT m.sequence FROM messages m WHERE m.session = ? AND m.sequence >= ? AND m.role <> {int(Role.SYSTEM)}
  AND {rows.IN_WINDOW} AND NOT {_LISTED} ORDER BY m.sequence LIMIT 1"""
_SHORTEN = "UPDATE messages SET displayed_lsn = ?, displayed_tokens = ?, flags = ? WHERE session = ? AND sequence = ?"
_PRUNE = f"UPDATE messages AS m SET flags = flags | {int(Flag.PRUNED)} WHERE m.session = ? AND {_LISTED}"

_FIND = """SELECT m.lsn, m.displayed_lsn FROM messages m INDEXED BY message_ids JOIN log l ON l.lsn = m.lsn
  WHERE m.session = ? AND m.id_hash = ? AND l.id = ?"""
_READ_VERSION = """SELECT {columns}, l.body, l.crc FROM log l
  JOIN messages m ON m.session = l.session AND m.sequence = l.sequence WHERE l.lsn = ?"""
_SAVE_UPDATE = "UPDATE messages SET lsn = ?, displayed_lsn = ?, flags = ?, score = ? WHERE session = ? AND sequence = ?"
_ADD_BYTES = "UPDATE sessions SET bytes = bytes + ? WHERE row_id = ?"

# Flags that only the journal sets: a revision cannot change them.
_JOURNAL_FLAGS = Flag.PRUNED | Flag.SHORTENED | Flag.LEARNED


def claim(transaction: Transaction, command: Claim) -> SessionHead:
    before = transaction.head(command.key)
    head = _claimed(transaction, command.key, command.user_id)
    if before is None or before.user_id != head.user_id:
        transaction.save_session(head)
        transaction.events.append(CommitEvent(head.key, head))
    return head


def _claimed(transaction: Transaction, key: SessionKey, user_id: str) -> SessionHead:
    """Return a copy of the session with this user, or a new session. The caller saves it."""
    before = transaction.head(key)
    if before is None:
        transaction.reserve_quota(key.namespace, Usage(sessions=1))
        return transaction.new_session(key, user_id)
    head = claimed_copy(before, user_id)
    transaction.log_claim(before, head)
    return head


def set_policy(transaction: Transaction, command: SetPolicy) -> PolicySet:
    head = _claimed(transaction, command.key, command.user_id) if command.key.session_id else None
    if head is not None:
        head.policy = command.policy
        transaction.save_session(head)
        transaction.events.append(CommitEvent(head.key, head))
    save_policy(transaction, command.key, command.policy)
    return PolicySet(head)


def save_policy(transaction: Transaction, key: SessionKey, policy: Policy | None) -> None:
    if policy is None:
        transaction.add_statement("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *key)
        return
    columns = policy_columns(policy)
    transaction.add_statement("INSERT OR REPLACE INTO policies VALUES (?, ?, ?, ?, ?, ?, ?)", *key, *columns)


class _WindowMessage(NamedTuple):
    """A message of the window without its body, and the lsns of its versions."""

    lsn: int
    displayed_lsn: int
    message: StoredMessage


def update_window(transaction: Transaction, command: UpdateWindow) -> WindowUpdated:
    published = transaction.head(command.key)
    if published is None or published.version != command.expected_version:
        raise VersionConflict("the session has changed")
    head, removed = published.copy(), sorted(set(command.removed))
    window = _read_window(transaction, head, {*removed, *(message.sequence for message in command.shortened)})
    window_start = _window_start(transaction, head, removed)
    replaced = [_shorten(transaction, head, message, window) for message in command.shortened]
    if removed:
        _remove(transaction, head, [window[sequence].message for sequence in removed])
        head.window_start = window_start
    transaction.save_session(head)
    transaction.events.append(CommitEvent(head.key, head, removed=removed, replaced=replaced))
    return WindowUpdated(head, command.result)


def update_window_exclusive(transaction: Transaction, command: UpdateWindowExclusive) -> WindowUpdated:
    return update_window(transaction, command.decide())


def _read_window(transaction: Transaction, head: SessionHead, sequences: set[int]) -> dict[int, _WindowMessage]:
    found = transaction.connection.execute(_READ_WINDOW, (head.row_id, json.dumps(sorted(sequences))))
    messages = [
        _WindowMessage(lsn, displayed_lsn, StoredMessage._make((*columns, b"")))
        for lsn, displayed_lsn, *columns in found
    ]
    window = {each.message.sequence: each for each in messages}
    if missing := sequences - window.keys():
        raise NotFound(f"message {min(missing)} is not in the window")
    return window


def _window_start(transaction: Transaction, head: SessionHead, removed: Sequence[int]) -> int:
    parameters = (head.row_id, head.window_start, json.dumps(removed))
    oldest = transaction.connection.execute(_OLDEST, parameters).fetchone()
    return int(oldest[0]) if oldest else head.last_sequence + 1


def _shorten(
    transaction: Transaction, head: SessionHead, shortened: StoredMessage, window: dict[int, _WindowMessage]
) -> StoredMessage:
    """Display this version in place of the original, which is kept; an earlier shortened version is not."""
    sequence = shortened.sequence
    lsn, displayed_lsn, before = window[sequence]
    displayed = before._replace(tokens=shortened.tokens, flags=before.flags | Flag.SHORTENED, body=shortened.body)
    prev = None if displayed_lsn == lsn else displayed_lsn
    displayed_lsn = transaction.log_entry(head, Entry(LogKind.SHORTENING, shortened.body, sequence, prev=prev))
    transaction.add_statement(_SHORTEN, displayed_lsn, displayed.tokens, displayed.flags, head.row_id, sequence)
    head.tokens[displayed.role - 1] += displayed.tokens - before.tokens
    window[sequence] = _WindowMessage(lsn, displayed_lsn, displayed)
    return displayed


def _remove(transaction: Transaction, head: SessionHead, removed: Sequence[StoredMessage]) -> None:
    for message in removed:
        head.count(message.role, message.tokens, sign=-1)
    head.pruned_count += len(removed)
    newest, sequences = removed[-1].sequence, json.dumps([message.sequence for message in removed])
    transaction.log_entry(head, Entry(LogKind.PRUNE, sequences.encode(), newest))
    transaction.add_statement(_PRUNE, head.row_id, sequences)


class StoredVersions(NamedTuple):
    """Both versions of a message, with their lsns; they are the same unless the message was shortened."""

    id: str
    lsn: int
    displayed_lsn: int
    original: StoredMessage
    displayed: StoredMessage

    @property
    def is_shortened(self) -> bool:
        return self.displayed_lsn != self.lsn


def find_versions(connection: sqlite3.Connection, path: Path, session: int, message_id: str) -> StoredVersions | None:
    row = connection.execute(_FIND, (session, id_hash(message_id), message_id)).fetchone()
    if row is None:
        return None
    lsn, displayed_lsn = row
    return StoredVersions(
        id=message_id,
        lsn=lsn,
        displayed_lsn=displayed_lsn,
        original=_read_version(connection, path, lsn, rows.ORIGINAL),
        displayed=_read_version(connection, path, displayed_lsn, rows.DISPLAYED),
    )


def _read_version(connection: sqlite3.Connection, path: Path, lsn: int, columns: str) -> StoredMessage:
    row = connection.execute(_READ_VERSION.format(columns=columns), (lsn,)).fetchone()
    return rows.message_of(row, path)


def update_message(transaction: Transaction, command: UpdateMessage) -> MessageUpdated:
    before = transaction.head(command.key)
    if before is None:
        raise _missing(command.message_id)
    head = claimed_copy(before, command.user_id)
    versions = find_versions(transaction.connection, transaction.path, head.row_id, command.message_id)
    if versions is None:
        raise _missing(command.message_id)
    original = command.revise(versions.original)
    displayed = command.revise(versions.displayed) if versions.is_shortened else original
    flags = original.flags & ~_JOURNAL_FLAGS | versions.displayed.flags & _JOURNAL_FLAGS
    message = versions.displayed._replace(body=displayed.body, flags=flags, score=original.score)
    growth = len(original.body) - len(versions.original.body)
    transaction.reserve_quota(head.key.namespace, Usage(bytes=growth))
    transaction.log_claim(before, head)
    _save_update(transaction, head, versions, original, message)
    transaction.save_session(head)
    transaction.add_statement(_ADD_BYTES, growth, head.row_id)
    transaction.events.append(CommitEvent(head.key, head, replaced=(message,)))
    return MessageUpdated(head, message)


def _missing(message_id: str) -> NotFound:
    return NotFound(f"there is no message {message_id!r} in this session")


def _save_update(
    transaction: Transaction, head: SessionHead, versions: StoredVersions, original: Revision, message: StoredMessage
) -> None:
    sequence = message.sequence
    annotation = Entry(LogKind.ANNOTATION, original.body, sequence, versions.id, versions.lsn)
    lsn = displayed_lsn = transaction.log_entry(head, annotation)
    if versions.is_shortened:
        shortening = Entry(LogKind.SHORTENING, message.body, sequence, prev=versions.displayed_lsn)
        displayed_lsn = transaction.log_entry(head, shortening)
    transaction.add_statement(_SAVE_UPDATE, lsn, displayed_lsn, message.flags, message.score, head.row_id, sequence)
