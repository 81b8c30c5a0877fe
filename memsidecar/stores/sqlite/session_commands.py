"""The rows of SetPolicy, UpdateWindow and UpdateMessage."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.message import Flag, Role, StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores import session_commands
from memsidecar.stores.contract import (
    MessageUpdated,
    PolicySet,
    Revision,
    SetPolicy,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
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


def set_policy(transaction: Transaction, command: SetPolicy) -> PolicySet:
    return session_commands.set_policy(transaction, command, partial(save_policy, transaction))


def save_policy(transaction: Transaction, key: SessionKey, policy: Policy | None) -> None:
    if policy is None:
        transaction.add_statement("DELETE FROM policies WHERE namespace = ? AND session_id = ?", *key)
        return
    columns = policy_columns(policy)
    transaction.add_statement("INSERT OR REPLACE INTO policies VALUES (?, ?, ?, ?, ?, ?, ?)", *key, *columns)


def update_window(transaction: Transaction, command: UpdateWindow) -> WindowUpdated:
    return session_commands.update_window(transaction, command, _WindowRows(transaction))


def update_window_exclusive(transaction: Transaction, command: UpdateWindowExclusive) -> WindowUpdated:
    return update_window(transaction, command.decide())


class _WindowRows:
    """The messages of a window update. It knows the lsns of their versions, original and displayed."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._lsns: dict[int, tuple[int, int]] = {}

    def find(self, head: SessionHead, sequences: set[int]) -> Mapping[int, StoredMessage]:
        parameters = (head.row_id, json.dumps(sorted(sequences)))
        found: dict[int, StoredMessage] = {}
        for lsn, displayed_lsn, *columns in self._transaction.connection.execute(_READ_WINDOW, parameters):
            message = StoredMessage._make((*columns, b""))
            found[message.sequence], self._lsns[message.sequence] = message, (lsn, displayed_lsn)
        return found

    def find_start(self, head: SessionHead, removed: Sequence[int]) -> int:
        parameters = (head.row_id, head.window_start, json.dumps(removed))
        oldest = self._transaction.connection.execute(_OLDEST, parameters).fetchone()
        return int(oldest[0]) if oldest else head.last_sequence + 1

    def shorten(self, head: SessionHead, displayed: StoredMessage) -> None:
        sequence = displayed.sequence
        lsn, displayed_lsn = self._lsns[sequence]
        prev = None if displayed_lsn == lsn else displayed_lsn
        displayed_lsn = self._transaction.log_entry(
            head, Entry(LogKind.SHORTENING, displayed.body, sequence, prev=prev)
        )
        self._lsns[sequence] = lsn, displayed_lsn
        columns = (displayed_lsn, displayed.tokens, displayed.flags)
        self._transaction.add_statement(_SHORTEN, *columns, head.row_id, sequence)

    def prune(self, head: SessionHead, removed: Sequence[StoredMessage]) -> None:
        newest, sequences = removed[-1].sequence, json.dumps([message.sequence for message in removed])
        self._transaction.log_entry(head, Entry(LogKind.PRUNE, sequences.encode(), newest))
        self._transaction.add_statement(_PRUNE, head.row_id, sequences)


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
    return session_commands.update_message(transaction, command, _MessageRows(transaction))


class _MessageRows:
    """The log entries of a message that is annotated. A superseded version loses its body."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def find(self, head: SessionHead, message_id: str) -> StoredVersions | None:
        return find_versions(self._transaction.connection, self._transaction.path, head.row_id, message_id)

    def save(self, head: SessionHead, versions: StoredVersions, original: Revision, displayed: StoredMessage) -> None:
        transaction, sequence = self._transaction, displayed.sequence
        annotation = Entry(LogKind.ANNOTATION, original.body, sequence, versions.id, versions.lsn)
        lsn = displayed_lsn = transaction.log_entry(head, annotation)
        if versions.is_shortened:
            shortening = Entry(LogKind.SHORTENING, displayed.body, sequence, prev=versions.displayed_lsn)
            displayed_lsn = transaction.log_entry(head, shortening)
        columns = (lsn, displayed_lsn, displayed.flags, displayed.score)
        transaction.add_statement(_SAVE_UPDATE, *columns, head.row_id, sequence)
        transaction.add_statement(_ADD_BYTES, len(original.body) - len(versions.original.body), head.row_id)
