"""Maintenance bounds fragments, versions and indexes; failures are counted and retried."""

import json
import shutil
import struct
import time
from pathlib import Path

import numpy as np
import pytest

from memsidecar.stores.contract.index import IndexBatch, IndexUnavailable, Table, TableFilter
from memsidecar.stores.lance import files
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.stores.lance.maintenance import BUSY_COMMITS, MaintenanceConfig
from memsidecar.stores.lance.table import LanceTable
from tests.index.conftest import CACHE_BYTES, Reopen
from tests.index.episodes import FIRST, SampleEpisode, add, episodes, lsns, many_episodes, partition, unit

KEPT_SECONDS = 3.0


@pytest.fixture
def table(reopen: Reopen) -> Table:
    return reopen().create("space", FIRST)


@pytest.mark.slow
def test_a_thousand_single_appends_leave_few_files(folder: Path, reopen: Reopen) -> None:
    table = reopen().create("space", FIRST)
    for lsn in range(1, 1_001):
        table.apply(IndexBatch(episodes=many_episodes([lsn])))
        table.maintain(idle=False)
        assert lsn % 100 or table.stats().fragments < BUSY_COMMITS[0] + 12
    _maintain_until_done(table)
    figures = table.stats()
    assert figures.fragments < 12 and figures.unindexed_rows == 0 and figures.versions <= 2, figures
    packed = LanceIndex(
        folder.with_name("packed"), memory_bytes=CACHE_BYTES, vector_index_rows=600, retention_seconds=0
    )
    whole = packed.create("space", FIRST)
    whole.apply(IndexBatch(episodes=many_episodes(range(1, 1_001))))
    _maintain_until_done(whole)
    assert figures.disk_bytes < 2 * whole.stats().disk_bytes
    packed.close()


def _maintain_until_done(table: Table) -> None:
    for _ in range(10):
        if not table.maintain(idle=True):
            return
        time.sleep(0.01)
    raise AssertionError("idle upkeep never comes to an end")


def test_old_versions_are_kept_for_the_retention(folder: Path) -> None:
    index = LanceIndex(folder, memory_bytes=CACHE_BYTES, retention_seconds=3_600.0)
    table = index.create("space", FIRST)
    for lsn in range(1, 6):
        add(table, SampleEpisode(lsn))
    table.maintain(idle=True)
    assert table.stats().versions > 5
    table._maintenance.config = MaintenanceConfig(
        retention_seconds=1.0
    )  # only now: the time until here depends on the machine
    time.sleep(1.2)
    assert table.maintain(idle=True) and not table.maintain(idle=True)
    assert table.stats().versions == 1
    index.close()


@pytest.mark.slow
def test_the_last_version_that_is_certainly_synced_is_kept_until_the_newest_is(tmp_path: Path) -> None:
    """Power loss may damage everything younger; the older version is then still readable."""
    folder, safe = _index_with_synced_version(tmp_path)
    for manifest in files.manifests(safe.parents[1]):
        if manifest != safe:
            manifest.write_bytes(b"")
    again = LanceIndex(folder, memory_bytes=CACHE_BYTES)
    healed = again.open("space", 1)
    assert healed is not None and healed.count(TableFilter()) == 1
    again.close()


def _index_with_synced_version(tmp_path: Path) -> tuple[Path, Path]:
    """Return an index folder and its second newest version, which maintenance saw while the newest was young."""
    for attempt in range(10):
        folder = tmp_path / f"index-{attempt}"
        safe, age_seconds = _safe_and_young(folder)
        if age_seconds < KEPT_SECONDS:
            return folder, safe
    raise AssertionError(f"no upkeep came to its end within {KEPT_SECONDS} seconds")


def _safe_and_young(folder: Path) -> tuple[Path, float]:
    """Return the older version, and the maximum age of the younger one at the end of maintenance."""
    index = LanceIndex(folder, memory_bytes=CACHE_BYTES, retention_seconds=KEPT_SECONDS)
    table = index.create("space", FIRST)
    add(table, SampleEpisode(1))
    table.maintain(idle=True)
    time.sleep(KEPT_SECONDS + 0.2)
    assert table.maintain(idle=True)
    (safe,) = files.manifests(next(folder.glob("*.lance")))
    began = time.monotonic()
    add(table, SampleEpisode(2))
    assert table.maintain(idle=True)
    age_seconds = time.monotonic() - began
    index.close()
    return safe, age_seconds


def test_a_large_table_with_rare_writes_is_not_rewritten_each_time(folder: Path) -> None:
    index = LanceIndex(folder, memory_bytes=CACHE_BYTES, retention_seconds=60.0)
    table = index.create("space", FIRST)
    add(table, SampleEpisode(1))
    table.maintain(idle=True)
    table._maintenance.rows = 100_000
    for lsn in range(2, 12):
        _wait(table, 50.0)
        add(table, SampleEpisode(lsn))
        assert not table.maintain(idle=True)
    _wait(table, 61.0)
    assert table.maintain(idle=True)
    index.close()


def _wait(table: LanceTable, seconds: float) -> None:
    assert table._maintenance.unchanged_since is not None
    table._maintenance.unchanged_since -= seconds


def test_a_busy_table_is_maintained_only_when_it_pays(table: Table) -> None:
    for lsn in range(1, BUSY_COMMITS[0]):
        add(table, SampleEpisode(lsn))
        assert not table.maintain(idle=False)
    add(table, SampleEpisode(100))
    assert table.maintain(idle=False) and table.stats().fragments == 1


def test_a_large_table_gets_a_vector_index_and_finds_later_rows(table: Table) -> None:
    table.apply(IndexBatch(episodes=many_episodes(range(1, 1_200))))
    assert table.maintain(idle=False)
    assert table._maintenance.has_vector_index  # type: ignore[attr-defined]
    add(table, SampleEpisode(2_000, vector=(0, 0, 1), partition=50), SampleEpisode(2_001, vector=(), partition=50))
    assert lsns(table.nearest(unit(0, 0, 1), TableFilter(), 1)) == [2_000]
    assert lsns(table.nearest(unit(1), TableFilter(partition=50), 9)) == [2_000]
    assert len(table.nearest(unit(1), TableFilter(), 1_190)) == 1_190


def test_a_failure_is_counted_reported_and_retried(
    table: Table, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for lsn in range(1, 5):
        add(table, SampleEpisode(lsn))
    data = next(folder.glob("*.lance")) / "data"
    shutil.move(data, folder / "elsewhere")
    assert table.maintain(idle=True) and table.maintain(idle=True)
    assert table.stats().maintenance_failures == 2 and "Not found" in caplog.text
    shutil.move(folder / "elsewhere", data)
    assert table.maintain(idle=True)
    assert table.stats().maintenance_failures == 2 and table.stats().fragments == 1


def test_an_index_that_fails_in_a_search_is_rebuilt_by_maintenance(table: Table, folder: Path, reopen: Reopen) -> None:
    table.apply(IndexBatch(episodes=many_episodes(range(1, 300))))
    table.maintain(idle=True)
    opened = reopen().open("space", 1)
    assert opened is not None
    for path in folder.glob("*.lance/_indices/*/*"):
        path.unlink()
    with pytest.raises(IndexUnavailable):
        opened.matching(["w1"], TableFilter(), 5)
    assert opened.maintain(idle=False)
    assert len(opened.matching(["w1"], TableFilter(), 5)) == 5


def test_an_index_that_fails_in_maintenance_is_rebuilt_by_the_next(table: Table, folder: Path, reopen: Reopen) -> None:
    table.apply(IndexBatch(episodes=many_episodes(range(1, 300))))
    table.maintain(idle=True)
    opened = reopen().open("space", 1)
    assert opened is not None
    for path in folder.glob("*.lance/_indices/*/*"):
        path.write_bytes(bytes(path.stat().st_size))
    add(opened, SampleEpisode(300), SampleEpisode(301))
    assert opened.maintain(idle=True) and opened.maintain(idle=True)
    assert opened.stats().maintenance_failures == 1 and opened.stats().unindexed_rows == 0
    assert len(opened.matching(["w1"], TableFilter(), 5)) == 5


SECRET = "hunter2secretword"
SECRET_VECTOR = (0.123456, -0.654321, 0.777777, 0.1)


@pytest.mark.parametrize("rows", [3, 1_000], ids=["few", "with a vector index"])
@pytest.mark.parametrize("when", ["at once", "after upkeep", "twice"])
def test_a_purge_leaves_no_byte_of_deleted_rows(table: Table, folder: Path, rows: int, when: str) -> None:
    table.apply(IndexBatch(episodes=many_episodes(range(1, rows))))
    add(table, SampleEpisode(5_000, f"my {SECRET} is", session=99, name="Mallory", vector=SECRET_VECTOR))
    if when != "at once":
        table.maintain(idle=True)
    assert lsns(table.matching([SECRET], TableFilter(), 9)) == [5_000] and _traces(folder) == {SECRET, "name", "vector"}
    table.apply(IndexBatch(deleted_sessions=[99], deleted_before=[9_000]))
    if when == "twice":
        table.maintain(idle=True)
    table.purge()
    assert _traces(folder) == set()
    assert table.stats().versions == 1 and table.count(TableFilter()) == rows - 1
    table.purge()
    assert len(table.matching(["w1"], TableFilter(), 9)) > 0 and lsns(table.matching([SECRET], TableFilter(), 9)) == []


def _traces(folder: Path) -> set[str]:
    vector = episodes(SampleEpisode(1, vector=SECRET_VECTOR)).vectors[0]
    patterns = {SECRET: SECRET.encode(), "name": b"Mallory", "vector": struct.pack("<4f", *vector[:4])}
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return {name for name, pattern in patterns.items() if pattern in content}


def test_a_purge_handles_an_index_with_many_segments(table: Table) -> None:
    table.apply(IndexBatch(episodes=many_episodes(range(1, 700))))
    table.maintain(idle=True)
    for lsn in range(700, 704):
        table.apply(IndexBatch(episodes=many_episodes([lsn])))
        table.maintain(idle=True)
    assert table.stats().fragments > 2
    table.apply(IndexBatch(deleted_episodes=[(5, 5), (702, 702)]))
    table.purge()
    assert table.stats().versions == 1 == table.stats().fragments and table.count(TableFilter()) == 701


def test_a_purge_deletes_quarantined_tables(folder: Path, reopen: Reopen) -> None:
    add(reopen().create("space", FIRST), SampleEpisode(1, SECRET))
    reopen()
    shutil.rmtree(next(folder.glob("*.lance")) / "_versions")
    index = reopen()
    assert index.open("space", 1) is None and SECRET in _traces(folder)
    index.create("space", FIRST).purge()
    assert _traces(folder) == set()


def test_a_table_of_another_layout_takes_quarantined_rows_along_if_a_purge_is_pending(
    folder: Path, reopen: Reopen
) -> None:
    add(reopen().create("space", FIRST), SampleEpisode(1, SECRET))
    reopen()
    shutil.rmtree(next(folder.glob("*.lance")) / "_versions")
    index = reopen()
    assert index.open("space", 1) is None and SECRET in _traces(folder)
    index.create("space", FIRST)
    files.mark_purge_pending(next(folder.glob("*.lance")))
    (metadata,) = folder.glob("*.json")
    metadata.write_text(json.dumps(json.loads(metadata.read_text()) | {"layout": 0}))
    assert reopen().open("space", 1) is None
    assert _traces(folder) == set()


def test_no_file_of_a_dropped_table_is_left(table: Table, folder: Path, reopen: Reopen) -> None:
    add(table, SampleEpisode(1, SECRET))
    reopen().drop("space", 1)
    assert list(folder.iterdir()) == []


def test_vectors_keep_their_bits(table: Table) -> None:
    written = many_episodes(range(1, 700))
    table.apply(IndexBatch(episodes=written))
    table.maintain(idle=True)
    found = np.concatenate([partition(table, number, chunks=False).vectors for number in range(3)])
    assert {row.tobytes() for row in found} == {row.tobytes() for row in written.vectors}
