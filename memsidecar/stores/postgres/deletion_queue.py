"""Deletion of erased rows, in steps of bounded size."""

import logging
import time
from collections import deque
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection

from memsidecar.domain.errors import ShuttingDown, SidecarError
from memsidecar.stores.contract import PendingCommand
from memsidecar.stores.postgres.connection import ConnectionString, connect, translate

log = logging.getLogger(__name__)

MAX_ROWS_PER_STEP = 1_000
"They take about 15 milliseconds, in which this process commits no command."
RETRY_SECONDS = 0.1
MAX_WAIT_SECONDS = 5.0
LOOK_SECONDS = 60.0
"How often a process looks for what another one has left."

_DELETE = """WITH erased AS (
    SELECT {parent}, {place} FROM {table} WHERE {parent} = %s ORDER BY {place} LIMIT %s FOR UPDATE SKIP LOCKED
  ) DELETE FROM {table} t USING erased e WHERE t.{parent} = e.{parent} AND t.{place} = e.{place}"""
_FINISH = """DELETE FROM {list} WHERE row_id = %(row_id)s
  AND NOT EXISTS (SELECT FROM {table} WHERE {parent} = %(row_id)s)"""
_IS_LISTED = "SELECT FROM {list} WHERE row_id = %s"


class _Rows(NamedTuple):
    """A table, the columns of its key, and the table that lists which of its rows are erased."""

    table: str
    parent: str
    place: str
    list: str

    def statement(self, template: str) -> str:
        return template.format(**self._asdict())


class ErasedRows(Enum):
    MESSAGES = _Rows("messages", "session", "sequence", "erased_sessions")
    CHUNKS = _Rows("chunks", "document", "place", "erased_documents")


class Deletion(NamedTuple):
    """The messages of an erased session, or the chunks of an erased document. No read finds them any more."""

    rows: ErasedRows
    row_id: int


class PendingDeletion(NamedTuple):
    """A command's result, to be returned when all these rows are deleted; without any, all that are listed."""

    deletions: Sequence[Deletion]
    result: Any


class _Waiting(NamedTuple):
    pending: PendingCommand
    result: Any
    left: set[Deletion]
    since: float


def add_erased(row_ids: Sequence[int], rows: ErasedRows) -> tuple[str, list[int]]:
    """Return the statement that lists erased rows in the transaction of the erasure, and its parameter."""
    return f"INSERT INTO {rows.value.list} SELECT unnest(%s::bigint[])", list(row_ids)


class DeletionQueue:
    """Deletes the rows of `erased_sessions` and `erased_documents`, then completes the commands that wait for it.

    A step is a transaction of its own. It skips rows that another process is deleting. After a crash any process
    continues with what is listed. Used on the committer's thread.
    """

    def __init__(self, connection_string: ConnectionString, *, prepare: bool = True) -> None:
        self._connection_string = connection_string
        self._prepare = prepare
        self._connection: Connection | None = None
        self._queue: deque[Deletion] = deque()
        self._waiting: list[_Waiting] = []
        self._look_at = 0.0

    def add(self, pending: PendingCommand, deletion: PendingDeletion) -> None:
        self._waiting.append(_Waiting(pending, deletion.result, set(deletion.deletions), time.monotonic()))
        self._queue.extend(deletion.deletions)
        if not deletion.deletions:
            self._look_at = 0.0

    def step(self) -> float:
        """Do one step; return in how many seconds the next is due."""
        try:
            return self._advance()
        except psycopg.Error as error:
            log.warning("erased rows cannot be deleted now: %s", error)
            self._disconnect()
            self._refuse_overdue(translate(error))
            return RETRY_SECONDS

    def close(self) -> None:
        """Refuse the commands that wait. The rows are deleted by another process, or after the next start."""
        self._disconnect()
        for waiting in self._waiting:
            waiting.pending.complete(error=ShuttingDown())
        self._waiting.clear()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _refuse_overdue(self, error: SidecarError) -> None:
        """Refuse the commands that have waited for long; their rows are deleted later."""
        overdue = [waiting for waiting in self._waiting if time.monotonic() > waiting.since + MAX_WAIT_SECONDS]
        self._waiting = [waiting for waiting in self._waiting if waiting not in overdue]
        for waiting in overdue:
            waiting.pending.complete(error=error)

    def _advance(self) -> float:
        if time.monotonic() >= self._look_at:
            self._look()
        return self._delete_some() if self._queue else max(0.0, self._look_at - time.monotonic())

    def _look(self) -> None:
        """Add what is listed to the queue; a command that waits for all of it knows it now."""
        listed = [
            Deletion(rows, row_id)
            for rows in ErasedRows
            for (row_id,) in self._open().execute(f"SELECT row_id FROM {rows.value.list} ORDER BY row_id").fetchall()
        ]
        self._queue = deque(dict.fromkeys((*self._queue, *listed)))
        for waiting in self._waiting:
            if not waiting.left:
                waiting.left.update(listed)
        self._look_at = time.monotonic() + LOOK_SECONDS
        self._complete(())

    def _delete_some(self) -> float:
        deletion, connection = self._queue[0], self._open()
        rows = deletion.rows.value
        deleted = connection.execute(rows.statement(_DELETE), (deletion.row_id, MAX_ROWS_PER_STEP)).rowcount
        if deleted == MAX_ROWS_PER_STEP:
            return 0.0
        connection.execute(rows.statement(_FINISH), {"row_id": deletion.row_id})
        if connection.execute(rows.statement(_IS_LISTED), (deletion.row_id,)).fetchone() is not None:
            self._queue.rotate(-1)  # another process is deleting the rest
            return RETRY_SECONDS
        self._queue.popleft()
        self._complete([deletion])
        return 0.0

    def _complete(self, deletions: Iterable[Deletion]) -> None:
        """Complete the commands that wait for nothing else."""
        for waiting in self._waiting:
            waiting.left.difference_update(deletions)
            if not waiting.left:
                waiting.pending.complete(waiting.result)
        self._waiting = [waiting for waiting in self._waiting if waiting.left]

    def _open(self) -> Connection:
        if self._connection is None:
            self._connection = connect(self._connection_string, prepare=self._prepare)
        return self._connection
