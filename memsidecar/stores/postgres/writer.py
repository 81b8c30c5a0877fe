"""The writer: a group of commands -> locks -> transaction -> commit -> publish -> complete.

A lost connection is replaced. Whether the commit that was under way has taken effect, the server tells by the
transaction's id. If it has not, or if the transaction met a concurrent one, its commands are executed again.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import Connection, errors

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.quota import QuotaLookup
from memsidecar.domain.statistics import OperationStatistics
from memsidecar.stores.command_group import CommandGroup
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Append,
    Calibrate,
    Claim,
    DeleteDocument,
    DeleteRecord,
    Erase,
    EraseUser,
    ExpireMessages,
    ForgetMessages,
    ImportDocument,
    ImportMessages,
    ImportRecords,
    ImportSession,
    PendingCommand,
    PutDocument,
    SetPolicy,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
    UpsertRecords,
)
from memsidecar.stores.listeners import Listeners
from memsidecar.stores.postgres.append import append
from memsidecar.stores.postgres.append_statement import commit_appends
from memsidecar.stores.postgres.commit_outcome import resolve_appends, resolve_commit
from memsidecar.stores.postgres.connection import (
    CONFLICTS,
    MAX_TRIES,
    RETRY_SECONDS,
    ConnectionString,
    connect,
    is_lost,
    translate,
)
from memsidecar.stores.postgres.deletion_queue import DeletionQueue, PendingDeletion
from memsidecar.stores.postgres.documents import delete_document, put_document
from memsidecar.stores.postgres.erase import erase, erase_user
from memsidecar.stores.postgres.erase_messages import expire_messages, forget_messages
from memsidecar.stores.postgres.imports import import_document, import_records, import_session
from memsidecar.stores.postgres.known_heads import KnownHeads, KnownRows
from memsidecar.stores.postgres.leases import SidecarLease
from memsidecar.stores.postgres.locks import LockTargets, TargetsChanged, lock
from memsidecar.stores.postgres.message_import import import_messages
from memsidecar.stores.postgres.namespaces import NamespaceNumbers
from memsidecar.stores.postgres.publication import Publication
from memsidecar.stores.postgres.records import delete_record, upsert_records
from memsidecar.stores.postgres.related_locks import add_related
from memsidecar.stores.postgres.session_commands import (
    set_policy,
    update_message,
    update_window,
    update_window_exclusive,
)
from memsidecar.stores.postgres.task_state import add_dead_letter, advance_watermark, calibrate
from memsidecar.stores.postgres.transaction import PostgresTransaction
from memsidecar.stores.session_commands import claim

log = logging.getLogger(__name__)

RECONNECT_SECONDS = 0.1

COMMAND_HANDLERS: Mapping[type, Callable[[PostgresTransaction, Any], Any]] = {
    Append: append,
    UpdateMessage: update_message,
    UpdateWindow: update_window,
    UpdateWindowExclusive: update_window_exclusive,
    Claim: claim,
    SetPolicy: set_policy,
    Calibrate: calibrate,
    AdvanceWatermark: advance_watermark,
    AddDeadLetter: add_dead_letter,
    Erase: erase,
    EraseUser: erase_user,
    ForgetMessages: forget_messages,
    ExpireMessages: expire_messages,
    PutDocument: put_document,
    DeleteDocument: delete_document,
    UpsertRecords: upsert_records,
    DeleteRecord: delete_record,
    ImportSession: import_session,
    ImportMessages: import_messages,
    ImportRecords: import_records,
    ImportDocument: import_document,
}


class PostgresWriter:
    """Runs on the committer's thread."""

    def __init__(
        self,
        connection_string: ConnectionString,
        lease: SidecarLease | None,
        *,
        quotas: QuotaLookup,
        commits: OperationStatistics,
        prepare: bool = True,
    ) -> None:
        self._connection_string = connection_string
        self._prepare = prepare
        self._lease = lease
        self._connection: Connection | None = None
        self._numbers = NamespaceNumbers()
        self._known = KnownHeads()
        self._quotas = quotas
        self._commits = commits
        self.listeners = Listeners()
        self.publication = Publication()
        self.deletions = DeletionQueue(connection_string, prepare=prepare)

    def write(self, group: Sequence[PendingCommand]) -> None:
        """Commit the group in as few transactions as its order allows, and complete every command."""
        waiting = deque(group)
        while waiting:
            commands: list[PendingCommand] = []
            can_include = CommandGroup().can_include
            while waiting and can_include(waiting[0].command):
                commands.append(waiting.popleft())
            self._write_together(commands)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _write_together(self, commands: Sequence[PendingCommand]) -> None:
        """Execute commands in one transaction, again after a conflict or a lost connection."""
        deadline, conflicts = time.monotonic() + RETRY_SECONDS, 0
        while unfinished := [pending for pending in commands if not pending.done]:
            try:
                with self._commits.measured():
                    self._write_once(unfinished)
                return
            except SidecarError as error:
                self.close()
                _refuse(unfinished, error)
            except psycopg.Error as error:
                self.close()
                conflicts += not isinstance(error, TargetsChanged)
                is_conflict = isinstance(error, CONFLICTS) and time.monotonic() < deadline
                is_retried = is_conflict and conflicts < MAX_TRIES
                if is_lost(error) and time.monotonic() < deadline:
                    time.sleep(RECONNECT_SECONDS)
                elif not is_retried and len(unfinished) > 1 and not is_lost(error):
                    self._write_apart(unfinished)
                    return
                elif not is_retried:
                    log.warning("a transaction was refused: %s", error)
                    _refuse(unfinished, translate(error))

    def _write_apart(self, commands: Sequence[PendingCommand]) -> None:
        """Execute each command in a transaction of its own, so that one that fails spoils no other."""
        for pending in commands:
            self._write_together([pending])

    def _write_once(self, commands: Sequence[PendingCommand]) -> None:
        if self._append_at_once(commands):
            return
        connection = self._connected()
        targets = LockTargets()
        for pending in commands:
            targets.add_command(pending.command)
            add_related(connection, targets, pending.command)
        rows = lock(connection, self._numbers, targets, self._lease.fence if self._lease else None)
        transaction = PostgresTransaction(connection, rows, self._quotas)
        for pending in commands:
            self._handle(transaction, pending)
        if transaction.has_changes:
            self._commit(transaction)
        else:
            connection.execute("ROLLBACK")
            self._complete(transaction)

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = connect(self._connection_string, prepare=self._prepare)
        return self._connection

    def _append_at_once(self, commands: Sequence[PendingCommand]) -> bool:
        """Commit Appends to known sessions by one statement; return False if a transaction has to decide.

        It needs the lease: a policy has no version, so another process could have changed the ones that are known.
        """
        if self._lease is None:
            return False
        appends = [pending.command for pending in commands if isinstance(pending.command, Append)]
        rows = self._known.rows(appends) if len(appends) == len(commands) else None
        if rows is None:
            return False
        known = {key: head for key, head in rows.heads.items() if head is not None}
        transaction = PostgresTransaction(self._connected(), rows, self._quotas)
        try:
            results = [append(transaction, command) for command in appends]
        except SidecarError:
            return False
        if not transaction.only_appends:
            return False
        transaction.results += zip(commands, results, strict=True)
        with self.publication.of(transaction.namespaces):
            is_committed = self._commit_appends(transaction, known, self._lease.fence)
            if is_committed:
                self._publish(transaction)
        return is_committed

    def _commit_appends(self, transaction: PostgresTransaction, known: KnownRows, fence: Sequence[Any]) -> bool:
        is_committed = False
        try:
            is_committed = commit_appends(transaction, known, fence)
        except (errors.UniqueViolation, errors.NotNullViolation):
            pass  # a known id, or a quota
        except psycopg.Error as error:
            self.close()
            if not is_lost(error):
                raise
            is_committed = resolve_appends(self._connection_string, transaction, known)
        if not is_committed:
            self._known.forget(known)
        return is_committed

    def _handle(self, transaction: PostgresTransaction, pending: PendingCommand) -> None:
        try:
            result = COMMAND_HANDLERS[type(pending.command)](transaction, pending.command)
            transaction.results.append((pending, result))
        except SidecarError as refusal:
            pending.complete(error=refusal)
        except psycopg.Error:
            raise
        except Exception as bug:  # commands carry callbacks of their callers: a failure there must not spoil the group
            log.exception("a command failed")
            pending.complete(error=bug)

    def _commit(self, transaction: PostgresTransaction) -> None:
        with self.publication.of(transaction.namespaces):
            try:
                transaction.commit()
            except psycopg.Error as error:
                self.close()
                if not is_lost(error) or not resolve_commit(self._connection_string, transaction):
                    raise
            self._publish(transaction)

    def _publish(self, transaction: PostgresTransaction) -> None:
        self._known.remember(transaction)
        try:
            self.listeners.notify(transaction)
        finally:
            # The transaction is durable, also if a listener fails.
            self._complete(transaction)

    def _complete(self, transaction: PostgresTransaction) -> None:
        for pending, result in transaction.results:
            if isinstance(result, PendingDeletion):
                self.deletions.add(pending, result)
            else:
                pending.complete(result)


def _refuse(commands: Sequence[PendingCommand], error: SidecarError) -> None:
    for pending in commands:
        if not pending.done:
            pending.complete(error=error)
