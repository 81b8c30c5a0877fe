"""Repair of damaged files. LanceDB never syncs, so power loss may damage any of them."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memsidecar.stores.contract.index import IndexBatch, IndexUnavailable, Table, TableFilter
from memsidecar.stores.lance import files
from memsidecar.stores.lance.index import LanceIndex
from tests.index.conftest import CACHE_BYTES, Reopen
from tests.index.episodes import FIRST, SampleEpisode, add, lsns, many_episodes, partition, unit

Damage = Callable[[Path], object]
LAST = 705


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed table with a vector index, unindexed rows, and a deletion."""
    folder = tmp_path_factory.mktemp("prepared")
    index = LanceIndex(folder, memory_bytes=CACHE_BYTES, retention_seconds=0.0, vector_index_rows=600)
    table = index.create("space", FIRST)
    table.apply(IndexBatch(episodes=many_episodes(range(1, 700))))
    table.maintain(idle=True)
    for lsn in range(700, LAST):
        table.apply(IndexBatch(episodes=many_episodes([lsn])))
    table.apply(IndexBatch(deleted_episodes=[(650, 650)], episodes=many_episodes([LAST])))
    index.close()
    return folder


@pytest.fixture
def home(prepared: Path, folder: Path) -> Path:
    """A copy of the folder of that table."""
    shutil.copytree(prepared, folder)
    return next(folder.glob("*.lance"))


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garble(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


def hollow(path: Path) -> None:
    """Write zeros into the middle, as when some pages were never written; the end is intact."""
    content = bytearray(path.read_bytes())
    content[256:-256] = bytes(max(0, len(content) - 512))
    path.write_bytes(content)


def garble_versions(home: Path) -> None:
    for manifest in files.manifests(home):
        garble(manifest)


def clear(home: Path) -> None:
    shutil.rmtree(home)
    home.mkdir()


SPOILERS = [empty, zero, cut, garble, hollow, Path.unlink]


def newest_data(home: Path) -> Path:
    return max((home / "data").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def largest_data(home: Path) -> Path:
    return max((home / "data").iterdir(), key=lambda path: path.stat().st_size)


def check_complete_after_replay(table: Table) -> None:
    """Replay the log from the watermark, and check that the table is complete and works."""
    table.apply(IndexBatch(episodes=many_episodes(range(table.watermark + 1, LAST + 1))))
    table.apply(IndexBatch(deleted_episodes=[(650, 650)]))
    every = [lsn for lsn in range(1, LAST + 1) if lsn != 650]
    assert sorted(lsn for number in range(3) for lsn in lsns(partition(table, number, chunks=False))) == every
    assert table.maintain(idle=True) and table.stats().maintenance_failures == 0, table.stats()
    add(table, SampleEpisode(LAST + 1, "sentinel", partition=9, session=99, vector=(0, 0, 1)))
    assert lsns(table.matching(["sentinel"], TableFilter(), 9)) == [LAST + 1]
    assert len(table.nearest(unit(1), TableFilter(), 50)) == 50
    assert len(table.at_positions([(lsn % 17, lsn) for lsn in every])) == len(every)


def repaired(index: LanceIndex) -> Table:
    table = index.open("space", 1)
    assert table is not None
    return table


@pytest.mark.parametrize("spoil", SPOILERS, ids=lambda spoil: spoil.__name__)
def test_a_damaged_newest_version_is_rolled_back(home: Path, reopen: Reopen, spoil: Damage) -> None:
    spoil(files.manifests(home)[0])
    index = reopen()
    assert repaired(index).watermark == LAST - 1
    check_complete_after_replay(repaired(index))


def test_several_damaged_versions_are_rolled_back(home: Path, reopen: Reopen) -> None:
    for manifest in files.manifests(home)[:4]:
        empty(manifest)
    index = reopen()
    assert repaired(index).watermark < LAST - 1 and index.repairs == 4
    assert len(list(home.glob("_versions/*.damaged-1"))) == 4
    check_complete_after_replay(repaired(index))


@pytest.mark.parametrize("spoil", SPOILERS, ids=lambda spoil: spoil.__name__)
def test_a_damaged_newest_data_file_moves_the_watermark_back(home: Path, reopen: Reopen, spoil: Damage) -> None:
    spoil(newest_data(home))
    index = reopen()
    assert repaired(index).watermark == LAST - 1
    check_complete_after_replay(repaired(index))


@pytest.mark.parametrize("spoil", SPOILERS, ids=lambda spoil: spoil.__name__)
def test_a_table_beyond_repair_is_quarantined(home: Path, folder: Path, reopen: Reopen, spoil: Damage) -> None:
    spoil(largest_data(home))
    index = reopen()
    assert index.open("space", 1) is None and index.generations("space") == []
    assert [path.name for path in folder.glob("*.damaged-*")] == [f"{home.name}.damaged-1"]
    check_complete_after_replay(index.create("space", FIRST))


@pytest.mark.parametrize("spoil", [empty, garble, Path.unlink], ids=lambda spoil: spoil.__name__)
def test_a_damaged_deletion_is_replayed(home: Path, reopen: Reopen, spoil: Damage) -> None:
    for path in (home / "_deletions").iterdir():
        spoil(path)
    index = reopen()
    assert repaired(index).watermark == LAST - 1
    check_complete_after_replay(repaired(index))


@pytest.mark.parametrize("column", ["terms", "partition", "session", "vector"])
@pytest.mark.parametrize("spoil", [empty, zero, Path.unlink], ids=lambda spoil: spoil.__name__)
def test_a_damaged_index_is_rebuilt(home: Path, reopen: Reopen, column: str, spoil: Damage) -> None:
    handle = repaired(reopen())._client  # type: ignore[attr-defined]
    uuid = handle.indexes()[column].index_uuid
    reopen()
    for path in (home / "_indices" / uuid).iterdir():
        spoil(path)
    index = reopen()
    assert repaired(index).watermark == LAST and index.repairs == 1
    check_complete_after_replay(repaired(index))


def test_a_folder_without_indexes_keeps_its_rows(home: Path, reopen: Reopen) -> None:
    shutil.rmtree(home / "_indices")
    index = reopen()
    assert repaired(index).watermark == LAST
    check_complete_after_replay(repaired(index))


@pytest.mark.parametrize(
    "damage",
    [
        lambda home: shutil.rmtree(home / "_versions"),
        garble_versions,
        clear,
        lambda home: shutil.rmtree(home / "data"),
    ],
    ids=["no versions", "versions of garbage", "an empty folder", "no data"],
)
def test_an_unreadable_table_is_quarantined(home: Path, folder: Path, reopen: Reopen, damage: Damage) -> None:
    damage(home)
    assert reopen().open("space", 1) is None
    assert not home.exists() and len(list(folder.glob("*.damaged-1"))) == 1


def test_a_table_of_an_earlier_layout_is_dropped(home: Path, folder: Path, reopen: Reopen) -> None:
    """Its columns have other names. The journal has all rows."""
    metadata = home.with_suffix(".json")
    content = json.loads(metadata.read_text())
    del content["layout"]
    metadata.write_text(json.dumps(content))
    index = reopen()
    assert [generation.number for generation in index.generations("space")] == [1]
    assert index.open("space", 1) is None and list(folder.iterdir()) == []
    assert index.generations("space") == []


def test_an_intact_table_is_never_repaired(folder: Path, reopen: Reopen) -> None:
    """Its newest version lists the files that the compaction before it deleted."""
    table = reopen().create("space", FIRST)
    table.apply(IndexBatch(episodes=many_episodes(range(1, 700))))
    table.maintain(idle=True)
    table.apply(IndexBatch(deleted_sessions=range(5), deleted_before=[9_999] * 5))
    table.maintain(idle=True)
    home = next(folder.glob("*.lance"))
    assert all(files.seems_complete(manifest) for manifest in files.manifests(home))
    index = reopen()
    assert repaired(index).watermark == 696 and index.repairs == 0


@pytest.mark.parametrize("content", [b"", b"garbage", b'{"version":99}', b'{"version":1}'])
def test_leftover_files_and_a_wrong_version_hint_do_no_harm(home: Path, reopen: Reopen, content: bytes) -> None:
    (home / "_versions" / "latest_version_hint.json").write_bytes(content)
    (home / "_versions" / ".tmp_18446744073709551000.manifest_x").write_bytes(b"")
    (home / "data" / ".tmp123").write_bytes(content)
    (home / "data" / "half.lance").write_bytes(content)
    index = reopen()
    assert repaired(index).watermark == LAST and index.repairs == 0
    check_complete_after_replay(repaired(index))


def test_an_unfinished_file_of_a_killed_process_is_removed(home: Path, reopen: Reopen) -> None:
    unfinished = [home / "data" / ".tmpQNMOlK", home / "_transactions" / ".tmpGggzp9"]
    for path in unfinished:
        path.write_bytes(b"erased text")
    assert repaired(reopen()).watermark == LAST
    assert not any(path.exists() for path in unfinished)


def test_without_its_metadata_file_a_table_is_absent(home: Path, folder: Path, reopen: Reopen) -> None:
    for damaged in (b"", b"{}", b"[1]", b'{"namespace":"space","number":2,"embedder":"","dimensions":8}'):
        home.with_suffix(".json").write_bytes(damaged)
        index = reopen()
        assert index.generations("space") == [] and index.open("space", 1) is None
    check_complete_after_replay(reopen().create("space", FIRST))
    assert len(list(folder.glob("*.json"))) == 1


def test_a_table_that_crashes_the_process_is_not_opened_for_ever(home: Path, reopen: Reopen) -> None:
    noted = home.with_suffix(".opening")
    noted.write_bytes(b".")
    index = reopen()
    assert repaired(index).watermark == LAST and not noted.exists()
    reopen()
    noted.write_bytes(b"..")
    index = reopen()
    assert index.open("space", 1) is None and index.repairs == 1 and not noted.exists()
    check_complete_after_replay(index.create("space", FIRST))


def test_only_the_newest_quarantined_table_is_kept_and_dropping_leaves_nothing(folder: Path, reopen: Reopen) -> None:
    for _ in range(3):
        index = reopen()
        add(index.create("space", FIRST), SampleEpisode(1))
        home = next(folder.glob("*.lance"))
        reopen()
        shutil.rmtree(home / "_versions")
        assert reopen().open("space", 1) is None
    assert [path.name[-2:] for path in folder.glob("*.damaged-*")] == ["-3"]
    reopen().drop("space", 2)  # whichever generation goes, what was set aside of the namespace goes with it
    assert list(folder.iterdir()) == []


def test_a_table_that_is_damaged_while_open_is_repaired_by_reopening(home: Path, reopen: Reopen) -> None:
    index = reopen()
    table = repaired(index)
    empty(largest_data(home))
    assert index.open("space", 1) is table
    with pytest.raises(IndexUnavailable):
        partition(table, 1, chunks=False)
    assert index.open("space", 1) is None
    with pytest.raises(IndexUnavailable, match="closed"):
        table.count(TableFilter())
    check_complete_after_replay(index.create("space", FIRST))
