"""Connections to PostgreSQL, and the translation of its errors.

No connection has a state that another user of a pooler could see: no SET, no advisory lock, no LISTEN, no temporary
table. A connection on which a pipeline failed is closed: psycopg's cache of prepared statements may no longer match the
server's.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import Connection, errors
from psycopg.abc import PQGen
from psycopg.adapt import AdaptersMap
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8BinaryDumper
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from memsidecar.domain.errors import (
    DataCorrupted,
    DiskFull,
    JournalUnavailable,
    Overloaded,
    ShuttingDown,
    SidecarError,
)
from memsidecar.domain.statistics import Distribution

CONNECT_SECONDS = 5
RETRY_SECONDS = 5.0
"How long a command or a read waits for the database to come back: less than the default deadline of a call."
MAX_TRIES = 3
PREPARE_AFTER = 5
"A statement is prepared when a connection has executed it so many times."
POLL_SECONDS = 0.1
"How often a wait for the server looks for a signal."
# By default an integer is sent as the smallest type that holds it, and each combination of types is prepared by itself.
_ADAPTERS = AdaptersMap(psycopg.adapters)
_ADAPTERS.register_dumper(int, Int8BinaryDumper)
_PARAMETERS: Mapping[str, Any] = {
    "application_name": "memsidecar",
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "context": _ADAPTERS,
}
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

UNLIMITED = "SET LOCAL statement_timeout = 0"
"For a transaction whose statements may take long."

ConnectionString = Callable[[], str]
"Returns the address of the database. It is asked for each new connection: a password may change at any time."

# What a concurrent transaction may cause. A second attempt sees its effect. A namespace at its quota has no next lsn:
# `commit` violates NOT NULL then.
CONFLICTS = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.LockNotAvailable,
    errors.UniqueViolation,
    errors.NotNullViolation,
)
_BUSY = (*CONFLICTS, errors.QueryCanceled, errors.TooManyConnections, errors.OutOfMemory)
_DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)
_UNREACHABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    errors.IdleInTransactionSessionTimeout,
    errors.ReadOnlySqlTransaction,
)

T = TypeVar("T")


class BoundedConnection(Connection):
    """Is lost if the server does not answer for `answer_seconds`.

    The server cancels a statement by itself after as long; a server that was stopped cannot, and keeps its connections.
    """

    answer_seconds: float | None = RETRY_SECONDS

    def wait(self, gen: PQGen[T], interval: float = POLL_SECONDS, timeout: float | None = None) -> T:
        return super().wait(gen, interval, self.answer_seconds if timeout is None else timeout)


def connect(connection_string: ConnectionString, *, prepare: bool = True) -> BoundedConnection:
    """Open a connection. With `prepare`, statements that are executed often are prepared at the server."""
    return BoundedConnection.connect(_checked(connection_string), **_options(prepare))


def _options(prepare: bool) -> dict[str, Any]:
    return {**_PARAMETERS, "autocommit": True, "prepare_threshold": PREPARE_AFTER if prepare else None}


def _checked(connection_string: ConnectionString) -> str:
    """Return the address of the database. The driver's error for one that it cannot parse would quote its password."""
    address = connection_string()
    try:
        conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        raise JournalUnavailable("the URL of the journal's database is not valid") from None
    return address


def is_lost(error: psycopg.Error) -> bool:
    """Tell whether an error is that of the connection or the server, not of a statement."""
    return isinstance(error, _UNREACHABLE) and not isinstance(error, (*_BUSY, errors.DiskFull))


def translate(error: psycopg.Error) -> SidecarError:
    if isinstance(error, PoolClosed):
        return ShuttingDown()
    if isinstance(error, errors.DiskFull):
        return DiskFull()
    if isinstance(error, _DAMAGED):
        return DataCorrupted(f"the database is damaged: {error}", file="PostgreSQL")
    if isinstance(error, _BUSY):
        return Overloaded("the database is busy")
    if is_lost(error):
        return JournalUnavailable()
    return SidecarError(f"the database refused a statement: {error}")


@contextmanager
def translated() -> Iterator[None]:
    """Raise psycopg's errors as ours."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error) from error


class ReadPool:
    """A few connections for many threads. A read is tried again on another connection if its own was lost."""

    def __init__(
        self, connection_string: ConnectionString, connections: int, seconds: Distribution, *, prepare: bool = True
    ) -> None:
        self._seconds = seconds
        self._pool = ConnectionPool(
            lambda: _checked(connection_string),
            connection_class=BoundedConnection,
            kwargs=_options(prepare),
            min_size=1,
            max_size=connections,
            timeout=RETRY_SECONDS,
            reconnect_timeout=RETRY_SECONDS,
            open=True,
        )

    def close(self) -> None:
        """Wait for the current reads; later ones are refused with ShuttingDown."""
        self._pool.close()

    def read(self, read: Callable[[Connection], T]) -> T:
        """Return what one statement reads."""
        return self._retried(read)

    def read_snapshot(self, read: Callable[[Connection], T]) -> T:
        """Return what several statements read from one snapshot."""

        def read_in_transaction(connection: Connection) -> T:
            connection.execute(_SNAPSHOT)
            result = read(connection)
            connection.execute("COMMIT")
            return result

        return self._retried(read_in_transaction)

    def _retried(self, read: Callable[[Connection], T]) -> T:
        deadline = time.monotonic() + RETRY_SECONDS
        while True:
            try:
                with self._pool.connection(deadline - time.monotonic()) as connection:
                    connection.answer_seconds = deadline - time.monotonic()
                    start = time.perf_counter()
                    result = read(connection)
                self._seconds.observe(time.perf_counter() - start)
                return result
            except psycopg.Error as error:
                if not is_lost(error) or isinstance(error, (PoolClosed, PoolTimeout)) or time.monotonic() >= deadline:
                    raise translate(error) from error
