"""What callers are told when the database refuses."""

import psycopg
import pytest
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from memsidecar.domain.errors import (
    DataCorrupted,
    DiskFull,
    JournalUnavailable,
    Overloaded,
    ShuttingDown,
    SidecarError,
)
from memsidecar.stores.postgres.connection import is_lost, translate

TRANSLATED: dict[type[psycopg.Error], type[SidecarError]] = {
    errors.DiskFull: DiskFull,
    errors.DataCorrupted: DataCorrupted,
    errors.IndexCorrupted: DataCorrupted,
    errors.DeadlockDetected: Overloaded,
    errors.LockNotAvailable: Overloaded,
    errors.SerializationFailure: Overloaded,
    errors.TooManyConnections: Overloaded,
    errors.QueryCanceled: Overloaded,
    errors.AdminShutdown: JournalUnavailable,
    errors.CannotConnectNow: JournalUnavailable,
    errors.IdleInTransactionSessionTimeout: JournalUnavailable,
    errors.ReadOnlySqlTransaction: JournalUnavailable,
    psycopg.OperationalError: JournalUnavailable,
    PoolTimeout: JournalUnavailable,
    PoolClosed: ShuttingDown,
    errors.UndefinedTable: SidecarError,
}


@pytest.mark.parametrize("error", TRANSLATED, ids=lambda error: error.__name__)
def test_an_error_of_the_database_is_one_of_the_journal(error: type[psycopg.Error]) -> None:
    assert type(translate(error("for the test"))) is TRANSLATED[error]


def test_only_errors_of_the_connection_or_the_server_replace_the_connection() -> None:
    lost = {error.__name__ for error in TRANSLATED if is_lost(error("for the test"))}
    assert lost == {
        "AdminShutdown",
        "CannotConnectNow",
        "IdleInTransactionSessionTimeout",
        "ReadOnlySqlTransaction",
        "OperationalError",
        "PoolTimeout",
        "PoolClosed",
    }
