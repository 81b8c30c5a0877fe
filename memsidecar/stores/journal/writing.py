"""The one writer: a group of commands becomes transactions, durable first, then visible, then answered."""

import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memsidecar.domain.errors import DiskFull, FatalStoreError, SidecarError
from memsidecar.domain.session import Head, SessionKey
from memsidecar.stores.contract import Append, Change, Ticket
from memsidecar.stores.journal.checkpoints import Checkpoints
from memsidecar.stores.journal.connection import rolled_back, translate
from memsidecar.stores.journal.erase import Erasing
from memsidecar.stores.journal.erasing import Erasures
from memsidecar.stores.journal.files import Ballast, HighWaterMark
from memsidecar.stores.journal.identity import SeenIds, find_known, id_hash
from memsidecar.stores.journal.rows import last_lsn
from memsidecar.stores.journal.staging import Numbers, Stage
from memsidecar.stores.journal.verbs import VERBS

log = logging.getLogger(__name__)

HEADS_KEPT = 4_096
IDS_KEPT = 262_144  # some 16 MB
# Each size of group is a statement of its own, which stays prepared: larger ones would add up to tens of megabytes.
ROWS_PER_STATEMENT = 32
_ROW = f"({', '.join('?' * 16)})"
SESSION_COLUMN, ID_HASH_COLUMN = 1, 9  # of a row of `incoming`


class Writer:
    """Works on the committer's thread only, but for `wait_until_published` and `published_lsn`: any thread may."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, mark: HighWaterMark, ballast: Ballast, checkpoint_bytes: int
    ) -> None:
        self._connection = connection
        self._path = path
        self._mark = mark
        self._ballast = ballast
        self._checkpoints = Checkpoints(connection, path, checkpoint_bytes)
        self.erasures = Erasures(connection, path, ballast, self._checkpoints)
        self._heads: dict[SessionKey, Head] = {}
        self._seen = SeenIds(IDS_KEPT)
        self._listener: Callable[[Sequence[Change]], None] = lambda _: None
        self._failed = False
        self.published_lsn = last_lsn(connection)
        (last_number,) = connection.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence").fetchone()
        self._next_number = last_number + 1

    def listen(self, listener: Callable[[Sequence[Change]], None]) -> None:
        self._listener = listener

    def write(self, group: Sequence[Ticket]) -> None:
        """Commit the group in as few transactions as its order allows; every ticket is settled."""
        waiting = deque(group)
        while waiting:
            self._commit(self._stage(waiting))
        self._checkpoints.run_when_due()
        self._forget_cold_heads()

    def _stage(self, waiting: deque[Ticket]) -> Stage:
        stage = Stage(self._connection, self._path, self._heads, Numbers(self.published_lsn, self._next_number))
        admitted: list[Ticket] = []
        while waiting and stage.admits(waiting[0].command):
            admitted.append(waiting.popleft())
        try:
            stage.known.update(find_known(self._connection, self._asked(stage, admitted)))
        except sqlite3.Error as error:
            self._refuse(admitted, error)
            return stage
        for ticket in admitted:
            self._take(stage, ticket)
        return stage

    def _asked(self, stage: Stage, tickets: Sequence[Ticket]) -> list[int]:
        """Session and hash of every id that is about to be appended, so that one query serves the whole group."""
        asked: list[int] = []
        for ticket in tickets:
            command = ticket.command
            if isinstance(command, Append) and (head := stage.head(command.key)) is not None:
                for draft in command.drafts:
                    hashed = id_hash(draft.id)
                    if not self._seen.is_new(head.number, hashed):
                        asked += (head.number, hashed)
        return asked

    def _take(self, stage: Stage, ticket: Ticket) -> None:
        try:
            stage.outcomes.append((ticket, VERBS[type(ticket.command)](stage, ticket.command)))
        except SidecarError as refusal:
            ticket.settle(error=refusal)
        except sqlite3.Error as error:
            self._refuse([ticket], error)
        except Exception as bug:  # commands carry code of their callers: what fails there must not spoil the group
            log.exception("a command failed")
            ticket.settle(error=bug)

    def _commit(self, stage: Stage) -> None:
        try:
            self._execute_finding_room(stage)
        except sqlite3.Error as error:
            self._refuse([ticket for ticket, _ in stage.outcomes], error)
            return
        self._mark.note(stage.lsn)
        try:
            self._publish(stage)
        finally:
            # It is durable whatever a listener makes of it.
            self._settle(stage)

    def _execute_finding_room(self, stage: Stage) -> None:
        """On a full disk a checkpoint frees the write-ahead log; erasing may use up the ballast, too."""
        try:
            self._execute(stage)
        except sqlite3.Error as error:
            if not isinstance(translate(error, self._path), DiskFull):
                raise
            if any(isinstance(result, Erasing) for _, result in stage.outcomes):
                self._ballast.drop()
            self._checkpoints.make_room()
            self._execute(stage)

    def _execute(self, stage: Stage) -> None:
        if not stage.statements and len(stage.message_rows) <= ROWS_PER_STATEMENT:
            self._insert(stage.message_rows)
        else:
            self._execute_in_transaction(stage)
        self._checkpoints.wrote(len(stage.message_rows) + len(stage.statements), stage.body_bytes)

    def _execute_in_transaction(self, stage: Stage) -> None:
        with rolled_back(self._connection):
            self._connection.execute("BEGIN IMMEDIATE")
            for statement, parameters in stage.statements:
                self._connection.execute(statement, parameters)
            for start in range(0, len(stage.message_rows), ROWS_PER_STATEMENT):
                self._insert(stage.message_rows[start : start + ROWS_PER_STATEMENT])
            self._connection.execute("COMMIT")

    def _insert(self, message_rows: Sequence[Sequence[Any]]) -> None:
        if not message_rows:
            return
        parameters: list[Any] = []
        for row in message_rows:
            parameters += row
        self._connection.execute(f"INSERT INTO incoming VALUES {', '.join([_ROW] * len(message_rows))}", parameters)

    def _publish(self, stage: Stage) -> None:
        for key, head in stage.heads.items():
            if head is None:
                self._heads.pop(key, None)
            else:
                self._heads[key] = head
        self._note_ids(stage)
        self._next_number = stage.next_number
        try:
            if stage.changes:
                self._listener(stage.changes)
        finally:
            self.published_lsn = stage.lsn

    def _note_ids(self, stage: Stage) -> None:
        for number in range(self._next_number, stage.next_number):
            self._seen.begin(number)
        for row in stage.message_rows:
            self._seen.add(row[SESSION_COLUMN], row[ID_HASH_COLUMN])

    def _settle(self, stage: Stage) -> None:
        for ticket, result in stage.outcomes:
            if isinstance(result, Erasing):
                self.erasures.begin(ticket, result)
            else:
                ticket.settle(result)

    def _refuse(self, tickets: Sequence[Ticket], error: sqlite3.Error) -> None:
        problem = translate(error, self._path)
        for ticket in tickets:
            ticket.settle(error=problem)
        if isinstance(problem, FatalStoreError):
            raise problem from error

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
