"""On a full disk writes fail with an error, reads work, and writes work again when there is space."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memsidecar.stores.contract.index import IndexBatch, IndexUnavailable, TableFilter
from memsidecar.stores.lance.index import LanceIndex
from tests.index.conftest import CACHE_BYTES
from tests.index.episodes import FIRST, SampleEpisode, add, lsns, many_episodes, partition
from tests.support.small_disk import ForeignFile, small_disk_at

ROOM_BYTES = 4 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk_at(tmp_path / "small", ROOM_BYTES) as disk:
        yield disk


def test_a_full_disk_stops_writing_and_nothing_else(small_disk: Path) -> None:
    index = LanceIndex(small_disk / "index", memory_bytes=CACHE_BYTES, retention_seconds=0.0)
    table = index.create("space", FIRST)
    table.apply(IndexBatch(episodes=many_episodes(range(1, 300))))
    foreign = ForeignFile(small_disk)
    foreign.fill_disk()
    with pytest.raises(IndexUnavailable, match="os error 28"):
        table.apply(IndexBatch(episodes=many_episodes(range(300, 600))))
    assert len(partition(table, 1, chunks=False)) == 100 and len(table.matching(["w1"], TableFilter(), 9)) == 9
    assert table.watermark == 299
    assert table.maintain(idle=True) and table.stats().maintenance_failures == 1
    with pytest.raises(IndexUnavailable):
        table.apply(IndexBatch(deleted_sessions=[1], deleted_before=[900]))
    with pytest.raises(IndexUnavailable):
        index.create("other", FIRST)

    foreign.remove()
    table.apply(IndexBatch(episodes=many_episodes(range(300, 600))))
    add(table, SampleEpisode(601, "sentinel"))
    assert lsns(table.matching(["sentinel"], TableFilter(), 9)) == [601] and table.count(TableFilter()) == 600
    assert table.maintain(idle=True) and table.stats().maintenance_failures == 1
    assert index.create("other", FIRST).count(TableFilter()) == 0
    index.close()


def test_a_full_disk_is_not_taken_for_damage(small_disk: Path) -> None:
    index = LanceIndex(small_disk / "index", memory_bytes=CACHE_BYTES)
    index.create("space", FIRST).apply(IndexBatch(episodes=many_episodes(range(1, 300))))
    index.close()
    ForeignFile(small_disk).fill_disk()
    index = LanceIndex(small_disk / "index", memory_bytes=CACHE_BYTES)
    table = index.open("space", 1)
    assert table is not None and table.count(TableFilter()) == 299 and index.repairs == 0
    index.close()
