"""Files as earlier versions left them."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from memsidecar.stores.sqlite import schema

# The trigger of version 2 stands at the end of what made it.
BACK_TO_VERSION_3 = f"""
DROP TRIGGER incoming_message;
ALTER TABLE sessions DROP COLUMN bytes;
ALTER TABLE documents DROP COLUMN bytes;
ALTER TABLE notes DROP COLUMN bytes;
{schema.VERSION_2[schema.VERSION_2.index("CREATE TRIGGER") :]}
PRAGMA user_version = 3;
"""
BACK_TO_VERSION_2 = f"""
{BACK_TO_VERSION_3}
DROP TABLE notes;
ALTER TABLE policies DROP COLUMN summarize;
PRAGMA user_version = 2;
"""


def as_version_2_left_it(folder: Path) -> None:
    """What was written, in a file that is made as the version before notes made it."""
    _bring_back(folder, BACK_TO_VERSION_2, schema.VERSION_2)


def as_version_3_left_it(folder: Path) -> None:
    """The same for the version before sizes."""
    _bring_back(folder, BACK_TO_VERSION_3, schema.VERSION_2 + schema.VERSION_3)


def _bring_back(folder: Path, script: str, made_by: str) -> None:
    with closing(sqlite3.connect(folder / "journal.db")) as older, closing(sqlite3.connect(":memory:")) as fresh:
        older.executescript(script)
        fresh.executescript(made_by)
        assert _statements(older) == _statements(fresh)


def _statements(database: sqlite3.Connection) -> set[str]:
    """What made its tables, indexes, views and triggers; how it is set does not matter."""
    made = database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
    return {re.sub(r"\s+", " ", sql) for (sql,) in made}
