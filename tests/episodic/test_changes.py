"""Later changes of messages: scores, erasures, claims, pruning."""

from pathlib import Path

import numpy as np
import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.query import SearchQuery, SearchScope, message_partition
from memsidecar.stores.contract import MessageQuery, PendingCommand, SessionClaimed, Table, UpdateWindow
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.index import VolatileIndex, rows_of
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_USER, Message
from tests.episodic.components import HYBRID, NO_RAM, SCOPES, EpisodicClient, episodic_client, messages_of, names_of

PATHS = pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])


def table_of(memory: EpisodicClient, namespace: str = "default") -> Table:
    return memory.stepped.generations.get(namespace).live.table


def indexed_scores(memory: EpisodicClient) -> list[float]:
    parts = list(table_of(memory).read_partition(message_partition("u", 0), chunks=False))
    return [row.score for part in parts for row in sorted(rows_of(part), key=lambda row: row.key)]


def evaluations(memory: EpisodicClient) -> dict[int, float | None]:
    within = SearchScope.of_user("default", "u")
    found = memory.episodic.hits.searcher(SearchQuery("tea"), within, 100, 0.0)
    return {pointer.sequence: pointer.evaluation for pointer in found.hits}


def test_a_later_score_reaches_the_index_and_the_cached_partition_once() -> None:
    with episodic_client() as memory:
        ids = [memory.add(f"tea {at}", user="u") for at in range(3)]
        memory.index()
        assert evaluations(memory) == {1: None, 2: None, 3: None}
        memory.annotate(ids[1], 7.5, user="u")
        assert evaluations(memory) == {1: None, 2: 7.5, 3: None}, "before it is indexed"
        memory.index()
        assert evaluations(memory) == {1: None, 2: 7.5, 3: None}
        first, second, third = indexed_scores(memory)
        assert (np.isnan(first), second, np.isnan(third)) == (True, 7.5, True)


@PATHS
@pytest.mark.parametrize("delete_session", [True, False], ids=["deleted", "cleared"])
@pytest.mark.parametrize("indexed", [True, False], ids=["and indexed", "and not indexed yet"])
def test_erased_messages_are_not_found(limits: EpisodicLimits, delete_session: bool, indexed: bool) -> None:
    with episodic_client(limits=limits) as memory:
        memory.add("tea of yesterday", "s", user="u")
        memory.add("tea of today", "t", user="u")
        memory.index()
        memory.find("tea", user_id="u")
        memory.erase("s", user="u", delete_session=delete_session)
        if indexed:
            memory.index()
            assert table_of(memory).stats().rows == 1
        assert memory.find("tea", user_id="u") == ["tea of today"]
        assert memory.find("tea", session_id="s", scope=SCOPE_SESSION) == []
        assert memory.find("tea", session_id="s", user_id="u", scope=SCOPE_NAMESPACE) == ["tea of today"]
        memory.add("tea of tomorrow", "s", user="u")
        assert memory.find("tea", session_id="s", scope=SCOPE_SESSION) == ["tea of tomorrow"]


@PATHS
@pytest.mark.parametrize("indexed_before", [0, 2, 4])
@pytest.mark.parametrize("indexed_after", [True, False])
def test_a_claimed_session_is_found_by_its_user_without_duplicates(
    limits: EpisodicLimits, indexed_before: int, indexed_after: bool
) -> None:
    with episodic_client(limits=limits) as memory:
        for at in range(4):
            memory.add(f"tea {at}", "s")
            if at + 1 == indexed_before:
                memory.index()
                memory.find("tea", session_id="s")
        assert memory.find("tea", user_id="u") == []
        memory.add("tea 4", "s", user="u")
        memory.add("tea 5", "s", user="u")
        if indexed_after:
            memory.index()
        for scope in SCOPES:
            found = memory.find("tea", **names_of(scope))
            assert sorted(found) == [f"tea {at}" for at in range(6)]
        if indexed_after:
            assert table_of(memory).stats().rows == 6


def test_no_message_is_missed_when_the_process_ends_right_after_a_claim() -> None:
    """The session has messages after the claim, with others in between: the watermark must not cover them."""
    index = VolatileIndex()
    with episodic_client(index=index) as memory:
        memory.add("tea 1", "s")
        memory.add("tea 2", "s", user="u")
        memory.add_all(messages_of(*(f"tea of others {at}" for at in range(5))), "other", user="u")
        memory.add("tea 3", "s", user="u")
        entries = memory.journal.read_changes("default", 0, 100)
        claim = next(at for at, entry in enumerate(entries) if isinstance(entry, SessionClaimed))
        memory.stepped.step("default", claim + 1)
        assert table_of(memory).watermark == entries[claim].lsn
        memory.abandon()
        with episodic_client(memory.journal, index=index) as again:
            again.index()
            assert table_of(again).stats().rows == 8
            assert len(again.find("tea", user_id="u", limit=100)) == 8


def pruned_and_shortened(memory: EpisodicClient) -> None:
    key = SessionKey("default", "s")
    page = memory.journal.messages(key, MessageQuery())
    assert page.head is not None
    short = Message(content="tea ...", sequence=2).SerializeToString()
    shortened = [page.messages[1]._replace(body=short, tokens=1)]
    pending = PendingCommand(UpdateWindow(key, page.head.version, [1], shortened))
    memory.journal.submit(pending)
    pending.wait()


@pytest.mark.parametrize("when", ["before", "after", "never"])
def test_pruned_messages_are_found_and_shortened_ones_by_their_whole_text(when: str, data_dir: Path) -> None:
    with episodic_client(SqliteJournal(data_dir)) as memory:
        texts = ["tea that is pruned", "tea that is shortened by much", "tea"]
        memory.add_all(messages_of(*texts), user="u")
        if when == "before":
            memory.index()
        pruned_and_shortened(memory)
        if when == "after":
            memory.index()
        for scope in SCOPES:
            assert set(memory.find("tea", mode=HYBRID, **names_of(scope))) == set(texts)
        assert memory.find("shortened", user_id="u")[0] == texts[1]
        assert memory.find("tea", user_id="u", scope=SCOPE_USER, min_score=0.5)


def test_a_message_that_was_added_twice_is_found_once() -> None:
    with episodic_client() as memory:
        for _ in range(3):
            memory.add("tea", user="u", id="same")
            memory.index()
        assert memory.find("tea", user_id="u") == ["tea"]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_batches_of_any_length_lead_to_the_same_rows(limit: int) -> None:
    with episodic_client() as memory:
        ids = [memory.add(f"tea {at}", f"s{at % 3}", user="" if at % 3 else "u") for at in range(9)]
        memory.annotate(ids[0], 3, "s0", user="u")
        memory.erase("s2")
        memory.add("tea 9", "s1", user="u")
        memory.annotate(ids[4], 4, "s1", user="u")
        memory.index(batch_entries=limit)
        rows = [
            row
            for part in table_of(memory).read_partition(message_partition("u", 0), chunks=False)
            for row in rows_of(part)
        ]
        assert sorted((row.terms, row.score) for row in rows if row.score == row.score) == [("tea 0", 3), ("tea 4", 4)]
        assert sorted(row.terms for row in rows) == [f"tea {at}" for at in (0, 1, 3, 4, 6, 7, 9)]
        assert table_of(memory).stats().rows == 7
