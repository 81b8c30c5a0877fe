"""A shelf in RAM: however its news come, it says the same as one that was told everything at once."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.layers.episodic.columns import DECAY, NO_ROW
from memsidecar.layers.episodic.index_batch import BatchBuilder, BatchEmbedder
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.partition_cache import PartitionCache, PartitionKey
from memsidecar.layers.episodic.query import SearchQuery, SearchScope, analyze_query, message_partition
from memsidecar.layers.episodic.ranking import Ranking
from memsidecar.stores.contract import Episodes, Generation, IndexBatch, Journal
from memsidecar.stores.volatile.index import VolatileTable
from tests.episodic.components import DIMENSIONS, ToyEmbedder, World, world

EMBEDDER = ToyEmbedder()
USERS_SHELF = message_partition("u", 0)
CONTENTS = st.lists(
    st.sampled_from(["tea", "coffee", "run", "running", "who", "what?", "the", "milk"]), min_size=1, max_size=5
).map(" ".join)
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "add", "score", "clear", "claim"]), st.sampled_from("abc"), CONTENTS
    ),
    min_size=1,
    max_size=16,
)
TELLINGS = st.lists(st.tuples(st.integers(0, 24), st.integers(1, 24)), max_size=10)


def live(memory: World, actions: Sequence[tuple[str, str, str]]) -> None:
    """Sessions a and b are the user's; c has no user until it is claimed."""
    claimed = False
    ids: dict[str, list[str]] = {"a": [], "b": [], "c": []}
    for number, (action, named, content) in enumerate(actions):
        claimed = claimed or action == "claim"
        session = "c" if action == "claim" else named
        user = "u" if session != "c" or claimed else ""
        if action in ("add", "claim"):
            ids[session].append(memory.add(content, session, user=user, name=session, id=f"m{number}"))
        elif action == "clear":
            memory.erase(session, user=user)
            ids[session] = []
        elif ids[session]:
            memory.annotate(ids[session][number % len(ids[session])], number % 10, session, user=user)


def told(journal: Journal, after: int, end: int, shelf: int | None = None) -> IndexBatch:
    gathering = BatchBuilder(journal, shelf)
    for entry in journal.read_changes("default", after, 1_000):
        if entry.lsn <= end:
            gathering.add(entry)
    return gathering.build(BatchEmbedder(EMBEDDER))


def at_once(journal: Journal, tail: int) -> Partition:
    """Built from a table that was told everything at once."""
    table = VolatileTable(Generation(1, EMBEDDER.identity, DIMENSIONS))
    table.apply(told(journal, 0, tail))
    shelf = Partition(DIMENSIONS)
    shelf.load(table.read_partition(USERS_SHELF, chunks=False))
    return shelf


def loaded(journal: Journal, position: int, ahead: int) -> Partition:
    """Filled from a table that has come further than the position that was read before."""
    table = VolatileTable(Generation(1, EMBEDDER.identity, DIMENSIONS))
    table.apply(told(journal, 0, position))
    table.apply(told(journal, position, position + ahead))
    shelf = Partition(DIMENSIONS)
    shelf.position = position
    shelf.load(table.read_partition(USERS_SHELF, chunks=False))
    return shelf


def ranking(shelf: Partition, text: str) -> list[tuple[object, ...]]:
    """Everything that is said of every message."""
    query = analyze_query(text, shelf.speaker_words, EMBEDDER.vector(text))
    within = SearchScope.of_user("default", "u")
    with shelf.reading():
        best = Ranking([shelf], query, SearchQuery(text), within).best(1_000, 0.0)
    return [
        (one.lsn, one.sequence, one.session, one.evaluation, round(one.score, 4), round(one.cosine, 4)) for one in best
    ]


@given(actions=ACTIONS, tellings=TELLINGS, position=st.integers(0, 20), ahead=st.integers(0, 20))
@settings(max_examples=100, deadline=None)
def test_news_in_any_overlapping_stretches_end_in_the_same_shelf(
    actions: Sequence[tuple[str, str, str]], tellings: Sequence[tuple[int, int]], position: int, ahead: int
) -> None:
    with world(opened=False) as memory:
        live(memory, actions)
        tail = memory.journal.last_lsns().get("default", 0)
        shelf = loaded(memory.journal, min(position, tail), ahead)
        for after, length in tellings:
            known = shelf.position
            harvest = told(memory.journal, after, after + length).in_partitions([USERS_SHELF])
            assert shelf.advance(after, min(after + length, tail), harvest) == (after <= max(known, shelf.position))
        assert shelf.advance(shelf.position, tail, told(memory.journal, shelf.position, tail, USERS_SHELF))
        expected = at_once(memory.journal, tail)
        for text in ("tea", "running who", "what the", "nothing of it"):
            assert sorted(ranking(shelf, text)) == sorted(ranking(expected, text))
        assert_measured(shelf)
        assert_measured(expected)


def assert_measured(shelf: Partition) -> None:
    """Neighbours, lengths and norms are what they are when they are looked up again from scratch."""
    columns = shelf.columns
    alive = np.flatnonzero(columns["alive"])
    rows = {(int(columns["session"][row]), int(columns["sequence"][row])): int(row) for row in alive}
    assert len(rows) == len(alive), "each once"
    vectors = shelf.vectors.rows(np.arange(columns.count))
    for (session, sequence), row in rows.items():
        length, total = float(columns["length"][row]), vectors[row].astype(np.float64)
        for step, name in ((-1, "prev"), (-2, "prev2"), (1, "next"), (2, "next2")):
            beside = rows.get((session, sequence + step), NO_ROW)
            assert columns[name][row] == beside
            if beside != NO_ROW:
                length += DECAY ** abs(step) * columns["length"][beside]
                total += DECAY ** abs(step) * vectors[beside]
        assert np.isclose(columns["length_context"][row], length, rtol=1e-5)
        assert np.isclose(columns["norm_context"][row], np.linalg.norm(total), atol=1e-4)


def test_a_shelf_that_has_missed_something_is_not_told_what_follows() -> None:
    shelf = Partition(DIMENSIONS)
    assert not shelf.advance(3, 5, IndexBatch())
    assert shelf.position == 0


def test_a_hot_shelf_that_has_missed_something_is_dropped() -> None:
    hot = PartitionCache(1 << 20)
    key = PartitionKey("default", 1, USERS_SHELF)
    shelf = hot.get_or_load(key, lambda: Partition(DIMENSIONS))
    hot.advance("default", 1, 0, 4, IndexBatch())
    assert hot.get(key) is shelf and shelf.position == 4
    hot.advance("default", 1, 6, 9, IndexBatch())
    assert hot.get(key) is None


def test_hot_shelves_stay_under_their_bound_and_the_oldest_goes_first() -> None:
    with world(opened=False) as memory:
        for _ in range(100):
            memory.add("tea", "a", user="u")
        full = at_once(memory.journal, 100)
        hot = PartitionCache(full.size_bytes * 2 + 100)
        keys = [PartitionKey("default", 1, number) for number in range(3)]
        for key in keys[:2]:
            hot.get_or_load(key, lambda: at_once(memory.journal, 100))
        hot.get(keys[0])
        hot.get_or_load(keys[2], lambda: full)
        assert [hot.get(key) is None for key in keys] == [False, True, False]


def test_a_shelf_that_is_loaded_takes_what_its_rows_take_and_a_little_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it comes in parts."""
    whole = VolatileTable.read_partition

    def in_parts(table: VolatileTable, number: int, chunks: bool) -> Iterator[Episodes]:
        for episodes in whole(table, number, chunks):
            yield from (episodes.take(rows) for rows in np.array_split(np.arange(len(episodes)), 30))

    monkeypatch.setattr(VolatileTable, "read_partition", in_parts)
    with world() as memory:
        for at in range(300):
            memory.add(f"tea {at}", f"s{at % 3}", user="u")
        memory.index()
        memory.find("tea", user_id="u")
        shelf = memory.episodic.hits.searcher.partitions.get(PartitionKey("default", 1, USERS_SHELF))
        assert shelf is not None and shelf.columns.count == 300
        exact = Partition(DIMENSIONS)
        exact.reserve(300)
        assert (
            shelf.columns.size_bytes + shelf.vectors.size_bytes == exact.columns.size_bytes + exact.vectors.size_bytes
        )
        assert exact.vectors.size_bytes < 1.1 * 300 * (DIMENSIONS + 4)
