"""Checkpoints of the write-ahead log while the process has no free descriptor."""

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from memsidecar.domain.errors import FatalStoreError, Overloaded
from memsidecar.stores.sqlite.page_slack import SlackCleaner
from memsidecar.stores.sqlite.wal import PAGE_BYTES, Checkpointer


@pytest.fixture
def connection(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("CREATE TABLE texts (text TEXT)")
    return connection


@contextmanager
def no_free_descriptor() -> Iterator[None]:
    """Let no file be opened. Open ones work."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_checkpoint_waits_for_a_free_descriptor(
    connection: sqlite3.Connection, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    checkpointer = Checkpointer(connection, path, PAGE_BYTES)
    checkpointer.track()
    connection.execute("INSERT INTO texts VALUES ('first')")
    checkpointer.wrote(2)
    with no_free_descriptor():
        checkpointer.run_when_due()
        with pytest.raises(Overloaded, match="no free file descriptor"):
            checkpointer.truncate_tracked()
    assert "no checkpoint yet" in caplog.text
    assert 2 in checkpointer.truncate_tracked(), "the page of the table is still known to be written"


def test_the_cleaner_waits_for_a_free_descriptor(connection: sqlite3.Connection, path: Path) -> None:
    with closing(SlackCleaner(path)) as cleaner:
        with no_free_descriptor(), pytest.raises(Overloaded, match="no free file descriptor"):
            cleaner.begin(connection)
        cleaner.begin(connection)


def test_a_log_that_cannot_be_read_is_fatal(connection: sqlite3.Connection, path: Path) -> None:
    """No retry helps, and nothing tells whether the disk kept what was written."""
    checkpointer = Checkpointer(connection, path, PAGE_BYTES)
    checkpointer.track()
    path.with_name(f"{path.name}-wal").unlink()
    with pytest.raises(FatalStoreError):
        checkpointer.truncate_tracked()
