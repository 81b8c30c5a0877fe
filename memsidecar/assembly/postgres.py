"""The journal on PostgreSQL: opening it, `memsidecar migrate` and `memsidecar doctor`.

Imported only if it is configured: psycopg is an optional dependency.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

from memsidecar.domain.errors import JournalUnavailable, StartRefused
from memsidecar.domain.quota import QuotaLookup
from memsidecar.settings import Settings
from memsidecar.stores.contract import Journal
from memsidecar.stores.postgres.integrity import examine
from memsidecar.stores.postgres.journal import PostgresJournal
from memsidecar.stores.postgres.migrations import migrate
from memsidecar.stores.sqlite.data_dir import DirectoryLock, make_directory
from memsidecar.stores.sqlite.integrity import FILE_NAME

log = logging.getLogger(__name__)


def open_postgres(settings: Settings, quotas: QuotaLookup) -> Journal:
    """Open the journal, and lock the data directory: the index and the key of page tokens are there."""
    directory = settings.data_dir
    make_directory(directory)
    if (directory / FILE_NAME).exists():
        raise StartRefused(f"{directory} has a journal of SQLite: journal = postgres needs a directory of its own")
    lock = DirectoryLock(directory / "lock")
    return PostgresJournal(
        _ConnectionStringFile(settings).read,
        connections=settings.postgres_connections,
        prepare=settings.postgres_prepare == "on",
        max_commit_delay_seconds=settings.commit_delay_ms / 1000,
        quotas=quotas,
        on_close=lock.release,
    )


def migrate_database(settings: Settings) -> None:
    version = migrate(_ConnectionStringFile(settings).read)
    print(f"the database has schema version {version.version}")


def examine_database(settings: Settings) -> Sequence[str]:
    return examine(_ConnectionStringFile(settings).read)


class _ConnectionStringFile:
    """The file with the URL. It is read for each new connection."""

    def __init__(self, settings: Settings) -> None:
        if settings.postgres_url_file is None:
            raise StartRefused("name the file with the URL of the database: postgres_url_file")
        self._path: Path = settings.postgres_url_file

    def read(self) -> str:
        try:
            return self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            log.error("%s with the URL of the database cannot be read: %s", self._path, error)
            raise JournalUnavailable() from error
