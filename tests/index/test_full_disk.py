"""No room: writing fails and says so, reading goes on, and writing goes on when there is room again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memsidecar.stores.contract.index import Harvest, IndexUnavailable, Within
from memsidecar.stores.lance.index import LanceIndex
from tests.index.conftest import CACHE_BYTES
from tests.index.said import FIRST, Said, add, crowd, lsns, shelf
from tests.support.small_disk import Foreign, small_disk_at

ROOM_BYTES = 4 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk_at(tmp_path / "small", ROOM_BYTES) as disk:
        yield disk


def test_a_full_disk_stops_writing_and_nothing_else(small_disk: Path) -> None:
    index = LanceIndex(small_disk / "index", memory_bytes=CACHE_BYTES, kept_seconds=0.0)
    table = index.create("space", FIRST)
    table.apply(Harvest(episodes=crowd(range(1, 300))))
    foreign = Foreign(small_disk)
    foreign.take_all()
    with pytest.raises(IndexUnavailable, match="os error 28"):
        table.apply(Harvest(episodes=crowd(range(300, 600))))
    assert len(shelf(table, 1, chunks=False)) == 100 and len(table.matching(["w1"], Within(), 9)) == 9
    assert table.watermark == 299
    assert table.upkeep(idle=True) and table.figures().upkeep_failures == 1
    with pytest.raises(IndexUnavailable):
        table.apply(Harvest(gone_sessions=[1], gone_before=[900]))
    with pytest.raises(IndexUnavailable):
        index.create("other", FIRST)

    foreign.leave()
    table.apply(Harvest(episodes=crowd(range(300, 600))))
    add(table, Said(601, "sentinel"))
    assert lsns(table.matching(["sentinel"], Within(), 9)) == [601] and table.count(Within()) == 600
    assert table.upkeep(idle=True) and table.figures().upkeep_failures == 1
    assert index.create("other", FIRST).count(Within()) == 0
    index.close()


def test_a_full_disk_is_not_taken_for_damage(small_disk: Path) -> None:
    index = LanceIndex(small_disk / "index", memory_bytes=CACHE_BYTES)
    index.create("space", FIRST).apply(Harvest(episodes=crowd(range(1, 300))))
    index.close()
    Foreign(small_disk).take_all()
    index = LanceIndex(small_disk / "index", memory_bytes=CACHE_BYTES)
    table = index.open("space", 1)
    assert table is not None and table.count(Within()) == 299 and index.repairs == 0
    index.close()
