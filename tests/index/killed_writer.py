"""What is killed: a process that applies a log, again and again from where the table says it stands.

Prints a line when it is ready, and begins when it is told to.
"""

import sys
from pathlib import Path

from memsidecar.stores.contract.index import IndexBatch, Table
from memsidecar.stores.lance.index import LanceIndex
from tests.index.conftest import CACHE_BYTES
from tests.index.episodes import FIRST, Said, episodes

NAMESPACE = "space"


def entry(lsn: int) -> IndexBatch:
    """What one entry of the log means: two rows, or a change, or a session that goes."""
    session = lsn // 13 % 5
    if lsn % 7 == 0:
        changed = Said(lsn - 2, f"changed {lsn}", session=session, written_lsn=lsn, vector=(1, lsn))
        return IndexBatch(deleted_episodes=[(lsn - 2, 1)], episodes=episodes(changed))
    if lsn % 11 == 0:
        return IndexBatch(deleted_sessions=[(session + 2) % 5], deleted_before=[lsn])
    return IndexBatch(
        episodes=episodes(
            Said(lsn, f"hello w{lsn}", session=session, vector=(1, lsn)),
            Said(lsn, f"world w{lsn}", session=session, sequence=2, vector=()),
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


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    index = open_index(Path(sys.argv[1]))
    work(index.open(NAMESPACE, 1) or index.create(NAMESPACE, FIRST))
