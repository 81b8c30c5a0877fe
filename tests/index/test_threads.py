"""Concurrent readers during writes, maintenance and purges never fail, and never see a partial commit."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from memsidecar.stores.contract.index import IndexBatch, IndexUnavailable, Table, TableFilter
from memsidecar.stores.lance.client import ReaderEpochs
from tests.index.conftest import Reopen
from tests.index.episodes import FIRST, SampleEpisode, episodes, many_episodes, partition, unit
from tests.support.waiting import HANG_SECONDS

COMMITS = 60
ROUNDS = 3


class Reader:
    """Reads repeatedly from the first commit to the last."""

    def __init__(self, read: Callable[[], None], stop: threading.Event) -> None:
        self._read = read
        self._stop = stop
        self.rounds = 0

    def __call__(self) -> None:
        while not self._stop.is_set():
            self._read()
            self.rounds += 1


def test_readers_never_fail_while_versions_change(reopen: Reopen) -> None:
    table = reopen().create("space", FIRST)
    table.apply(IndexBatch(episodes=many_episodes(range(1, 400))))
    stop = threading.Event()
    reads = [lambda: _pairs_are_whole(table), lambda: _searches(table), lambda: _counts(table)]
    readers = [Reader(read, stop) for read in reads * 2]
    with ThreadPoolExecutor(6) as threads:
        futures = [threads.submit(reader) for reader in readers]
        try:
            _write_for_a_while(table, readers, lambda: all(map(_has_read_or_failed, readers, futures)))
        finally:
            stop.set()
        for future in futures:
            future.result()
    assert all(reader.rounds > 0 for reader in readers) and table.stats().maintenance_failures == 0


def _has_read_or_failed(reader: Reader, future: "Future[None]") -> bool:
    return reader.rounds >= ROUNDS or future.done()


def _write_for_a_while(table: Table, readers: list[Reader], all_have_read: Callable[[], bool]) -> None:
    """Insert and delete pairs of rows, one commit each, until all readers have read several times."""
    rounds, give_up, lsn = 0, time.monotonic() + HANG_SECONDS, 1_000
    while lsn < 1_000 + COMMITS or not all_have_read():
        if rounds != (rounds := sum(reader.rounds for reader in readers)):
            give_up = time.monotonic() + HANG_SECONDS
        assert time.monotonic() < give_up, f"the readers starve: {lsn - 1_000} commits"
        lsn += 1
        pair = episodes(
            SampleEpisode(lsn, "pair", partition=7, session=70),
            SampleEpisode(lsn, "pair", partition=7, session=70, sequence=2),
        )
        table.apply(IndexBatch(episodes=pair))
        if lsn % 4 == 0:
            table.apply(IndexBatch(deleted_sessions=[70], deleted_before=[lsn]))
        if lsn % 7 == 0:
            table.maintain(idle=True)
        if lsn % 25 == 0:
            table.purge()


def _pairs_are_whole(table: Table) -> None:
    found = partition(table, 7, chunks=False).lsn.tolist()
    assert found[::2] == found[1::2]


def _searches(table: Table) -> None:
    assert len(table.nearest(unit(1), TableFilter(partition=1), 20)) == 20
    assert len(table.matching(["w1"], TableFilter(partition=1), 5)) == 5


def _counts(table: Table) -> None:
    assert table.count(TableFilter(partition=1)) == 133
    assert len(table.at_positions([(lsn % 17, lsn) for lsn in range(1, 400)])) == 399


def test_deleting_files_waits_for_earlier_readers_only() -> None:
    readers, began, go_on = ReaderEpochs(), threading.Event(), threading.Event()

    def read() -> None:
        with readers.reading():
            began.set()
            go_on.wait(HANG_SECONDS)

    earlier = threading.Thread(target=read)
    earlier.start()
    began.wait(HANG_SECONDS)
    waiting = threading.Thread(target=readers.wait_for_older)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    with readers.reading():
        go_on.set()
        waiting.join(HANG_SECONDS)
        assert not waiting.is_alive()
    earlier.join(HANG_SECONDS)


def test_a_closed_index_rejects_calls(reopen: Reopen) -> None:
    index = reopen()
    table = index.create("space", FIRST)
    index.close()
    for use in (
        lambda: table.count(TableFilter()),
        lambda: table.apply(IndexBatch(episodes=many_episodes([1]))),
        lambda: index.open("space", 1),
        lambda: index.create("space", FIRST),
    ):
        with pytest.raises(IndexUnavailable):
            use()
    index.close()
