"""Group -> transactions -> publish -> settle; command table."""

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
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Append,
    Calibrate,
    Claim,
    CommitEvent,
    DeleteDocument,
    DeleteRecord,
    Erase,
    PendingCommand,
    PutDocument,
    SetPolicy,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
    UpsertRecords,
)
from memsidecar.stores.sqlite.append import append
from memsidecar.stores.sqlite.bookkeeping import advance, calibrate, set_aside
from memsidecar.stores.sqlite.connection import rolled_back, translate, translated
from memsidecar.stores.sqlite.data_dir import Ballast, HighWaterMark
from memsidecar.stores.sqlite.documents import drop_document, put_document
from memsidecar.stores.sqlite.erase import erase
from memsidecar.stores.sqlite.records import drop_note, revise_notes
from memsidecar.stores.sqlite.rows import extent_of
from memsidecar.stores.sqlite.secure_delete import PendingPurge, PurgeQueue
from memsidecar.stores.sqlite.session_commands import claim, rewrite, set_policy, trim, trim_now
from memsidecar.stores.sqlite.transaction import ROWS_PER_STATEMENT, NextIds, Statement, Transaction, insertion
from memsidecar.stores.sqlite.wal import Checkpointer, DiskSpaceGuard, pages_of
from memsidecar.stores.sqlite.writer_state import QuotaUsage, SeenIds, find_known, id_hash

COMMAND_HANDLERS: dict[type, Callable[[Transaction, Any], Any]] = {
    Append: append,
    UpdateMessage: rewrite,
    UpdateWindow: trim,
    UpdateWindowExclusive: trim_now,
    Erase: erase,
    Claim: claim,
    SetPolicy: set_policy,
    Calibrate: calibrate,
    AdvanceWatermark: advance,
    AddDeadLetter: set_aside,
    PutDocument: put_document,
    DeleteDocument: drop_document,
    UpsertRecords: revise_notes,
    DeleteRecord: drop_note,
}

log = logging.getLogger(__name__)

HEADS_KEPT = 4_096
IDS_KEPT = 262_144  # some 16 MB
SESSION_COLUMN, ID_HASH_COLUMN = 1, 9  # of a row of `incoming`


class Writer:
    """Works on the committer's thread only; any thread may read `published_lsn` and the meter, and wait."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        mark: HighWaterMark,
        ballast: Ballast,
        *,
        checkpoint_bytes: int,
        quotas: QuotaLookup,
    ) -> None:
        self._connection = connection
        self._path = path
        self._mark = mark
        self._checkpoints = Checkpointer(connection, path, checkpoint_bytes)
        self._room = DiskSpaceGuard(connection, path, ballast, self._checkpoints)
        self.erasures = PurgeQueue(connection, path, self._room, self._checkpoints)
        self._heads: dict[SessionKey, SessionHead] = {}
        self._seen = SeenIds(IDS_KEPT)
        self.meter = QuotaUsage(connection, quotas)
        self._listeners: list[Callable[[Sequence[CommitEvent]], None]] = []
        self._failed = False
        self._numbers = next_numbers(connection)
        self.published_lsn = self._numbers.extent.lsn

    def listen(self, listener: Callable[[Sequence[CommitEvent]], None]) -> None:
        self._listeners.append(listener)

    def write(self, group: Sequence[PendingCommand]) -> None:
        """Commit the group in as few transactions as its order allows; every ticket is settled."""
        waiting = deque(group)
        while waiting:
            self._commit(self._stage(waiting))
        self._checkpoints.run_when_due()
        self._forget_cold_heads()

    def _stage(self, waiting: deque[PendingCommand]) -> Transaction:
        stage = Transaction(self._connection, self._path, self._heads, self._numbers, self.meter)
        admitted: list[PendingCommand] = []
        while waiting and stage.admits(waiting[0].command):
            admitted.append(waiting.popleft())
        try:
            stage.known.update(find_known(self._connection, self._asked(stage, admitted)))
        except sqlite3.Error as error:
            self._refuse(admitted, translate(error, self._path))
            return stage
        for ticket in admitted:
            self._take(stage, ticket)
        return stage

    def _asked(self, stage: Transaction, tickets: Sequence[PendingCommand]) -> list[int]:
        """Session and hash of every id that is about to be appended, so that one query serves the whole group."""
        asked: list[int] = []
        for ticket in tickets:
            command = ticket.command
            if isinstance(command, Append) and (head := stage.head(command.key)) is not None:
                for draft in command.drafts:
                    hashed = id_hash(draft.id)
                    if not self._seen.is_new(head.row_id, hashed):
                        asked += (head.row_id, hashed)
        return asked

    def _take(self, stage: Transaction, ticket: PendingCommand) -> None:
        try:
            stage.outcomes.append((ticket, COMMAND_HANDLERS[type(ticket.command)](stage, ticket.command)))
        except SidecarError as refusal:
            ticket.complete(error=refusal)
        except sqlite3.Error as error:
            self._refuse([ticket], translate(error, self._path))
        except Exception as bug:  # commands carry code of their callers: what fails there must not spoil the group
            log.exception("a command failed")
            ticket.complete(error=bug)

    def _commit(self, stage: Transaction) -> None:
        try:
            self._execute_finding_room(stage)
        except SidecarError as problem:
            self._refuse([ticket for ticket, _ in stage.outcomes], problem)
            return
        self._mark.note(stage.extent)
        try:
            self._publish(stage)
        finally:
            # It is durable whatever a listener makes of it.
            self._settle(stage)

    def _execute_finding_room(self, stage: Transaction) -> None:
        """On a full disk a checkpoint frees the write-ahead log; erasing may use up the ballast, too."""
        try:
            self._execute(stage)
        except DiskFull:
            self._room.make(spending=_erases(stage))
            self._execute(stage)

    def _execute(self, stage: Transaction) -> None:
        pages = pages_of(len(stage.message_rows) + len(stage.statements), stage.body_bytes)
        if not self._room.is_there_for(pages) and not _erases(stage):
            raise DiskFull()
        with translated(self._path):
            if stage.statements or len(stage.message_rows) > ROWS_PER_STATEMENT:
                self._execute_in_transaction(stage.in_order())
            elif stage.message_rows:
                self._connection.execute(*insertion(stage.message_rows))
        self._checkpoints.wrote(pages)

    def _execute_in_transaction(self, statements: Iterable[Statement]) -> None:
        with rolled_back(self._connection):
            self._connection.execute("BEGIN IMMEDIATE")
            for statement, parameters in statements:
                self._connection.execute(statement, parameters)
            self._connection.execute("COMMIT")

    def _publish(self, stage: Transaction) -> None:
        for key, head in stage.heads.items():
            if head is None:
                self._heads.pop(key, None)
            else:
                self._heads[key] = head
        self._note_ids(stage)
        self._numbers = stage.numbers
        self.meter.publish(stage.used)
        try:
            if stage.changes:
                self._tell(stage.changes)
        finally:
            self.published_lsn = stage.lsn

    def _tell(self, changes: Sequence[CommitEvent]) -> None:
        for listener in self._listeners:
            try:
                listener(changes)
            except Exception:  # one that fails must neither keep the others from it nor spoil the group
                log.exception("a listener failed")

    def _note_ids(self, stage: Transaction) -> None:
        for number in range(self._numbers.session, stage.next_number):
            self._seen.begin(number)
        for row in stage.message_rows:
            self._seen.add(row[SESSION_COLUMN], row[ID_HASH_COLUMN])

    def _settle(self, stage: Transaction) -> None:
        for ticket, result in stage.outcomes:
            if isinstance(result, PendingPurge):
                self.erasures.begin(ticket, result)
            else:
                ticket.complete(result)

    def _refuse(self, tickets: Sequence[PendingCommand], problem: SidecarError) -> None:
        for ticket in tickets:
            ticket.complete(error=problem)
        if isinstance(problem, FatalStoreError):
            raise problem

    def _forget_cold_heads(self) -> None:
        """Keep the map small; a head that is needed again is one row away."""
        while len(self._heads) > HEADS_KEPT:
            self._heads.pop(next(iter(self._heads)))

    def wait_until_published(self, lsn: int) -> None:
        """Wait until what a reader has seen on disk is what every other reader sees.

        A commit is on disk some microseconds before it is published; without this, one could read it in one call
        and miss it in the next.
        """
        while self.published_lsn < lsn and not self._failed:
            time.sleep(0.000_05)

    def fail(self, error: FatalStoreError) -> None:
        """Nothing will be published any more: nobody may go on waiting for it."""
        self._failed = True
        self.erasures.refuse_all(error)


def _erases(stage: Transaction) -> bool:
    return any(isinstance(ticket.command, Erase | DeleteDocument | DeleteRecord) for ticket, _ in stage.outcomes)


def next_numbers(connection: sqlite3.Connection) -> NextIds:
    given = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    (last_text,) = connection.execute("SELECT coalesce(max(number), 0) FROM texts").fetchone()
    return NextIds(extent_of(connection), given.get("sessions", 0) + 1, given.get("documents", 0) + 1, last_text + 1)
