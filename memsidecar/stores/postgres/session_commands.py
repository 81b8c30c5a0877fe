"""The rows of SetPolicy, UpdateWindow and UpdateMessage."""

from collections.abc import Mapping, Sequence
from functools import partial

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
from memsidecar.stores.postgres import rows
from memsidecar.stores.postgres.transaction import PostgresTransaction
from memsidecar.stores.session_rows import policy_columns

_READ_WINDOW = f"""SELECT {rows.DISPLAYED}, ''::bytea FROM messages m
  WHERE m.session = %s AND m.sequence = ANY(%s) AND {rows.IN_WINDOW}"""
_OLDEST = f"""SELECT m.sequence FROM messages m
  WHERE m.session = %s AND m.sequence >= %s AND m.role <> {int(Role.SYSTEM)}
    AND {rows.IN_WINDOW} AND m.sequence <> ALL(%s) ORDER BY m.sequence LIMIT 1"""
_SHORTEN = """UPDATE messages SET displayed_body = %s, displayed_tokens = %s, flags = %s
  WHERE session = %s AND sequence = %s"""
_PRUNE = f"UPDATE messages SET flags = flags | {int(Flag.PRUNED)} WHERE session = %s AND sequence = ANY(%s)"
_SAVE_UPDATE = """UPDATE messages SET body = %s, displayed_body = %s, flags = %s, score = %s
  WHERE session = %s AND sequence = %s"""
_DELETE_POLICY = "DELETE FROM policies WHERE namespace = %s AND session_id = %s"
_SAVE_POLICY = """INSERT INTO policies VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT(namespace, session_id)
  DO UPDATE SET (auto_prune_tokens, strategy, model, summarize, retention) = ROW(
    excluded.auto_prune_tokens, excluded.strategy, excluded.model, excluded.summarize, excluded.retention)"""


def set_policy(transaction: PostgresTransaction, command: SetPolicy) -> PolicySet:
    return session_commands.set_policy(transaction, command, partial(save_policy, transaction))


def save_policy(transaction: PostgresTransaction, key: SessionKey, policy: Policy | None) -> None:
    name = (transaction.number(key.namespace), key.session_id)
    if policy is None:
        transaction.add_statement(_DELETE_POLICY, *name)
    else:
        transaction.add_statement(_SAVE_POLICY, *name, *policy_columns(policy))


def update_window(transaction: PostgresTransaction, command: UpdateWindow) -> WindowUpdated:
    return session_commands.update_window(transaction, command, _WindowRows(transaction))


def update_window_exclusive(transaction: PostgresTransaction, command: UpdateWindowExclusive) -> WindowUpdated:
    return update_window(transaction, command.decide())


def update_message(transaction: PostgresTransaction, command: UpdateMessage) -> MessageUpdated:
    return session_commands.update_message(transaction, command, _MessageRows(transaction))


class _WindowRows:
    def __init__(self, transaction: PostgresTransaction) -> None:
        self._transaction = transaction

    def find(self, head: SessionHead, sequences: set[int]) -> Mapping[int, StoredMessage]:
        found = self._transaction.connection.execute(_READ_WINDOW, (head.row_id, sorted(sequences)))
        return {message.sequence: message for message in map(rows.message_of, found)}

    def find_start(self, head: SessionHead, removed: Sequence[int]) -> int:
        parameters = (head.row_id, head.window_start, list(removed))
        oldest = self._transaction.connection.execute(_OLDEST, parameters).fetchone()
        return int(oldest[0]) if oldest else head.last_sequence + 1

    def shorten(self, head: SessionHead, displayed: StoredMessage) -> None:
        self._transaction.log_entry(head, LogKind.SHORTENING, displayed.sequence)
        columns = (displayed.body, displayed.tokens, displayed.flags)
        self._transaction.add_statement(_SHORTEN, *columns, head.row_id, displayed.sequence)

    def prune(self, head: SessionHead, removed: Sequence[StoredMessage]) -> None:
        self._transaction.log_entry(head, LogKind.PRUNE, removed[-1].sequence)
        self._transaction.add_statement(_PRUNE, head.row_id, [message.sequence for message in removed])


class _MessageRows:
    def __init__(self, transaction: PostgresTransaction) -> None:
        self._transaction = transaction

    def find(self, head: SessionHead, message_id: str) -> rows.VersionPair | None:
        return rows.find_versions(self._transaction.connection, head.row_id, message_id)

    def save(self, head: SessionHead, versions: rows.VersionPair, original: Revision, displayed: StoredMessage) -> None:
        """Store both versions. The shortened one has no entry of its own: nothing reads it from the log."""
        transaction = self._transaction
        transaction.log_entry(head, LogKind.ANNOTATION, displayed.sequence)
        shortened = displayed.body if versions.is_shortened else None
        columns = (original.body, shortened, displayed.flags, displayed.score)
        transaction.add_statement(_SAVE_UPDATE, *columns, head.row_id, displayed.sequence)
        transaction.add_bytes(head.row_id, len(original.body) - len(versions.original.body))
