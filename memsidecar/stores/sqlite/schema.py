"""The tables of the journal file.

`log` holds all entries in order. No row of it is ever deleted (`secure_delete` says why). A superseded version of a
message loses its body; `prev` refers to the version before it, so that an erasure finds them all.

`messages` is the index on (session, sequence). It is wide enough that counting and pruning never read a body. `lsn` and
`tokens` are those of the original message, `displayed_lsn` and `displayed_tokens` those of the version in the window.
`id_hash` narrows a lookup by id; the id itself, in the log, decides.

`new_messages` is the view through which messages are inserted: a group of them is one statement, so that the committer
releases the GIL once for a group, and not for each row and table.

A session's `row_id` changes when the session is cleared: its messages are then unreachable at once, and
`erased_sessions` has the old row id until the last byte of them is purged. `erased_messages` has the lsns of the newest
versions of messages that were erased one by one, until all their versions are purged.

A changed fact or summary has a log entry without content. Its session is the row id of its owner in `owners`, so that
the log itself has no name: an erasure deletes that row. Its sequence is the row id of the fact, NULL if the fact was
deleted, or the last sequence that the summary covers. `first_lsn` of a record is that of its first entry: in files
of earlier versions, a row id was used again for a later record.

The entry of a CLEAR has the session's new row id as its sequence. A DELETE with session 0 is that of a user, or of a
session that had no messages.

The last lsn of a namespace follows from its sessions' versions, and from `last_lsns` for entries that have their
namespace in `id`. An index on the log would cost every message.

Log entries of a document have its negative row id as their session. `texts` holds the chunks of a document at
consecutive row ids, and its header (title, source, metadata) at another. Rows are added at the end; they are emptied
and never deleted or moved. `orphaned_texts` has the ranges that are to be emptied.

A row of `records` holds no text: it is changed and deleted in place. Its body is a row of `texts`. Its row id is that
of its first body, so that no row id is used again, and the next row id of a text tells an export which records are new.
(Row ids from earlier versions are smaller, and were used again.) Its indexes serve, in this order, conflicts, listings
from the newest on, and erasures by source session.

`session_users` finds the users of a namespace, and the sessions of a user, without a read of the others.

`tombstones` says what was forgotten, without its names (`stores.tombstones`). Its row of kind 0 is the key.

`bytes` is what a row counts for its namespace's quota (`stores.message_encoding`). It is written with the row, so that
a deletion knows it without a read of the content.
"""

from hashlib import blake2b

from memsidecar.stores.log_kinds import LogKind

# Entries from this kind on have their namespace in `id`: the row that would tell it may be deleted.
FIRST_NAMESPACED_KIND = int(LogKind.CLEAR)

ERASED_MESSAGES = "CREATE TABLE erased_messages(lsn INTEGER PRIMARY KEY);\n"
RECORD_INDEXES = """\
CREATE INDEX record_conflict_keys ON records(namespace, session_id, user_id, kind, conflict_key);
CREATE INDEX record_times ON records(namespace, session_id, user_id, kind, time_us, id, until_us);
CREATE INDEX record_sources ON records(namespace, source) WHERE source <> '';
"""
SESSION_USERS = "CREATE INDEX session_users ON sessions(namespace, user_id) WHERE user_id <> '';\n"
TOMBSTONES = """\
CREATE TABLE tombstones(
  namespace TEXT NOT NULL, kind INTEGER NOT NULL, digest BLOB NOT NULL, time_us INTEGER NOT NULL,
  PRIMARY KEY(namespace, kind, digest)
) WITHOUT ROWID;
INSERT INTO tombstones VALUES ('', 0, randomblob(32), 0);
"""
OWNERS = """\
CREATE TABLE owners(
  row_id INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
  UNIQUE(namespace, session_id, user_id)
);
"""
NEW_MESSAGES = """\
CREATE VIEW new_messages AS
  SELECT m.lsn, m.session, m.sequence, m.role, m.tokens, m.flags, m.time_us, m.score, m.exchange, m.id_hash,
         m.fingerprint, l.id, l.body, l.vector, l.crc, l.time_us AS now_us
  FROM messages m JOIN log l ON l.lsn = m.lsn;
CREATE TRIGGER insert_new_message INSTEAD OF INSERT ON new_messages BEGIN
  INSERT INTO log(lsn, session, kind, sequence, time_us, id, body, vector, crc)
    VALUES(NEW.lsn, NEW.session, 1, NEW.sequence, NEW.now_us, NEW.id, NEW.body, NEW.vector, NEW.crc);
  INSERT INTO messages(session, sequence, lsn, displayed_lsn, first_lsn, role, tokens, displayed_tokens, flags, time_us,
                       score, exchange, id_hash, fingerprint)
    VALUES(NEW.session, NEW.sequence, NEW.lsn, NEW.lsn, NEW.lsn, NEW.role, NEW.tokens, NEW.tokens, NEW.flags,
           NEW.time_us, NEW.score, NEW.exchange, NEW.id_hash, NEW.fingerprint);
  UPDATE sessions SET version = NEW.lsn, last_sequence = NEW.sequence, last_active_us = NEW.now_us,
    count_1 = count_1 + (NEW.role = 1), count_2 = count_2 + (NEW.role = 2),
    count_3 = count_3 + (NEW.role = 3), count_4 = count_4 + (NEW.role = 4),
    tokens_1 = tokens_1 + (NEW.role = 1) * NEW.tokens, tokens_2 = tokens_2 + (NEW.role = 2) * NEW.tokens,
    tokens_3 = tokens_3 + (NEW.role = 3) * NEW.tokens, tokens_4 = tokens_4 + (NEW.role = 4) * NEW.tokens,
    bytes = bytes + length(NEW.body) + coalesce(length(NEW.vector), 0)
    WHERE row_id = NEW.session;
END;
"""

# The tables of a new file. A test compares them with those of a file that was migrated from the oldest version.
TABLES = f"""
CREATE TABLE log(
  lsn INTEGER PRIMARY KEY, session INTEGER NOT NULL, kind INTEGER NOT NULL, sequence INTEGER, time_us INTEGER NOT NULL,
  id TEXT, body BLOB, vector BLOB, crc INTEGER, prev INTEGER
);
CREATE TABLE messages(
  session INTEGER NOT NULL, sequence INTEGER NOT NULL, lsn INTEGER NOT NULL, displayed_lsn INTEGER NOT NULL,
  first_lsn INTEGER NOT NULL, role INTEGER NOT NULL, tokens INTEGER NOT NULL, displayed_tokens INTEGER NOT NULL,
  flags INTEGER NOT NULL, time_us INTEGER NOT NULL, score REAL,
  exchange INTEGER NOT NULL, id_hash INTEGER NOT NULL, fingerprint BLOB NOT NULL,
  PRIMARY KEY(session, sequence)
) WITHOUT ROWID;
CREATE INDEX message_ids ON messages(session, id_hash);
CREATE INDEX system_messages ON messages(session, sequence) WHERE role = 1;
CREATE INDEX exchanges ON messages(session, exchange, sequence) WHERE exchange > 0;
CREATE TABLE sessions(
  row_id INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, session_id TEXT NOT NULL, user_id TEXT NOT NULL,
  version INTEGER NOT NULL, last_sequence INTEGER NOT NULL, window_start INTEGER NOT NULL,
  pruned_count INTEGER NOT NULL,
  count_1 INTEGER NOT NULL, count_2 INTEGER NOT NULL, count_3 INTEGER NOT NULL, count_4 INTEGER NOT NULL,
  tokens_1 INTEGER NOT NULL, tokens_2 INTEGER NOT NULL, tokens_3 INTEGER NOT NULL, tokens_4 INTEGER NOT NULL,
  create_time_us INTEGER NOT NULL, last_active_us INTEGER NOT NULL, open_calls TEXT, bytes INTEGER NOT NULL DEFAULT 0,
  UNIQUE(namespace, session_id)
);
CREATE TABLE policies(
  namespace TEXT NOT NULL, session_id TEXT NOT NULL,
  auto_prune_tokens INTEGER NOT NULL, strategy INTEGER NOT NULL, model TEXT NOT NULL,
  summarize INTEGER NOT NULL DEFAULT 0, retention TEXT,
  PRIMARY KEY(namespace, session_id)
) WITHOUT ROWID;
CREATE TABLE calibrations(
  namespace TEXT NOT NULL, model TEXT NOT NULL, factor REAL NOT NULL, reports INTEGER NOT NULL,
  PRIMARY KEY(namespace, model)
) WITHOUT ROWID;
CREATE TABLE watermarks(
  task TEXT NOT NULL, namespace TEXT NOT NULL, lsn INTEGER NOT NULL, PRIMARY KEY(task, namespace)
) WITHOUT ROWID;
CREATE TABLE dead_letters(
  task TEXT NOT NULL, lsn INTEGER NOT NULL, namespace TEXT NOT NULL, reason TEXT NOT NULL, time_us INTEGER NOT NULL,
  PRIMARY KEY(task, lsn, namespace)
) WITHOUT ROWID;
CREATE TABLE last_lsns(namespace TEXT PRIMARY KEY, lsn INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE erased_sessions(row_id INTEGER PRIMARY KEY);
CREATE TABLE documents(
  row_id INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
  id TEXT NOT NULL, version INTEGER NOT NULL, create_time_us INTEGER NOT NULL, sha256 TEXT NOT NULL,
  tokens INTEGER NOT NULL, chunk_count INTEGER NOT NULL, chunking TEXT NOT NULL,
  header INTEGER NOT NULL, first_chunk INTEGER NOT NULL, bytes INTEGER NOT NULL DEFAULT 0, layout BLOB,
  UNIQUE(namespace, session_id, user_id, id)
);
CREATE TABLE texts(row_id INTEGER PRIMARY KEY, text BLOB, tokens INTEGER, crc INTEGER);
CREATE TABLE orphaned_texts(first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE TABLE records(
  row_id INTEGER PRIMARY KEY, namespace TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
  kind INTEGER NOT NULL, id TEXT NOT NULL, conflict_key INTEGER NOT NULL, source TEXT NOT NULL,
  time_us INTEGER NOT NULL, until_us INTEGER NOT NULL, body INTEGER NOT NULL, bytes INTEGER NOT NULL DEFAULT 0,
  first_lsn INTEGER NOT NULL DEFAULT 0,
  UNIQUE(namespace, session_id, user_id, kind, id)
);
{RECORD_INDEXES}{TOMBSTONES}{OWNERS}{NEW_MESSAGES}{ERASED_MESSAGES}{SESSION_USERS}"""

SESSION_BYTES = """(SELECT coalesce(sum(length(l.body) + coalesce(length(l.vector), 0)), 0)
  FROM messages m JOIN log l ON l.lsn = m.lsn WHERE m.session = sessions.row_id)"""
DOCUMENT_BYTES = """(SELECT coalesce(sum(length(t.text)), 0) FROM texts t WHERE t.row_id = documents.header
  OR t.row_id >= documents.first_chunk AND t.row_id < documents.first_chunk + documents.chunk_count)"""
RECORD_BYTES = "coalesce((SELECT length(t.text) FROM texts t WHERE t.row_id = records.body), 0)"


def id_hash(message_id: str) -> int:
    """Return the hash of a message id in the index on ids.

    A client cannot make many ids with the same 48 bits of a cryptographic hash, so it needs no key. SQLite stores them
    in six bytes.
    """
    return int.from_bytes(blake2b(message_id.encode(), digest_size=6).digest())
