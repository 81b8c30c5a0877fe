"""After a kill at any point the table opens with its watermark, and replaying the log completes it."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memsidecar.stores.contract.index import TableFilter
from memsidecar.stores.volatile.index import VolatileTable
from tests.index.episodes import FIRST, comparable, partition
from tests.index.killed_writer import NAMESPACE, entry, open_index

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def worker(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-m", "tests.index.killed_writer", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def kill_at_random(folder: Path, chance: random.Random) -> None:
    with worker(folder) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.stdin.write(b"\n")
        process.stdin.flush()
        time.sleep(chance.uniform(0.1, 1.2))
        assert process.poll() is None, "it died by itself"


def check(folder: Path) -> int:
    """Replay the log from the watermark, and compare with a table whose writer was never killed."""
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
    assert index.repairs == 0
    index.close()
    return reached


def rounds(folder: Path, count: int) -> None:
    chance = random.Random(count)
    reached = [0]
    for _ in range(count):
        kill_at_random(folder, chance)
        reached.append(check(folder))
    assert reached[-1] > 10 and reached == sorted(reached), reached


@pytest.mark.slow
def test_a_killed_writer_loses_and_duplicates_nothing(folder: Path) -> None:
    rounds(folder, 3)


@pytest.mark.kills
def test_a_writer_that_is_killed_repeatedly_loses_and_duplicates_nothing(folder: Path) -> None:
    rounds(folder, 25)
