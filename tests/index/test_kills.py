"""After a kill at any point the table opens with its watermark, and replaying the log completes it."""

import multiprocessing
import random
import time
from pathlib import Path

import pytest

from memsidecar.stores.contract.index import TableFilter
from memsidecar.stores.volatile.index import VolatileTable
from tests.index.episodes import FIRST, comparable, partition
from tests.index.killed_writer import NAMESPACE, entry, open_index, run
from tests.support.attempts import Attempts, scaled

# The import of this module is most of the time of a start. LanceDB itself starts a thread: imported after the fork.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["lance_namespace"])


ROUNDS_PER_TABLE = 6
"A check replays the log of a table from its beginning."


def kill_at_random(folder: Path, chance: random.Random) -> bool:
    """Return whether the table existed before the kill."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=run, args=(folder, theirs))
    process.start()
    try:
        theirs.close()
        assert ours.recv() == "ready"
        ours.send("start")
        time.sleep(chance.uniform(0.1, 1.2))
        assert process.is_alive(), "it died by itself"
        return ours.poll()
    finally:
        process.kill()
        process.join()
        ours.close()


def check(folder: Path, existed: bool) -> int:
    """Replay the log from the watermark, and compare with a table whose writer was never killed.

    A table that existed before the kill needs no repair. One whose creation was killed may lack indexes.
    """
    index = open_index(folder)
    table = index.open(NAMESPACE, 1)
    if table is None:
        index.close()
        return 0
    reached = table.watermark
    target = reached + 20
    oracle = VolatileTable(FIRST)
    for lsn in range(1, target + 1):
        oracle.apply(entry(lsn))
        if lsn > reached:
            table.apply(entry(lsn))
    assert comparable(partition(table, 1, chunks=False)) == comparable(partition(oracle, 1, chunks=False))
    assert table.count(TableFilter()) == oracle.count(TableFilter())
    assert len(table.matching(["hello"], TableFilter(), 10_000)) == len(
        oracle.matching(["hello"], TableFilter(), 10_000)
    )
    assert index.repairs == 0 or not existed
    index.close()
    return reached


def rounds(folder: Path, count: int, attempts: Attempts) -> int:
    """Kill this often; return the watermark of the last table."""
    attack = attempts.of(
        "kill -9 of a writer of the index alone",
        "the table opens without a repair, and the rest of the log makes it equal to one that was never killed",
    )
    chance = random.Random(count)
    reached = [0]
    for number in range(count):
        with attack.attempt():
            if number % ROUNDS_PER_TABLE == 0:
                reached = [0]
            table = folder / str(number // ROUNDS_PER_TABLE)
            existed = kill_at_random(table, chance)
            reached.append(check(table, existed))
            assert reached == sorted(reached), reached
    return reached[-1]


@pytest.mark.slow
def test_a_killed_writer_loses_and_duplicates_nothing(folder: Path) -> None:
    assert rounds(folder, 3, Attempts()) > 10


@pytest.mark.adversary
def test_a_writer_that_is_killed_repeatedly_loses_and_duplicates_nothing(folder: Path, attempts: Attempts) -> None:
    rounds(folder, scaled(0.2), attempts)
