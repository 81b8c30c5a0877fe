"""The writer: a group of commands -> transactions -> commit -> publish -> complete."""

import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from memsidecar.domain.errors import DiskFull, FatalStoreError, SidecarError
from memsidecar.domain.quota import QuotaLookup
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.domain.statistics import OperationStatistics
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
from memsidecar.stores.listeners import Listeners, erases
from memsidecar.stores.session_commands import claim
from memsidecar.stores.sqlite.append import append
from memsidecar.stores.sqlite.connection import rolled_back, translate, translated
from memsidecar.stores.sqlite.data_dir import Ballast, HighWaterMark
from memsidecar.stores.sqlite.documents import delete_document, put_document
from memsidecar.stores.sqlite.erase import erase, erase_user
from memsidecar.stores.sqlite.erase_messages import expire_messages, forget_messages
from memsidecar.stores.sqlite.imports import import_document, import_records, import_session
from memsidecar.stores.sqlite.message_import import import_messages
from memsidecar.stores.sqlite.page_slack import SlackCleaner
from memsidecar.stores.sqlite.records import delete_record, upsert_records
from memsidecar.stores.sqlite.rows import position_of
from memsidecar.stores.sqlite.schema import id_hash
from memsidecar.stores.sqlite.secure_delete import PendingPurge, PurgeQueue
from memsidecar.stores.sqlite.session_commands import (
    set_policy,
    update_message,
    update_window,
    update_window_exclusive,
)
from memsidecar.stores.sqlite.task_state import add_dead_letter, advance_watermark, calibrate
from memsidecar.stores.sqlite.transaction import ROWS_PER_STATEMENT, NextIds, Statement, Transaction, insertion
from memsidecar.stores.sqlite.wal import Checkpointer, DiskSpaceGuard, estimate_pages
from memsidecar.stores.sqlite.writer_state import QuotaUsage, SeenIds, find_existing

log = logging.getLogger(__name__)

MAX_CACHED_HEADS = 4_096
MAX_SEEN_IDS = 262_144  # about 16 MB
SESSION_COLUMN, ID_HASH_COLUMN = 1, 9  # of a row of `new_messages`

COMMAND_HANDLERS: dict[type, Callable[[Transaction, Any], Any]] = {
    Append: append,
    UpdateMessage: update_message,
    UpdateWindow: update_window,
    UpdateWindowExclusive: update_window_exclusive,
    Erase: erase,
    EraseUser: erase_user,
    ForgetMessages: forget_messages,
    ExpireMessages: expire_messages,
    Claim: claim,
    SetPolicy: set_policy,
    Calibrate: calibrate,
    AdvanceWatermark: advance_watermark,
    AddDeadLetter: add_dead_letter,
    PutDocument: put_document,
    DeleteDocument: delete_document,
    UpsertRecords: upsert_records,
    DeleteRecord: delete_record,
    ImportSession: import_session,
    ImportMessages: import_messages,
    ImportRecords: import_records,
    ImportDocument: import_document,
}


class Writer:
    """Runs on the committer's thread. Any thread may read `published_lsn` and `quota_usage`, and wait."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        mark: HighWaterMark,
        ballast: Ballast,
        slack: SlackCleaner,
        *,
        checkpoint_bytes: int,
        quotas: QuotaLookup,
        commits: OperationStatistics,
    ) -> None:
        self._commits = commits
        self._connection = connection
        self._path = path
        self._mark = mark
        self._checkpointer = Checkpointer(connection, path, checkpoint_bytes)
        self._disk_guard = DiskSpaceGuard(connection, path, ballast, self._checkpointer)
        self.purges = PurgeQueue(connection, path, self._disk_guard, self._checkpointer, slack)
        self._heads: dict[SessionKey, SessionHead] = {}
        self._seen_ids = SeenIds(MAX_SEEN_IDS)
        self.quota_usage = QuotaUsage(connection, quotas)
        self.listeners = Listeners()
        self._failed = False
        self._next_ids = _read_next_ids(connection)
        self.published_lsn = self._next_ids.position.lsn

    def write(self, group: Sequence[PendingCommand]) -> None:
        """Commit the group in as few transactions as its order allows, and complete every command."""
        waiting = deque(group)
        while waiting:
            self._commit(self._build(waiting))
        self._checkpointer.run_when_due()
        self._evict_heads()

    def _build(self, waiting: deque[PendingCommand]) -> Transaction:
        transaction = Transaction(self._connection, self._path, self._heads, self._next_ids, self.quota_usage)
        included: list[PendingCommand] = []
        while waiting and transaction.can_include(waiting[0].command):
            included.append(waiting.popleft())
        try:
            transaction.existing.update(
                find_existing(self._connection, self._possible_duplicates(transaction, included))
            )
        except sqlite3.Error as error:
            self._refuse(included, translate(error, self._path))
            return transaction
        for pending in included:
            self._handle(transaction, pending)
        return transaction

    def _possible_duplicates(self, transaction: Transaction, commands: Sequence[PendingCommand]) -> list[int]:
        """Return session and hash of every id that may exist already, so that one query serves the whole group."""
        pairs: list[int] = []
        for pending in commands:
            command = pending.command
            if isinstance(command, Append) and (head := transaction.head(command.key)) is not None:
                for draft in command.drafts:
                    hashed = id_hash(draft.id)
                    if not self._seen_ids.is_new(head.row_id, hashed):
                        pairs += (head.row_id, hashed)
        return pairs

    def _handle(self, transaction: Transaction, pending: PendingCommand) -> None:
        try:
            result = COMMAND_HANDLERS[type(pending.command)](transaction, pending.command)
            transaction.results.append((pending, result))
        except SidecarError as refusal:
            pending.complete(error=refusal)
        except sqlite3.Error as error:
            self._refuse([pending], translate(error, self._path))
        except Exception as bug:  # commands carry callbacks of their callers: a failure there must not spoil the group
            log.exception("a command failed")
            pending.complete(error=bug)

    def _commit(self, transaction: Transaction) -> None:
        try:
            self._execute_with_room(transaction)
        except SidecarError as error:
            self._refuse([pending for pending, _ in transaction.results], error)
            return
        self._mark.save(transaction.position)
        try:
            self._publish(transaction)
        finally:
            # The transaction is durable, also if a listener fails.
            self._complete(transaction)

    def _execute_with_room(self, transaction: Transaction) -> None:
        """Execute the transaction. On a full disk, make room first; an erasure may use up the ballast."""
        with self._commits.measured():
            try:
                self._execute(transaction)
            except DiskFull:
                self._disk_guard.make_room(spend_ballast=erases(transaction))
                self._execute(transaction)

    def _execute(self, transaction: Transaction) -> None:
        row_count = len(transaction.message_rows) + len(transaction.statements)
        pages = estimate_pages(row_count, transaction.body_bytes)
        with translated(self._path):
            if not self._disk_guard.has_room_for(pages) and not erases(transaction):
                raise DiskFull()
            if transaction.statements or len(transaction.message_rows) > ROWS_PER_STATEMENT:
                self._execute_in_transaction(transaction.all_statements())
            elif transaction.message_rows:
                # In autocommit mode this statement is the whole transaction: it returns after the fsync.
                self._connection.execute(*insertion(transaction.message_rows))
        self._checkpointer.wrote(pages)

    def _execute_in_transaction(self, statements: Iterable[Statement]) -> None:
        with rolled_back(self._connection):
            self._connection.execute("BEGIN IMMEDIATE")
            for statement, parameters in statements:
                self._connection.execute(statement, parameters)
            self._connection.execute("COMMIT")

    def _publish(self, transaction: Transaction) -> None:
        for key, head in transaction.heads.items():
            if head is None:
                self._heads.pop(key, None)
            else:
                self._heads[key] = head
        self._record_ids(transaction)
        self._next_ids = transaction.next_ids
        self.quota_usage.publish(transaction.usage)
        try:
            self.listeners.notify(transaction)
        finally:
            self.published_lsn = transaction.lsn

    def _record_ids(self, transaction: Transaction) -> None:
        for row_id in range(self._next_ids.session, transaction.next_session):
            self._seen_ids.start_session(row_id)
        for row in transaction.message_rows:
            self._seen_ids.add(row[SESSION_COLUMN], row[ID_HASH_COLUMN])
        for session, hashed in transaction.new_ids:
            self._seen_ids.add(session, hashed)

    def _complete(self, transaction: Transaction) -> None:
        for pending, result in transaction.results:
            if isinstance(result, PendingPurge):
                self.purges.add(pending, result)
            else:
                pending.complete(result)

    def _refuse(self, commands: Sequence[PendingCommand], error: SidecarError) -> None:
        for pending in commands:
            pending.complete(error=error)
        if isinstance(error, FatalStoreError):
            raise error

    def _evict_heads(self) -> None:
        """Bound the cache of heads; an evicted head is one row away."""
        while len(self._heads) > MAX_CACHED_HEADS:
            self._heads.pop(next(iter(self._heads)))

    def wait_until_published(self, lsn: int) -> None:
        """Wait until every reader sees what one reader has seen on disk.

        A commit is on disk some microseconds before it is published. Without this wait a caller could read it in one
        call and miss it in the next.
        """
        while self.published_lsn < lsn and not self._failed:
            time.sleep(0.000_05)

    def fail(self, error: FatalStoreError) -> None:
        """End all waits: nothing will be published any more."""
        self._failed = True
        self.purges.refuse_all(error)


def _read_next_ids(connection: sqlite3.Connection) -> NextIds:
    last_ids = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    (last_text,) = connection.execute("SELECT coalesce(max(row_id), 0) FROM texts").fetchone()
    return NextIds(
        position=position_of(connection),
        session=last_ids.get("sessions", 0) + 1,
        document=last_ids.get("documents", 0) + 1,
        text=last_text + 1,
    )
