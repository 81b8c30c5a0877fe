"""Opening the journal, the index and the key of page tokens; `memsidecar doctor` and `memsidecar reindex`."""

import logging
import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast
from uuid import uuid4

from memsidecar.api.page_tokens import KEY_BYTES
from memsidecar.assembly.components import embedders
from memsidecar.domain.errors import FatalStoreError, StartRefused
from memsidecar.domain.quota import QuotaLookup, no_quotas
from memsidecar.layers.episodic.memory import IndexRebuild
from memsidecar.settings import Settings, is_variable_set, prepare_libraries
from memsidecar.stores.contract import Index, Journal
from memsidecar.stores.lance.process_memory import ENVIRONMENT, defer_rest_client, limit_malloc_arenas
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.index import VolatileIndex
from memsidecar.stores.volatile.journal import VolatileJournal

log = logging.getLogger(__name__)

DISK_FAILED = 74  # EX_IOERR
INDEX_FOLDER = "index"
TEMPORARY_FOLDER = "index.tmp"
"LanceDB sorts vectors in files here when it builds their index. The root of a container is often read-only."
PAGE_KEY_FILE = "page.key"
INDEX_ID_FILE = "index.id"


class PostgresModule(Protocol):
    """The functions of `memsidecar.assembly.postgres`."""

    def open_postgres(self, settings: Settings, quotas: QuotaLookup) -> Journal: ...

    def migrate_database(self, settings: Settings) -> None: ...

    def examine_database(self, settings: Settings) -> Sequence[str]: ...


Progress = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]
"Opens a progress bar with a title and a total. Its value advances the bar."


def open_journal(settings: Settings, quotas: QuotaLookup = no_quotas) -> Journal:
    if settings.journal == "volatile":
        log.warning("the journal is volatile: everything is forgotten at exit")
        return VolatileJournal(quotas=quotas)
    if settings.journal == "postgres":
        return _postgres().open_postgres(settings, quotas)
    return SqliteJournal(
        settings.data_dir,
        read_connections=settings.read_threads + 1,
        max_commit_delay_seconds=settings.commit_delay_ms / 1000,
        checkpoint_bytes=settings.wal_checkpoint_bytes,
        ballast_bytes=settings.ballast_bytes,
        on_fatal=_exit_at_once,
        quotas=quotas,
    )


def _postgres() -> PostgresModule:
    """Import the driver of PostgreSQL, which is an optional dependency."""
    if find_spec("psycopg") is None:
        raise StartRefused("journal = postgres needs psycopg: pip install 'memsidecar[postgres]'")
    return cast(PostgresModule, import_module("memsidecar.assembly.postgres"))


def page_key(settings: Settings) -> bytes:
    """Return the key that encrypts page tokens. Requires the lock on the data directory, which the journal holds."""
    fresh = secrets.token_bytes(KEY_BYTES)
    if settings.journal == "volatile":
        return fresh
    file = settings.data_dir / PAGE_KEY_FILE
    try:
        if file.exists() and len(stored := file.read_bytes()) == KEY_BYTES:
            return stored
        file.touch(0o600)
        file.write_bytes(fresh)
    except OSError as error:
        log.warning("%s: %s; page tokens are invalid after a restart", file, error.strerror)
    return fresh


def index_id(settings: Settings) -> str:
    """Return the name of this directory's index among those that follow one database; empty if there is one only."""
    if settings.journal != "postgres":
        return ""
    file = settings.data_dir / INDEX_ID_FILE
    if not file.exists():
        file.write_text(uuid4().hex)
    return file.read_text()


def _exit_at_once(error: FatalStoreError) -> None:
    """Exit after a failed fsync, which cannot be retried: the kernel may have dropped the pages."""
    log.critical("stopping: the journal's state on disk is unknown: %s", error)
    os._exit(DISK_FAILED)


def open_index(settings: Settings) -> Index:
    """Open the index. LanceDB is imported here, because its import takes seconds in which RPCs are served already."""
    if settings.index == "volatile" or settings.journal == "volatile":
        return VolatileIndex()
    prepare_libraries({**ENVIRONMENT, **_temporary_folder(settings)})
    limit_malloc_arenas()
    defer_rest_client()
    lance = import_module("memsidecar.stores.lance.index")
    folder = settings.data_dir / INDEX_FOLDER
    index = lance.LanceIndex(
        folder, memory_bytes=settings.index_cache_bytes, vector_index_rows=settings.vector_index_messages
    )
    return cast(Index, index)


def _temporary_folder(settings: Settings) -> dict[str, str]:
    """Return TMPDIR for LanceDB, without the files of a process that was killed; nothing if it is set already."""
    if is_variable_set("TMPDIR"):
        return {}
    folder = settings.data_dir / TEMPORARY_FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        log.warning("%s cannot be created, temporary files of the index go to the system's folder: %s", folder, error)
        return {}
    return {"TMPDIR": str(folder)}


def drop_unused_index(settings: Settings) -> None:
    """Remove an index that this configuration does not update: erased data would stay in it.

    Requires the lock on the data directory, which the journal holds.
    """
    folder = settings.data_dir / INDEX_FOLDER
    if settings.journal == "volatile" or settings.index == "lancedb" or not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise StartRefused(f"{folder} would keep what is erased, and cannot be removed: {error}") from error
    log.warning(
        "removed %s: with index = %s erased data would stay in it; index = lancedb rebuilds it", folder, settings.index
    )


def run_doctor(settings: Settings) -> int:
    """Examine the data directory, or the database, and return the exit code: 0 if it has no damage."""
    is_postgres = settings.postgres_url_file is not None
    findings = _postgres().examine_database(settings) if is_postgres else examine(settings.data_dir)
    for finding in findings:
        print(finding)
    place = "the database" if is_postgres else settings.data_dir
    print(f"{place}: {'damaged' if findings else 'whole'}")
    return 1 if findings else 0


def run_migrate(settings: Settings) -> int:
    """Bring the schema of the database to the version of this sidecar, and return the exit code."""
    _postgres().migrate_database(settings)
    return 0


def run_reindex(settings: Settings, progress: Progress) -> int:
    """Rebuild the index from the journal and return the exit code."""
    if settings.journal == "volatile" or settings.index != "lancedb":
        raise StartRefused("there is no index on disk to rebuild: the journal or the index is not stored on disk")
    if not settings.data_dir.is_dir():
        raise StartRefused(f"{settings.data_dir} is not a data directory")
    configured_embedders = embedders(settings)
    with ExitStack() as opened:
        journal = open_journal(settings)
        opened.callback(journal.close)
        index = open_index(settings)
        opened.callback(index.close)
        reindex = IndexRebuild(journal, index, configured_embedders, index_id(settings))
        reindex(opened.enter_context(progress("indexing", reindex.total())))
    return 0
