"""Connections with their pragmas, and the translation of errors of SQLite and of files."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memsidecar.domain.errors import DataCorrupted, DiskFull, FatalStoreError, Overloaded, SidecarError
from memsidecar.stores.sqlite.data_dir import free_bytes

BUSY_TIMEOUT_MS = 5_000
WRITER_CACHE_KIB = 8_192
READER_CACHE_KIB = 1_024
CACHED_STATEMENTS = 256

# A disk with less than this left counts as full: growing the shared-memory file of the write-ahead log fails with an
# I/O error, not with SQLITE_FULL.
FULL_BELOW_BYTES = 256 * 1024

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOT_UTF8 = "Could not decode to UTF-8"
"How sqlite3 reports a damaged text in a column. It has no error code."


def connect(path: Path, cache_kib: int) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=CACHED_STATEMENTS
    )
    with closing_on_error(connection):
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "fullfsync = ON",
            "secure_delete = ON",
            "temp_store = MEMORY",
            "wal_autocheckpoint = 0",
            f"busy_timeout = {BUSY_TIMEOUT_MS}",
            f"cache_size = -{cache_kib}",
        ):
            connection.execute(f"PRAGMA {pragma}")
    return connection


def connect_readonly(path: Path) -> sqlite3.Connection:
    """Return a connection that changes nothing, for a file that may not be ours or may be damaged."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)


@contextmanager
def closing_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error:
        connection.close()
        raise


@contextmanager
def rolled_back(connection: sqlite3.Connection) -> Iterator[None]:
    """Roll back the transaction if the block leaves one open."""
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def without_sync(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit in the block without a sync. The next commit outside of it, or checkpoint, makes these commits durable.

    A power cut before that undoes them, and nothing that came before.
    """
    connection.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = FULL")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise errors of SQLite, and of reads and writes of the journal's files, as ours."""
    try:
        yield
    except OSError as error:
        raise _translate_os(error, path) from error
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise translate(error, path) from error


def translate(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> SidecarError:
    """Return our error. A UnicodeDecodeError is an error message of SQLite that quotes a damaged schema."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    primary = code & 0xFF
    if primary in _DAMAGED or isinstance(error, UnicodeDecodeError) or _NOT_UTF8 in str(error):
        return DataCorrupted(f"{path.name} is damaged: {error}", file=str(path))
    if primary == sqlite3.SQLITE_FULL or (_is_io(primary) and _is_full(path) and not _is_fsync(code)):
        return DiskFull()
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Overloaded("the journal is busy")
    name = getattr(error, "sqlite_errorname", "unknown")
    return FatalStoreError(f"{path}: {error} ({name})")


def _translate_os(error: OSError, path: Path) -> SidecarError:
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return Overloaded(f"{path.name}: the process has no free file descriptor")
    if error.errno == errno.ENOSPC:
        return DiskFull()
    return FatalStoreError(f"{path}: {error}")


def _is_io(primary: int) -> bool:
    return primary in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


def _is_fsync(code: int) -> bool:
    return code in (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)


def _is_full(path: Path) -> bool:
    return free_bytes(path.parent) < FULL_BELOW_BYTES
