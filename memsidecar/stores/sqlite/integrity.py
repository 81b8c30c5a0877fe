"""Open-time checks and `doctor`."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from memsidecar.domain.errors import SidecarError, StartRefused
from memsidecar.stores.sqlite.connection import connect_readonly, translate
from memsidecar.stores.sqlite.data_dir import DirectoryLock, HighWaterMark
from memsidecar.stores.sqlite.rows import extent_of
from memsidecar.stores.sqlite.schema import (
    BYTES_VERSION,
    DOCUMENT_BYTES,
    RECORD_BYTES,
    RECORDS_VERSION,
    SESSION_BYTES,
    version_of,
)

_SUMS = """SELECT s.namespace, s.session_id FROM sessions s LEFT JOIN (
    SELECT session, sum(flags & 1) AS pruned, sum(1 - (flags & 1)) AS shown, max(sequence) AS last,
           sum(shown_tokens * (1 - (flags & 1))) AS tokens FROM messages GROUP BY session
  ) m ON m.session = s.number
  WHERE s.pruned_count <> coalesce(m.pruned, 0)
     OR s.count_1 + s.count_2 + s.count_3 + s.count_4 <> coalesce(m.shown, 0)
     OR s.tokens_1 + s.tokens_2 + s.tokens_3 + s.tokens_4 <> coalesce(m.tokens, 0)
     OR s.last_sequence < coalesce(m.last, 0)"""
_UNREACHABLE = """SELECT count(*) FROM messages m LEFT JOIN log l ON l.lsn = m.lsn
  LEFT JOIN log shown ON shown.lsn = m.shown_lsn WHERE l.body IS NULL OR shown.body IS NULL"""
_TORN = """SELECT namespace, id FROM documents d WHERE chunk_count + 1 <> (SELECT count(t.text) FROM texts t
  WHERE t.number = d.cover OR t.number >= d.first_chunk AND t.number < d.first_chunk + d.chunk_count)"""
_BLANK = "SELECT n.namespace, n.id FROM notes n LEFT JOIN texts t ON t.number = n.body WHERE t.text IS NULL"
_SIZES = f"""SELECT 'session', namespace, session_id FROM sessions WHERE bytes <> {SESSION_BYTES}
  UNION ALL SELECT 'document', namespace, id FROM documents WHERE bytes <> {DOCUMENT_BYTES}
  UNION ALL SELECT 'note', namespace, id FROM notes WHERE bytes <> {RECORD_BYTES}"""
_CHECKSUMS = {
    "entry": "SELECT lsn, body, crc FROM log WHERE body IS NOT NULL",
    "text": "SELECT number, text, crc FROM texts WHERE text IS NOT NULL",
}


def examine(directory: Path, file_name: str = "journal.db") -> list[str]:
    """What is wrong, one line for each finding; empty when all is well."""
    path = directory / file_name
    if not path.exists():
        raise StartRefused(f"{directory} holds no journal")
    lock = DirectoryLock(directory / "lock")
    try:
        return [f"{path}: {finding}" for finding in _findings(path)]
    except sqlite3.Error as error:
        return [f"{path}: {translate(error, path)}"]
    except SidecarError as error:
        return [str(error)]
    finally:
        lock.release()


def _findings(path: Path) -> list[str]:
    with closing(connect_readonly(path)) as connection:
        version = version_of(connection, str(path))
        _check_mark(connection, path)
        # What is damaged has another size, too: sizes say something of their own only where nothing is.
        return list(_damages(connection, version)) or list(_wrong_sizes(connection, version))


def _damages(connection: sqlite3.Connection, version: int) -> Iterator[str]:
    for (verdict,) in connection.execute("PRAGMA integrity_check(20)"):
        if verdict != "ok":
            yield verdict
    yield from _mismatches(connection)
    for (count,) in connection.execute(_UNREACHABLE):
        if count:
            yield f"{count} messages have lost their text"
    for namespace, session_id in connection.execute(_SUMS):
        yield f"the sums of session {session_id!r} in namespace {namespace!r} do not match its messages"
    for namespace, document_id in connection.execute(_TORN):
        yield f"document {document_id!r} in namespace {namespace!r} has lost text"
    # An older file is examined as it is: only a start brings it up.
    for namespace, record_id in connection.execute(_BLANK) if version >= RECORDS_VERSION else ():
        yield f"note {note_id!r} in namespace {namespace!r} has lost its text"


def _wrong_sizes(connection: sqlite3.Connection, version: int) -> Iterator[str]:
    for kind, namespace, name in connection.execute(_SIZES) if version >= BYTES_VERSION else ():
        yield f"the size of {kind} {name!r} in namespace {namespace!r} does not match what is kept of it"


def _check_mark(connection: sqlite3.Connection, path: Path) -> None:
    mark = HighWaterMark(path.with_name("journal.mark"))
    try:
        mark.check(extent_of(connection), path)
    finally:
        mark.close()


def _mismatches(connection: sqlite3.Connection) -> Iterator[str]:
    for kind, query in _CHECKSUMS.items():
        for number, body, crc in connection.execute(query):
            if zlib.crc32(body) != crc:
                yield f"{kind} {number} does not match its checksum"
