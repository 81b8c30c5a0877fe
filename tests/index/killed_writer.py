"""The process that is killed: applies a log repeatedly from the watermark of the table."""

from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from memsidecar.stores.contract.index import IndexBatch, Table
from memsidecar.stores.lance.index import LanceIndex
from tests.index.conftest import CACHE_BYTES
from tests.index.episodes import FIRST, SampleEpisode, episodes

NAMESPACE = "space"


def entry(lsn: int) -> IndexBatch:
    """Return the effect of one log entry: two rows, a change, or a deleted session."""
    session = lsn // 13 % 5
    if lsn % 7 == 0:
        changed = SampleEpisode(lsn - 2, f"changed {lsn}", session=session, written_lsn=lsn, vector=(1, lsn))
        return IndexBatch(deleted_episodes=[(lsn - 2, 1)], episodes=episodes(changed))
    if lsn % 11 == 0:
        return IndexBatch(deleted_sessions=[(session + 2) % 5], deleted_before=[lsn])
    return IndexBatch(
        episodes=episodes(
            SampleEpisode(lsn, f"hello w{lsn}", session=session, vector=(1, lsn)),
            SampleEpisode(lsn, f"world w{lsn}", session=session, sequence=2, vector=()),
        )
    )


def work(table: Table) -> None:
    lsn = table.watermark
    while True:
        lsn += 1
        table.apply(entry(lsn))
        if lsn % 9 == 0:
            table.maintain(idle=True)
        if lsn % 40 == 0:
            table.purge()


def open_index(folder: Path) -> LanceIndex:
    return LanceIndex(folder, memory_bytes=CACHE_BYTES, retention_seconds=0.0, vector_index_rows=60)


def run(folder: Path, connection: "Connection[Any, Any]") -> None:
    """Send a message when ready, start when one arrives, and send another when the table exists."""
    connection.send("ready")
    connection.recv()
    index = open_index(folder)
    table = index.open(NAMESPACE, 1) or index.create(NAMESPACE, FIRST)
    connection.send("created")
    work(table)
