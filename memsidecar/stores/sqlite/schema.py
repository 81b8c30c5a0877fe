"""Tables, migrations."""

import sqlite3
from enum import IntEnum

from memsidecar.domain.errors import StartRefused

APPLICATION_ID = 0x6D656D73  # "mems": tells our file from anybody else's


class LogKind(IntEnum):
    """What an entry of the log says."""

    MESSAGE = 1
    ANNOTATION = 2
    PRUNE = 3
    SHORTENING = 4
    CLAIM = 5
    CLEAR = 6
    DELETE = 7
    DOCUMENT = 8
    DROP = 9


# Entries from this kind on tell their namespace themselves, in `id`: they outlive the row that would tell it.
FIRST_NAMESPACED_KIND = int(LogKind.CLEAR)

# `log` holds what was said and done, in order, and no row of it is ever deleted (`erasing` says why). A superseded
# encoding of a message loses its body, and `prev` leads from an encoding to the one before it, so that an erasure finds
# them all.
# `messages` is the index on (session, sequence), wide enough that counting and pruning never touch a body. `lsn` and
# `tokens` are of the message as it was written, `shown_lsn` and `shown_tokens` as the window shows it.
# `incoming` is the one door for new messages: a group of them is one statement, so the committer gives up the GIL
# once for a group and not once for a row and table.
# A session's `number` changes when it is cleared: what it said before is then out of reach at once, and `erasures`
# remembers the old number until the last byte of it is gone.
# Where a namespace ends in the log is told by its sessions' versions and, for entries that tell their namespace
# themselves, by `tails`: an index on the log would cost every message.
# A document's entries of the log stand under its negative number. `texts` holds its chunks one behind the other and, as
# one more, its cover: title, source and metadata. It is written as the log is: rows come at the end, and are emptied
# and never deleted or moved. `leftovers` remembers which of them are to be emptied.
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

# A note's row holds no text: it is changed and deleted in place. Its body is one of `texts`. The indexes serve, in this
# order, what competes with a note, a listing from the newest on, and what goes with a session that it was made of.
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
RECORDS_VERSION = 3

# What of a namespace's quota each thing takes (`stores.measuring`), in the row of the thing itself: written when that
# row is written, and known when it goes without looking at what it has.
SESSION_BYTES = """(SELECT coalesce(sum(length(l.body) + coalesce(length(l.vector), 0)), 0)
  FROM messages m JOIN log l ON l.lsn = m.lsn WHERE m.session = sessions.number)"""
DOCUMENT_BYTES = """(SELECT coalesce(sum(length(t.text)), 0) FROM texts t WHERE t.number = documents.cover
  OR t.number >= documents.first_chunk AND t.number < documents.first_chunk + documents.chunk_count)"""
RECORD_BYTES = "coalesce((SELECT length(t.text) FROM texts t WHERE t.number = notes.body), 0)"
VERSION_4 = f"""
ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notes ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET bytes = {SESSION_BYTES};
UPDATE documents SET bytes = {DOCUMENT_BYTES};
UPDATE notes SET bytes = {RECORD_BYTES};
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
BYTES_VERSION = 4

# What makes each version out of the one before it, in order; the first makes it out of an empty file. Version 1 was
# changed in place while it was developed: its number does not tell which tables a file has, so none is read.
MIGRATIONS = {2: VERSION_2, RECORDS_VERSION: VERSION_3, BYTES_VERSION: VERSION_4}
OLDEST, NEWEST = min(MIGRATIONS), max(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the current version, each step in a transaction of its own."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number in range(max(version + 1, OLDEST), NEWEST + 1):
        connection.executescript(
            f"BEGIN IMMEDIATE;{MIGRATIONS[number]}"
            f"PRAGMA application_id={APPLICATION_ID};PRAGMA user_version={number};COMMIT;"
        )


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """Which schema the file has, 0 for none yet; StartRefused for a file that is not ours, too new or too old."""
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
