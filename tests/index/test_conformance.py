"""Promises of the index contract, on both stores."""

import numpy as np
import pytest

from memsidecar.stores.contract.index import Generation, Index, IndexBatch, Table, TableFilter
from tests.index.episodes import DIMENSIONS, FIRST, SampleEpisode, add, comparable, episodes, lsns, partition, unit

NASTY = [
    '"',
    "'",
    "OR",
    "AND",
    "NOT",
    "a:b",
    "(",
    "))",
    "*",
    "x~2",
    "^",
    "\\",
    "--",
    ";",
    "' OR 1=1 --",
    "words:x",
    "+a",
]


def test_a_new_table_is_empty(table: Table) -> None:
    assert table.watermark == 0 and table.count(TableFilter()) == 0
    assert lsns(partition(table, 1, chunks=False)) == []
    assert lsns(table.matching(["hello"], TableFilter(), 10)) == []
    assert lsns(table.nearest(unit(1), TableFilter(), 10)) == []
    assert lsns(table.at_positions([(1, 1)])) == []


def test_a_row_is_read_as_it_was_written(table: Table) -> None:
    written = [
        SampleEpisode(5, "Grüße 世界 😀 a'b", 2, 7, 3, 4, 2, 99, 0.5, "Ann\0", (1, 2)),
        SampleEpisode(6, "", partition=3, vector=()),
    ]
    add(table, *written)
    assert comparable(partition(table, 3, chunks=False)) == comparable(episodes(*written))
    assert partition(table, 3, chunks=False).vectors.dtype == np.float32


def test_the_watermark_is_the_largest_entry_written_and_never_falls(table: Table) -> None:
    add(table, SampleEpisode(3), SampleEpisode(4, written_lsn=9), SampleEpisode(5))
    assert table.watermark == 9
    table.apply(IndexBatch(deleted_sessions=[1], deleted_before=[100]))
    table.apply(IndexBatch())
    assert table.watermark == 9 and table.count(TableFilter()) == 0


def test_a_partition_is_in_the_order_of_the_log(table: Table) -> None:
    add(table, SampleEpisode(9), SampleEpisode(2, sequence=2), SampleEpisode(5, partition=2))
    add(table, SampleEpisode(10, sequence=4), SampleEpisode(2, sequence=1, written_lsn=11))
    assert [(int(a), int(b)) for a, b in zip(*_keys(table), strict=True)] == [(2, 1), (2, 2), (9, 1), (10, 4)]


def _keys(table: Table) -> tuple[list[int], list[int]]:
    found = partition(table, 1, chunks=False)
    return found.lsn.tolist(), found.sequence.tolist()


def test_chunks_and_messages_are_never_mixed(table: Table) -> None:
    add(table, SampleEpisode(1), SampleEpisode(2, session=-7))
    assert lsns(partition(table, 1, chunks=False)) == [1] and lsns(partition(table, 1, chunks=True)) == [2]
    assert lsns(table.matching(["hello"], TableFilter(), 9)) == [1]
    assert lsns(table.matching(["hello"], TableFilter(chunks=True), 9)) == [2]
    assert lsns(table.nearest(unit(1), TableFilter(chunks=True), 9)) == [2]


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (TableFilter(), {1, 2, 3, 4}),
        (TableFilter(partition=2), {3, 4}),
        (TableFilter(session=5), {2, 3}),
        (TableFilter(partition=2, session=5), {3}),
        (TableFilter(roles=[2, 3]), {2, 4}),
        (TableFilter(after_us=2_000), {3, 4}),
        (TableFilter(before_us=3_000), {1, 2}),
        (TableFilter(after_us=1_000, before_us=4_000, roles=[1]), {3}),
        (TableFilter(partition=99), set()),
    ],
)
def test_a_filter_selects_rows(table: Table, within: TableFilter, expected: set[int]) -> None:
    add(
        table,
        SampleEpisode(1),
        SampleEpisode(2, session=5, role=2),
        SampleEpisode(3, partition=2, session=5),
        SampleEpisode(4, partition=2, role=3),
    )
    assert table.count(within) == len(expected)
    assert set(lsns(table.matching(["hello"], within, 9))) == expected
    assert set(lsns(table.nearest(unit(1), within, 9))) == expected


def test_terms_match_exactly(table: Table) -> None:
    long = "x" * 300
    add(table, SampleEpisode(1, "Running the naïve"), SampleEpisode(2, f"run {long}"), SampleEpisode(3, "runs"))
    for word, expected in [("Running", [1]), ("running", []), ("run", [2]), ("the", [1]), ("naive", []), (long, [2])]:
        assert lsns(table.matching([word], TableFilter(), 9)) == expected, word


@pytest.mark.parametrize("word", NASTY)
def test_a_term_is_never_parsed_as_a_query(table: Table, word: str) -> None:
    word = word.replace(" ", "")
    add(table, SampleEpisode(1, f"one {word} two"), SampleEpisode(2, "one two"), SampleEpisode(3, "x a b words"))
    assert lsns(table.matching([word], TableFilter(), 9)) == [1]


def test_any_term_matches_and_rare_terms_rank_higher(table: Table) -> None:
    add(
        table,
        SampleEpisode(1, "cat sat"),
        SampleEpisode(2, "dog sat"),
        SampleEpisode(3, "cat mat"),
        SampleEpisode(4, "cat dog"),
        SampleEpisode(5, "cow"),
    )
    assert lsns(table.matching(["cat", "dog"], TableFilter(), 9))[0] == 4
    assert lsns(table.matching(["cat", "dog"], TableFilter(), 9))[1] == 2
    assert len(table.matching(["cat", "dog"], TableFilter(), 3)) == 3
    assert lsns(table.matching([], TableFilter(), 9)) == lsns(table.matching([""], TableFilter(), 9)) == []


def test_the_nearest_rows_come_first_without_rows_that_have_no_vector(table: Table) -> None:
    add(
        table,
        SampleEpisode(1, vector=(1, 1)),
        SampleEpisode(2, vector=()),
        SampleEpisode(3, vector=(1, 0.1)),
        SampleEpisode(4, vector=(-1,)),
    )
    assert lsns(table.nearest(unit(1), TableFilter(), 9)) == [3, 1, 4]
    assert lsns(table.nearest(unit(1), TableFilter(), 1)) == [3]
    assert lsns(table.nearest(unit(), TableFilter(), 9)) == []


def test_rows_are_found_by_position(table: Table) -> None:
    add(
        table,
        SampleEpisode(1, sequence=1),
        SampleEpisode(2, sequence=2),
        SampleEpisode(3, session=2, sequence=2),
        SampleEpisode(4, session=-2, sequence=2),
    )
    assert sorted(lsns(table.at_positions([(1, 2), (2, 2), (2, 3), (-2, 2)]))) == [2, 3, 4]
    assert lsns(table.at_positions([])) == []
    assert len(table.at_positions([(session, 2) for session in range(-1_500, 1_500)])) == 3


def test_deleting_a_session_keeps_rows_that_were_written_later(table: Table) -> None:
    add(table, SampleEpisode(1), SampleEpisode(2, session=2), SampleEpisode(3), SampleEpisode(8))
    table.apply(IndexBatch(deleted_sessions=[1, 5], deleted_before=[8, 9], episodes=episodes(SampleEpisode(9))))
    assert lsns(partition(table, 1, chunks=False)) == [2, 8, 9]


def test_many_sessions_and_episodes_are_deleted_in_one_batch(table: Table) -> None:
    add(
        table,
        *(SampleEpisode(lsn, session=lsn) for lsn in range(1, 40)),
        *(SampleEpisode(lsn, session=1) for lsn in range(40, 60)),
    )
    table.apply(IndexBatch(deleted_sessions=range(2, 3_000), deleted_before=range(1_000, 3_998)))
    table.apply(IndexBatch(deleted_episodes=[(lsn, 1) for lsn in range(41, 2_000)]))
    assert lsns(partition(table, 1, chunks=False)) == [1, 40]


def test_an_episode_can_be_replaced(table: Table) -> None:
    add(table, SampleEpisode(1, "old", score=1), SampleEpisode(2))
    table.apply(
        IndexBatch(deleted_episodes=[(1, 1)], episodes=episodes(SampleEpisode(1, "new", written_lsn=3, score=5)))
    )
    assert partition(table, 1, chunks=False).terms == ["new", "hello world"]
    assert lsns(table.matching(["old"], TableFilter(), 9)) == [] and lsns(
        table.matching(["new"], TableFilter(), 9)
    ) == [1]


def test_applying_a_batch_again_changes_nothing(table: Table) -> None:
    add(table, SampleEpisode(1, "old"), SampleEpisode(2))
    batch = IndexBatch(
        [2], [3], [(1, 1)], episodes(SampleEpisode(1, "new", written_lsn=3), SampleEpisode(4), SampleEpisode(5, "five"))
    )
    table.apply(batch)
    once = comparable(partition(table, 1, chunks=False))
    table.apply(batch)
    add(table, SampleEpisode(6))
    table.apply(batch)
    assert comparable(partition(table, 1, chunks=False))[:-1] == once and table.count(TableFilter()) == len(once) + 1


def test_an_older_batch_does_not_restore_an_older_row(table: Table) -> None:
    add(table, SampleEpisode(1, "newest", written_lsn=7))
    add(table, SampleEpisode(1, "older", written_lsn=5))
    assert partition(table, 1, chunks=False).terms == ["newest"]


def test_maintenance_and_purge_change_no_result(table: Table) -> None:
    for lsn in range(1, 30):
        add(table, SampleEpisode(lsn, f"hello w{lsn}"))
    table.apply(IndexBatch(deleted_episodes=[(3, 1), (4, 1)]))
    before = comparable(partition(table, 1, chunks=False))
    table.maintain(idle=False)
    table.maintain(idle=True)
    table.purge()
    assert comparable(partition(table, 1, chunks=False)) == before
    assert len(table.matching(["hello"], TableFilter(), 99)) == 27 == table.stats().rows
    add(table, SampleEpisode(31, "hello again"))
    assert len(table.matching(["hello"], TableFilter(), 99)) == 28


def test_namespaces_and_generations_are_separate(index: Index) -> None:
    strange = "n'; DROP TABLE x; -- ../../\N{PILE OF POO}\n"
    first, second = index.create(strange, FIRST), index.create(strange, Generation(12, "other", 4))
    add(first, SampleEpisode(1))
    add(index.create("space", FIRST), SampleEpisode(2))
    assert index.generations(strange) == [FIRST, Generation(12, "other", 4)]
    assert second.count(TableFilter()) == 0 and first.count(TableFilter()) == 1
    assert index.generations("nowhere") == [] and index.open("nowhere", 1) is None and index.open(strange, 2) is None


def test_each_table_is_opened_once(index: Index) -> None:
    made = index.create("space", FIRST)
    assert index.open("space", 1) is made is index.open("space", 1)


def test_a_dropped_table_is_absent_and_a_new_one_is_empty(index: Index) -> None:
    for lsn in range(1, 6):
        table = index.create("space", FIRST)
        assert table.count(TableFilter()) == 0 and table.watermark == 0
        add(table, SampleEpisode(lsn, f"only{lsn} word"), SampleEpisode(lsn, sequence=2))
        assert partition(table, 1, chunks=False).terms[0] == f"only{lsn} word"
        assert lsns(table.matching(["word"], TableFilter(), 9)) == [lsn]
        if lsn % 2:
            index.drop("space", 1)
            assert index.open("space", 1) is None and index.generations("space") == []
    index.drop("space", 77)


def test_results_have_the_dimensions_of_the_table(table: Table) -> None:
    assert table.nearest(unit(1), TableFilter(), 1).vectors.shape == (0, DIMENSIONS)
    add(table, SampleEpisode(1), SampleEpisode(2))
    assert partition(table, 1, chunks=False).vectors.shape == (2, DIMENSIONS)
