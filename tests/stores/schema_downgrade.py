"""Convert journal files to the schemas of earlier versions."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from memsidecar.stores.sqlite import schema

# The trigger of a version is at the end of its migration.
_TRIGGER_2, _TRIGGER_4 = (
    migration[migration.index("CREATE TRIGGER") :] for migration in (schema.VERSION_2, schema.VERSION_4)
)
_VIEW_2 = schema.VERSION_2[schema.VERSION_2.index("CREATE VIEW") : schema.VERSION_2.index("CREATE TRIGGER")]
_INDEXES_3 = schema.VERSION_3[schema.VERSION_3.index("CREATE INDEX") : schema.VERSION_3.index("ALTER TABLE")]

TO_VERSION_4 = f"""
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
    _downgrade(folder, TO_VERSION_2, schema.VERSION_2)


def downgrade_to_version_3(folder: Path) -> None:
    """Convert the file to the version before sizes."""
    _downgrade(folder, TO_VERSION_3, schema.VERSION_2 + schema.VERSION_3)


def downgrade_to_version_4(folder: Path) -> None:
    """Convert the file to the version before the present table and column names."""
    _downgrade(folder, TO_VERSION_4, schema.VERSION_2 + schema.VERSION_3 + schema.VERSION_4)


def _downgrade(folder: Path, script: str, migrations: str) -> None:
    with closing(sqlite3.connect(folder / "journal.db")) as older, closing(sqlite3.connect(":memory:")) as fresh:
        older.executescript(script)
        fresh.executescript(migrations)
        assert _statements(older) == _statements(fresh)


def _statements(database: sqlite3.Connection) -> set[str]:
    """Return the statements that define tables, indexes, views and triggers, without the quotes that a rename adds."""
    rows = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
    return {re.sub(r"\s+", " ", sql).replace('"', "") for (sql,) in rows}
