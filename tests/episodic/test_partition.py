"""A partition in RAM ranks the same whatever batches it is advanced by."""

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
from tests.episodic.components import DIMENSIONS, EpisodicClient, ToyEmbedder, episodic_client

EMBEDDER = ToyEmbedder()
USER_PARTITION = message_partition("u", 0)
CONTENTS = st.lists(
    st.sampled_from(["tea", "coffee", "run", "running", "who", "what?", "the", "milk"]), min_size=1, max_size=5
).map(" ".join)
KINDS = [*["add"] * 4, "score", "clear", "claim", *["forget"] * 2]
ACTIONS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from("abc"), CONTENTS),
    min_size=1,
    max_size=16,
)
ADVANCES = st.lists(st.tuples(st.integers(0, 24), st.integers(1, 24)), max_size=10)


def apply_actions(memory: EpisodicClient, actions: Sequence[tuple[str, str, str]]) -> None:
    """Run the actions. Sessions a and b are the user's; c has no user until it is claimed."""
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
        elif action == "forget" and ids[session]:
            memory.forget(ids[session].pop(number % len(ids[session])), session, user=user)
        elif ids[session]:
            memory.annotate(ids[session][number % len(ids[session])], number % 10, session, user=user)


def batch_between(journal: Journal, after: int, end: int, partition: int | None = None) -> IndexBatch:
    builder = BatchBuilder(journal, partition)
    for entry in journal.read_changes("default", after, 1_000):
        if entry.lsn <= end:
            builder.add(entry)
    return builder.build(BatchEmbedder(EMBEDDER))


def loaded_at_once(journal: Journal, tail: int) -> Partition:
    """Return the partition of a table that got all entries in one batch."""
    table = VolatileTable(Generation(1, EMBEDDER.identity, DIMENSIONS))
    table.apply(batch_between(journal, 0, tail))
    partition = Partition(DIMENSIONS)
    partition.load(table.read_partition(USER_PARTITION, chunks=False))
    return partition


def loaded(journal: Journal, position: int, ahead: int) -> Partition:
    """Return the partition of a table that is ahead of the position that was read before."""
    table = VolatileTable(Generation(1, EMBEDDER.identity, DIMENSIONS))
    table.apply(batch_between(journal, 0, position))
    table.apply(batch_between(journal, position, position + ahead))
    partition = Partition(DIMENSIONS)
    partition.position = position
    partition.load(table.read_partition(USER_PARTITION, chunks=False))
    return partition


def ranking(partition: Partition, text: str) -> list[tuple[object, ...]]:
    """Return the attributes of every hit."""
    query = analyze_query(SearchQuery(text), partition.speaker_words, EMBEDDER.vector(text))
    within = SearchScope.of_user("default", "u")
    with partition.reading():
        best = Ranking([partition], query, SearchQuery(text), within).best(1_000, 0.0)
    return [
        (one.lsn, one.sequence, one.session, one.evaluation, round(one.score, 4), round(one.relevance, 4))
        for one in best
    ]


@given(actions=ACTIONS, advances=ADVANCES, position=st.integers(0, 20), ahead=st.integers(0, 20))
@settings(max_examples=100, deadline=None)
def test_any_overlapping_batches_lead_to_the_same_partition(
    actions: Sequence[tuple[str, str, str]], advances: Sequence[tuple[int, int]], position: int, ahead: int
) -> None:
    with episodic_client(opened=False) as memory:
        apply_actions(memory, actions)
        tail = memory.journal.last_lsns().get("default", 0)
        partition = loaded(memory.journal, min(position, tail), ahead)
        for after, length in advances:
            known = partition.position
            batch = batch_between(memory.journal, after, after + length).in_partitions([USER_PARTITION])
            assert partition.advance(after, min(after + length, tail), batch) == (
                after <= max(known, partition.position)
            )
        assert partition.advance(
            partition.position, tail, batch_between(memory.journal, partition.position, tail, USER_PARTITION)
        )
        expected = loaded_at_once(memory.journal, tail)
        for text in ("tea", "running who", "what the", "nothing of it"):
            assert sorted(ranking(partition, text)) == sorted(ranking(expected, text))
        assert_consistent(partition)
        assert_consistent(expected)


@given(
    before=st.lists(st.tuples(st.sampled_from("ab"), CONTENTS), min_size=1, max_size=8),
    steps=st.lists(st.tuples(st.booleans(), st.sampled_from("ab"), CONTENTS, st.integers(0, 9)), max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_a_forgotten_message_leaves_a_loaded_partition(
    before: Sequence[tuple[str, str]], steps: Sequence[tuple[bool, str, str, int]]
) -> None:
    """Messages that the partition has are forgotten and others are added, one batch for each step."""
    with episodic_client(opened=False) as memory:
        ids = [(session, memory.add(content, session, user="u", name=session)) for session, content in before]
        position = memory.journal.last_lsns()["default"]
        partition = loaded(memory.journal, position, 0)
        for forgets, session, content, number in steps:
            if forgets and ids:
                known, message_id = ids.pop(number % len(ids))
                memory.forget(message_id, known, user="u")
            else:
                ids.append((session, memory.add(content, session, user="u", name=session)))
            tail = memory.journal.last_lsns()["default"]
            assert partition.advance(position, tail, batch_between(memory.journal, position, tail, USER_PARTITION))
            position = tail
            assert_consistent(partition)
        expected = loaded_at_once(memory.journal, position)
        for text in ("tea", "running who", "what the"):
            assert sorted(ranking(partition, text)) == sorted(ranking(expected, text))


def assert_consistent(partition: Partition) -> None:
    """Check neighbours, lengths and norms against values computed from scratch."""
    columns = partition.columns
    alive = np.flatnonzero(columns["alive"])
    rows = {(int(columns["session"][row]), int(columns["sequence"][row])): int(row) for row in alive}
    assert len(rows) == len(alive), "each once"
    vectors = partition.vectors.rows(np.arange(columns.count))
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


def test_a_partition_does_not_advance_over_a_gap() -> None:
    partition = Partition(DIMENSIONS)
    assert not partition.advance(3, 5, IndexBatch())
    assert partition.position == 0


def test_a_cached_partition_with_a_gap_is_evicted() -> None:
    cache = PartitionCache(1 << 20)
    key = PartitionKey("default", 1, USER_PARTITION)
    partition = cache.get_or_load(key, lambda: Partition(DIMENSIONS))
    cache.advance("default", 1, 0, 4, IndexBatch())
    assert cache.get(key) is partition and partition.position == 4
    cache.advance("default", 1, 6, 9, IndexBatch())
    assert cache.get(key) is None


def test_the_cache_stays_within_its_limit_and_evicts_the_least_recently_used() -> None:
    with episodic_client(opened=False) as memory:
        for _ in range(100):
            memory.add("tea", "a", user="u")
        full = loaded_at_once(memory.journal, 100)
        cache = PartitionCache(full.size_bytes * 2 + 100)
        keys = [PartitionKey("default", 1, number) for number in range(3)]
        for key in keys[:2]:
            cache.get_or_load(key, lambda: loaded_at_once(memory.journal, 100))
        cache.get(keys[0])
        cache.get_or_load(keys[2], lambda: full)
        assert [cache.get(key) is None for key in keys] == [False, True, False]


def test_a_loaded_partition_takes_little_more_memory_than_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are loaded in parts."""
    whole = VolatileTable.read_partition

    def in_parts(table: VolatileTable, number: int, chunks: bool) -> Iterator[Episodes]:
        for episodes in whole(table, number, chunks):
            yield from (episodes.take(rows) for rows in np.array_split(np.arange(len(episodes)), 30))

    monkeypatch.setattr(VolatileTable, "read_partition", in_parts)
    with episodic_client() as memory:
        for at in range(300):
            memory.add(f"tea {at}", f"s{at % 3}", user="u")
        memory.index()
        memory.find("tea", user_id="u")
        partition = memory.episodic.hits.searcher.partitions.get(PartitionKey("default", 1, USER_PARTITION))
        assert partition is not None and partition.columns.count == 300
        exact = Partition(DIMENSIONS)
        exact.reserve(300)
        assert (
            partition.columns.size_bytes + partition.vectors.size_bytes
            == exact.columns.size_bytes + exact.vectors.size_bytes
        )
        assert exact.vectors.size_bytes < 1.1 * 300 * (DIMENSIONS + 4)
