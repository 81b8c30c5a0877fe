"""Convert journal files to the schemas of earlier versions."""

import re
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from memsidecar.stores.sqlite.migrations import VERSION_3, VERSION_4, VERSION_5, VERSION_6, VERSION_7
from memsidecar.stores.sqlite.schema import id_hash

VERSION_2 = """
CREATE TABLE log(
  lsn INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind INTEGER NOT NULL, sequence INTEGER, time_us INTEGER NOT NULL,
  id TEXT, body BLOB, vector BLOB, crc INTEGER, prev INTEGER
);
CREATE TABLE messages(
  session INTEGER NOT NULL, sequence INTEGER NOT NULL, lsn INTEGER NOT NULL, shown_lsn INTEGER NOT NULL,
  first_lsn INTEGER NOT NULL, role INTEGER NOT NULL, tokens INTEGER NOT NULL, shown_tokens INTEGER NOT NULL,
  flags INTEGER NOT NULL, time_us INTEGER NOT NULL, score REAL,
  exchange INTEGER NOT NULL, id_hash INTEGER NOT NULL, fingerprint BLOB NOT NULL,
  PRIMARY KEY(session, sequence)
) WITHOUT ROWID;
CREATE INDEX message_ids ON messages(session, id_hash);
CREATE INDEX system_messages ON messages(session, sequence) WHERE role = 1;
CREATE INDEX exchanges ON messages(session, exchange, sequence) WHERE exchange > 0;
CREATE TABLE sessions(
  number INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, session_id TEXT NOT NULL, user_id TEXT NOT NULL,
  version INTEGER NOT NULL, last_sequence INTEGER NOT NULL, window_start INTEGER NOT NULL,
  pruned_count INTEGER NOT NULL,
  count_1 INTEGER NOT NULL, count_2 INTEGER NOT NULL, count_3 INTEGER NOT NULL, count_4 INTEGER NOT NULL,
  tokens_1 INTEGER NOT NULL, tokens_2 INTEGER NOT NULL, tokens_3 INTEGER NOT NULL, tokens_4 INTEGER NOT NULL,
  create_time_us INTEGER NOT NULL, last_active_us INTEGER NOT NULL, open_calls TEXT,
  UNIQUE(namespace, session_id)
);
CREATE TABLE policies(
  namespace TEXT NOT NULL, session_id TEXT NOT NULL,
  auto_prune_tokens INTEGER NOT NULL, strategy INTEGER NOT NULL, model TEXT NOT NULL,
  PRIMARY KEY(namespace, session_id)
) WITHOUT ROWID;
CREATE TABLE calibrations(
  namespace TEXT NOT NULL, model TEXT NOT NULL, factor REAL NOT NULL, reports INTEGER NOT NULL,
  PRIMARY KEY(namespace, model)
) WITHOUT ROWID;
CREATE TABLE watermarks(
  task TEXT NOT NULL, namespace TEXT NOT NULL, lsn INTEGER NOT NULL, PRIMARY KEY(task, namespace)
) WITHOUT ROWID;
CREATE TABLE set_asides(
  task TEXT NOT NULL, lsn INTEGER NOT NULL, namespace TEXT NOT NULL, reason TEXT NOT NULL, time_us INTEGER NOT NULL,
  PRIMARY KEY(task, lsn, namespace)
) WITHOUT ROWID;
CREATE TABLE tails(namespace TEXT PRIMARY KEY, lsn INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE erasures(number INTEGER PRIMARY KEY);
CREATE TABLE documents(
  number INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
  id TEXT NOT NULL, version INTEGER NOT NULL, create_time_us INTEGER NOT NULL, sha256 TEXT NOT NULL,
  tokens INTEGER NOT NULL, chunk_count INTEGER NOT NULL, chunking TEXT NOT NULL,
  cover INTEGER NOT NULL, first_chunk INTEGER NOT NULL,
  UNIQUE(namespace, session_id, user_id, id)
);
CREATE TABLE texts(number INTEGER PRIMARY KEY, text BLOB, tokens INTEGER, crc INTEGER);
CREATE TABLE leftovers(first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE VIEW incoming AS
  SELECT m.lsn, m.session, m.sequence, m.role, m.tokens, m.flags, m.time_us, m.score, m.exchange, m.id_hash,
         m.fingerprint, l.id, l.body, l.vector, l.crc, l.time_us AS now_us
  FROM messages m JOIN log l ON l.lsn = m.lsn;
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
    tokens_3 = tokens_3 + (NEW.role = 3) * NEW.tokens, tokens_4 = tokens_4 + (NEW.role = 4) * NEW.tokens
    WHERE number = NEW.session;
END;
"""

# The trigger of a version is at the end of its migration.
_TRIGGER_2, _TRIGGER_4 = (migration[migration.index("CREATE TRIGGER") :] for migration in (VERSION_2, VERSION_4))
_VIEW_2 = VERSION_2[VERSION_2.index("CREATE VIEW") : VERSION_2.index("CREATE TRIGGER")]
_INDEXES_3 = VERSION_3[VERSION_3.index("CREATE INDEX") : VERSION_3.index("ALTER TABLE")]

TO_VERSION_7 = """
DROP INDEX session_users;
PRAGMA user_version = 7;
"""
TO_VERSION_6 = f"""
{TO_VERSION_7}
DROP TABLE erased_messages;
DROP TABLE tombstones;
ALTER TABLE documents DROP COLUMN layout;
DROP TABLE owners;
ALTER TABLE records DROP COLUMN first_lsn;
ALTER TABLE policies DROP COLUMN retention;
PRAGMA user_version = 6;
"""
TO_VERSION_5 = f"""
{TO_VERSION_6}
UPDATE messages SET id_hash = crc32((SELECT l.id FROM log l WHERE l.lsn = messages.lsn));
PRAGMA user_version = 5;
"""
TO_VERSION_4 = f"""
{TO_VERSION_5}
DROP VIEW new_messages;
ALTER TABLE messages RENAME COLUMN displayed_lsn TO shown_lsn;
ALTER TABLE messages RENAME COLUMN displayed_tokens TO shown_tokens;
ALTER TABLE sessions RENAME COLUMN row_id TO number;
ALTER TABLE documents RENAME COLUMN row_id TO number;
ALTER TABLE documents RENAME COLUMN header TO cover;
ALTER TABLE texts RENAME COLUMN row_id TO number;
ALTER TABLE records RENAME COLUMN row_id TO number;
ALTER TABLE records RENAME COLUMN conflict_key TO slot;
ALTER TABLE records RENAME TO notes;
DROP INDEX record_conflict_keys;
DROP INDEX record_times;
DROP INDEX record_sources;
{_INDEXES_3}
ALTER TABLE dead_letters RENAME TO set_asides;
ALTER TABLE last_lsns RENAME TO tails;
ALTER TABLE erased_sessions RENAME COLUMN row_id TO number;
ALTER TABLE erased_sessions RENAME TO erasures;
ALTER TABLE orphaned_texts RENAME TO leftovers;
{_VIEW_2}
{_TRIGGER_4}
PRAGMA user_version = 4;
"""
TO_VERSION_3 = f"""
{TO_VERSION_4}
DROP TRIGGER incoming_message;
ALTER TABLE sessions DROP COLUMN bytes;
ALTER TABLE documents DROP COLUMN bytes;
ALTER TABLE notes DROP COLUMN bytes;
{_TRIGGER_2}
PRAGMA user_version = 3;
"""
TO_VERSION_2 = f"""
{TO_VERSION_3}
DROP TABLE notes;
ALTER TABLE policies DROP COLUMN summarize;
PRAGMA user_version = 2;
"""


def downgrade_to_version_2(folder: Path) -> None:
    """Convert the file to the version before records."""
    _downgrade(folder, TO_VERSION_2, VERSION_2)


def downgrade_to_version_3(folder: Path) -> None:
    """Convert the file to the version before sizes."""
    _downgrade(folder, TO_VERSION_3, VERSION_2 + VERSION_3)


def downgrade_to_version_4(folder: Path) -> None:
    """Convert the file to the version before the present table and column names."""
    _downgrade(folder, TO_VERSION_4, VERSION_2 + VERSION_3 + VERSION_4)


def downgrade_to_version_5(folder: Path) -> None:
    """Convert the file to the version with CRCs of ids."""
    _downgrade(folder, TO_VERSION_5, VERSION_2 + VERSION_3 + VERSION_4 + VERSION_5)


def downgrade_to_version_6(folder: Path) -> None:
    """Convert the file to the version before events of records."""
    _downgrade(folder, TO_VERSION_6, VERSION_2 + VERSION_3 + VERSION_4 + VERSION_5 + VERSION_6)


def downgrade_to_version_7(folder: Path) -> None:
    """Convert the file to the version without the index of users."""
    _downgrade(folder, TO_VERSION_7, VERSION_2 + VERSION_3 + VERSION_4 + VERSION_5 + VERSION_6 + VERSION_7)


def _downgrade(folder: Path, script: str, migrations: str) -> None:
    with closing(sqlite3.connect(folder / "journal.db")) as older, closing(sqlite3.connect(":memory:")) as fresh:
        older.create_function("crc32", 1, lambda message_id: zlib.crc32(message_id.encode()))
        older.executescript(script)
        fresh.create_function("id_hash", 1, id_hash)
        fresh.executescript(migrations)
        assert statements_of(older) == statements_of(fresh)


def statements_of(database: sqlite3.Connection) -> set[str]:
    """Return the statements that define tables, indexes, views and triggers, without the quotes that a rename adds."""
    rows = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
    return {re.sub(r"\s+", " ", sql).replace('"', "") for (sql,) in rows}
