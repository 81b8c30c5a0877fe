"""Migrations of the journal file from earlier versions, and the check of its version."""

import sqlite3

from memsidecar.domain.errors import StartRefused
from memsidecar.stores.sqlite.schema import (
    ERASED_MESSAGES,
    NEW_MESSAGES,
    OWNERS,
    RECORD_INDEXES,
    SESSION_USERS,
    TABLES,
    TOMBSTONES,
    id_hash,
)

APPLICATION_ID = 0x6D656D73  # "mems": tells our file from other SQLite files

VERSION_3 = """
CREATE TABLE notes(
  number INTEGER PRIMARY KEY, namespace TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
  kind INTEGER NOT NULL, id TEXT NOT NULL, slot INTEGER NOT NULL, source TEXT NOT NULL,
  time_us INTEGER NOT NULL, until_us INTEGER NOT NULL, body INTEGER NOT NULL,
  UNIQUE(namespace, session_id, user_id, kind, id)
);
CREATE INDEX note_slots ON notes(namespace, session_id, user_id, kind, slot);
CREATE INDEX note_times ON notes(namespace, session_id, user_id, kind, time_us, id, until_us);
CREATE INDEX note_sources ON notes(namespace, source) WHERE source <> '';
ALTER TABLE policies ADD COLUMN summarize INTEGER NOT NULL DEFAULT 0;
"""

_SESSION_BYTES_4 = """(SELECT coalesce(sum(length(l.body) + coalesce(length(l.vector), 0)), 0)
  FROM messages m JOIN log l ON l.lsn = m.lsn WHERE m.session = sessions.number)"""
_DOCUMENT_BYTES_4 = """(SELECT coalesce(sum(length(t.text)), 0) FROM texts t WHERE t.number = documents.cover
  OR t.number >= documents.first_chunk AND t.number < documents.first_chunk + documents.chunk_count)"""
_NOTE_BYTES_4 = "coalesce((SELECT length(t.text) FROM texts t WHERE t.number = notes.body), 0)"
VERSION_4 = f"""
ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notes ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET bytes = {_SESSION_BYTES_4};
UPDATE documents SET bytes = {_DOCUMENT_BYTES_4};
UPDATE notes SET bytes = {_NOTE_BYTES_4};
DROP TRIGGER incoming_message;
CREATE TRIGGER incoming_message INSTEAD OF INSERT ON incoming BEGIN
  INSERT INTO log(lsn, session, kind, sequence, time_us, id, body, vector, crc)
    VALUES(NEW.lsn, NEW.session, 1, NEW.sequence, NEW.now_us, NEW.id, NEW.body, NEW.vector, NEW.crc);
  INSERT INTO messages(session, sequence, lsn, shown_lsn, first_lsn, role, tokens, shown_tokens, flags, time_us, score,
                       exchange, id_hash, fingerprint)
    VALUES(NEW.session, NEW.sequence, NEW.lsn, NEW.lsn, NEW.lsn, NEW.role, NEW.tokens, NEW.tokens, NEW.flags,
           NEW.time_us, NEW.score, NEW.exchange, NEW.id_hash, NEW.fingerprint);
  UPDATE sessions SET version = NEW.lsn, last_sequence = NEW.sequence, last_active_us = NEW.now_us,
    count_1 = count_1 + (NEW.role = 1), count_2 = count_2 + (NEW.role = 2),
    count_3 = count_3 + (NEW.role = 3), count_4 = count_4 + (NEW.role = 4),
    tokens_1 = tokens_1 + (NEW.role = 1) * NEW.tokens, tokens_2 = tokens_2 + (NEW.role = 2) * NEW.tokens,
    tokens_3 = tokens_3 + (NEW.role = 3) * NEW.tokens, tokens_4 = tokens_4 + (NEW.role = 4) * NEW.tokens,
    bytes = bytes + length(NEW.body) + coalesce(length(NEW.vector), 0)
    WHERE number = NEW.session;
END;
"""

# Names only. The view and its trigger are made again, because they refer to the renamed columns.
VERSION_5 = f"""
DROP VIEW incoming;
ALTER TABLE messages RENAME COLUMN shown_lsn TO displayed_lsn;
ALTER TABLE messages RENAME COLUMN shown_tokens TO displayed_tokens;
ALTER TABLE sessions RENAME COLUMN number TO row_id;
ALTER TABLE documents RENAME COLUMN number TO row_id;
ALTER TABLE documents RENAME COLUMN cover TO header;
ALTER TABLE texts RENAME COLUMN number TO row_id;
ALTER TABLE notes RENAME TO records;
ALTER TABLE records RENAME COLUMN number TO row_id;
ALTER TABLE records RENAME COLUMN slot TO conflict_key;
DROP INDEX note_slots;
DROP INDEX note_times;
DROP INDEX note_sources;
{RECORD_INDEXES}ALTER TABLE set_asides RENAME TO dead_letters;
ALTER TABLE tails RENAME TO last_lsns;
ALTER TABLE erasures RENAME TO erased_sessions;
ALTER TABLE erased_sessions RENAME COLUMN number TO row_id;
ALTER TABLE leftovers RENAME TO orphaned_texts;
{NEW_MESSAGES}"""

# Clients choose ids. Those with one CRC are easily made, and a lookup of one of them read all of them.
VERSION_6 = """
DROP INDEX message_ids;
UPDATE messages SET id_hash = id_hash((SELECT l.id FROM log l WHERE l.lsn = messages.lsn));
CREATE INDEX message_ids ON messages(session, id_hash);
"""

# Documents of earlier versions have no layout: the white space between their chunks is not known. The facts of large
# messages have a task of their own, which continues where the task of all messages was.
VERSION_7 = f"""
ALTER TABLE documents ADD COLUMN layout BLOB;
ALTER TABLE records ADD COLUMN first_lsn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE policies ADD COLUMN retention TEXT;
INSERT INTO watermarks SELECT 'semantic.facts.large', namespace, lsn FROM watermarks WHERE task = 'semantic.facts';
INSERT INTO dead_letters SELECT replace(task, 'semantic.facts', 'semantic.facts.large'), lsn, namespace, reason, time_us
  FROM dead_letters WHERE task = 'semantic.facts' OR task LIKE 'semantic.facts/%';
{TOMBSTONES}{OWNERS}{ERASED_MESSAGES}"""

RECORDS_VERSION, BYTES_VERSION, NAMES_VERSION, HASH_VERSION, ARCHIVE_VERSION, USERS_VERSION = 3, 4, 5, 6, 7, 8
# Each migration makes its version out of the one before it. Version 1 was changed in place during development: its
# number does not tell which tables a file has, so it cannot be read.
MIGRATIONS = {
    RECORDS_VERSION: VERSION_3,
    BYTES_VERSION: VERSION_4,
    NAMES_VERSION: VERSION_5,
    HASH_VERSION: VERSION_6,
    ARCHIVE_VERSION: VERSION_7,
    USERS_VERSION: SESSION_USERS,
}
OLDEST, NEWEST = min(MIGRATIONS) - 1, max(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Create the tables of a new file, or bring a file to the newest version.

    Each step is one transaction: a kill leaves a whole version.
    """
    connection.create_function("id_hash", 1, lambda message_id: id_hash(message_id or ""), deterministic=True)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    versions = range(version + 1, NEWEST + 1) if version else [NEWEST]
    for next_version in versions:
        connection.executescript(
            f"BEGIN IMMEDIATE;{MIGRATIONS[next_version] if version else TABLES}"
            f"PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={next_version};COMMIT;"
        )


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """Return the file's schema version, 0 for none; StartRefused for a file that is not ours, too new or too old."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner != APPLICATION_ID and (owner or version or tables):
        raise StartRefused(f"{path} is a SQLite file, but not a memsidecar journal")
    if version > NEWEST:
        raise StartRefused(f"{path} was written by a newer memsidecar (schema {version}); this one knows {NEWEST}")
    if 0 < version < OLDEST:
        raise StartRefused(
            f"{path} was written by a development version before the first release; this one cannot read it"
        )
    return int(version)
