"""Opening a journal file: checks before it is changed, room on a full disk. `examine` is `memsidecar doctor`."""

import re
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from memsidecar.domain.errors import DataCorrupted, DiskFull, SidecarError, StartRefused
from memsidecar.stores.sqlite.connection import (
    WRITER_CACHE_KIB,
    closing_on_error,
    connect,
    connect_readonly,
    translate,
    translated,
)
from memsidecar.stores.sqlite.data_dir import Ballast, DirectoryLock, HighWaterMark, LogPosition, sync_directory
from memsidecar.stores.sqlite.migrations import BYTES_VERSION, NAMES_VERSION, RECORDS_VERSION, migrate, version_of
from memsidecar.stores.sqlite.page_slack import NAMED_TABLES
from memsidecar.stores.sqlite.rows import JOIN_BODY, JOIN_DISPLAYED_BODY, position_of
from memsidecar.stores.sqlite.schema import DOCUMENT_BYTES, RECORD_BYTES, SESSION_BYTES

FILE_NAME = "journal.db"
OPEN_CHECK_SECONDS = 0.25
_NAMED = f"SELECT name FROM sqlite_master WHERE name IN {(*NAMED_TABLES, 'notes')}"
"Tables with names, `notes` under its earlier name. A damaged name in an index of them would hide data."

_WRONG_SUMS = """SELECT s.namespace, s.session_id FROM sessions s LEFT JOIN (
    SELECT session, sum(flags & 1) AS pruned, sum(1 - (flags & 1)) AS displayed, max(sequence) AS last,
           sum(displayed_tokens * (1 - (flags & 1))) AS tokens FROM messages GROUP BY session
  ) m ON m.session = s.row_id
  WHERE s.pruned_count <> coalesce(m.pruned, 0)
     OR s.count_1 + s.count_2 + s.count_3 + s.count_4 <> coalesce(m.displayed, 0)
     OR s.tokens_1 + s.tokens_2 + s.tokens_3 + s.tokens_4 <> coalesce(m.tokens, 0)
     OR s.last_sequence < coalesce(m.last, 0)"""
_MESSAGES_WITHOUT_BODY = f"""SELECT count(*) FROM messages m LEFT {JOIN_BODY} LEFT {JOIN_DISPLAYED_BODY}
  WHERE w.body IS NULL OR l.body IS NULL"""
_DOCUMENTS_WITHOUT_TEXT = """SELECT namespace, id FROM documents d WHERE chunk_count + 1 <> (SELECT count(t.text)
  FROM texts t WHERE t.row_id = d.header OR t.row_id >= d.first_chunk AND t.row_id < d.first_chunk + d.chunk_count)"""
_RECORDS_WITHOUT_BODY = """SELECT r.namespace, r.id FROM records r LEFT JOIN texts t ON t.row_id = r.body
  WHERE t.text IS NULL"""
_WRONG_SIZES = f"""SELECT 'session', namespace, session_id FROM sessions WHERE bytes <> {SESSION_BYTES}
  UNION ALL SELECT 'document', namespace, id FROM documents WHERE bytes <> {DOCUMENT_BYTES}
  UNION ALL SELECT 'record', namespace, id FROM records WHERE bytes <> {RECORD_BYTES}"""
_CHECKSUMS = {
    "entry": "SELECT lsn, body, crc FROM log WHERE body IS NOT NULL",
    "text": "SELECT row_id, text, crc FROM texts WHERE text IS NOT NULL",
}
_EARLIER_NAMES = {
    "row_id": "number",
    "displayed_lsn": "shown_lsn",
    "displayed_tokens": "shown_tokens",
    "header": "cover",
    "records": "notes",
}


def open_with_room(path: Path, mark: HighWaterMark, ballast: Ballast) -> sqlite3.Connection:
    """Open the journal for writing. On a full disk, release the ballast: opening creates the write-ahead log."""
    try:
        return open_checked(path, mark)
    except DiskFull:
        if not ballast.drop():
            raise
        return open_checked(path, mark)


def open_checked(path: Path, mark: HighWaterMark) -> sqlite3.Connection:
    with translated(path):
        verify_before_open(path, mark)
        return _open(path)


def verify_before_open(path: Path, mark: HighWaterMark) -> None:
    """Refuse a file that is not ours or is damaged, before anything of it is changed.

    Opening it for writing would restart its write-ahead log, and lose what could still be recovered.
    """
    _roll_back_creation(path)
    if not path.exists() or path.stat().st_size == 0:
        mark.check(LogPosition(), path)
        return
    with closing(connect_readonly(path)) as connection:
        version = version_of(connection, str(path))
        mark.check(position_of(connection) if version else LogPosition(), path)
        check_structure(connection, path, OPEN_CHECK_SECONDS)


def _roll_back_creation(path: Path) -> None:
    """Undo the creation of a file that ended before the file had a write-ahead log. A read-only connection cannot.

    Only then is there a rollback journal. It belongs to a file without data: the mark tells if it should have some.
    """
    if path.with_name(f"{path.name}-journal").exists():
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _open(path: Path) -> sqlite3.Connection:
    is_new = not path.exists()
    connection = connect(path, WRITER_CACHE_KIB)
    with closing_on_error(connection):
        migrate(connection)
    if is_new:
        sync_directory(path.parent)
    return connection


def check_structure(connection: sqlite3.Connection, path: Path, seconds: float) -> None:
    """Look for broken pages and damaged names for at most `seconds`. Checksums of content are compared when it is read.

    A quick check does not compare an index with its table.
    """
    deadline, verdicts = time.monotonic() + seconds, list[str]()
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), 10_000)
    try:
        verdicts += connection.execute("PRAGMA quick_check(1)").fetchone()
        for (table,) in connection.execute(_NAMED).fetchall():
            verdicts += connection.execute(f"PRAGMA integrity_check({table})").fetchone()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) != sqlite3.SQLITE_INTERRUPT:
            raise
    finally:
        connection.set_progress_handler(None, 0)
    for verdict in verdicts:
        if verdict != "ok":
            raise DataCorrupted(f"{path.name} is damaged: {verdict}", file=str(path))


def examine(directory: Path, file_name: str = FILE_NAME) -> list[str]:
    """Return one line for each damage found; empty if there is none."""
    path = directory / file_name
    if not path.exists():
        raise StartRefused(f"{directory} holds no journal")
    lock = DirectoryLock(directory / "lock")
    try:
        return [f"{path}: {finding}" for finding in _findings(path)]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return [f"{path}: {translate(error, path)}"]
    except SidecarError as error:
        return [str(error)]
    finally:
        lock.release()


def _findings(path: Path) -> list[str]:
    with closing(connect_readonly(path)) as connection:
        version = version_of(connection, str(path))
        _check_mark(connection, path)
        # Damaged content has a wrong size as well, so sizes are checked only if there is no damage.
        return list(_damages(connection, version)) or list(_wrong_sizes(connection, version))


def _damages(connection: sqlite3.Connection, version: int) -> Iterator[str]:
    for (verdict,) in connection.execute("PRAGMA integrity_check(20)"):
        if verdict != "ok":
            yield verdict
    yield from _checksum_mismatches(connection, version)
    for (count,) in connection.execute(_in_names_of(version, _MESSAGES_WITHOUT_BODY)):
        if count:
            yield f"{count} messages have lost their text"
    for namespace, session_id in connection.execute(_in_names_of(version, _WRONG_SUMS)):
        yield f"the sums of session {session_id!r} in namespace {namespace!r} do not match its messages"
    for namespace, document_id in connection.execute(_in_names_of(version, _DOCUMENTS_WITHOUT_TEXT)):
        yield f"document {document_id!r} in namespace {namespace!r} has lost text"
    if version >= RECORDS_VERSION:
        for namespace, record_id in connection.execute(_in_names_of(version, _RECORDS_WITHOUT_BODY)):
            yield f"record {record_id!r} in namespace {namespace!r} has lost its text"


def _wrong_sizes(connection: sqlite3.Connection, version: int) -> Iterator[str]:
    if version >= BYTES_VERSION:
        for kind, namespace, name in connection.execute(_in_names_of(version, _WRONG_SIZES)):
            yield f"the size of {kind} {name!r} in namespace {namespace!r} does not match its content"


def _checksum_mismatches(connection: sqlite3.Connection, version: int) -> Iterator[str]:
    for kind, query in _CHECKSUMS.items():
        for row_id, body, crc in connection.execute(_in_names_of(version, query)):
            if zlib.crc32(body) != crc:
                yield f"{kind} {row_id} does not match its checksum"


def _in_names_of(version: int, query: str) -> str:
    """Return the query for a file of that version: `examine` does not migrate an older file."""
    if version >= NAMES_VERSION:
        return query
    return re.sub(rf"\b({'|'.join(_EARLIER_NAMES)})\b", lambda match: _EARLIER_NAMES[match[0]], query)


def _check_mark(connection: sqlite3.Connection, path: Path) -> None:
    mark = HighWaterMark(path.with_name("journal.mark"))
    try:
        mark.check(position_of(connection), path)
    finally:
        mark.close()
