"""Acknowledged messages are found at once, and ranked by the same scores as indexed ones."""

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.log_tail import LogTail, TailSegment, TailSegments
from memsidecar.layers.episodic.query import Degradation
from memsidecar.stores.contract import IndexBatch
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.context_pb2 import DEGRADATION_INDEX_UNAVAILABLE
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_USER, Scope
from tests.episodic.components import (
    MODES,
    NO_RAM,
    SCOPES,
    STATIC,
    EpisodicClient,
    StuckIndex,
    episodic_client,
    names_of,
)
from tests.support.waiting import until

IN_RAM = EpisodicLimits()
TEXTS = st.lists(
    st.sampled_from(["tea", "coffee", "milk", "run", "running", "who", "why", "the", "what?", "cup", "sugar"]),
    min_size=1,
    max_size=6,
).map(" ".join)


@pytest.mark.parametrize("state", ["behind", "warming up", "stuck", "indexed"])
@pytest.mark.parametrize("limits", [IN_RAM, NO_RAM], ids=["in RAM", "by candidates"])
def test_a_message_is_found_as_soon_as_it_is_acknowledged(state: str, limits: EpisodicLimits) -> None:
    index = StuckIndex(stuck=state == "stuck")
    with episodic_client(limits=limits, opened=state != "warming up", stepped=state != "stuck", index=index) as memory:
        for at in range(6):
            memory.add(f"we spoke of needle{at} and thread", "s", user="u")
            for mode in MODES:
                for scope in SCOPES:
                    found = memory.find(f"needle{at} and thread", mode=mode, **names_of(scope))
                    assert f"we spoke of needle{at} and thread" in found
            if state == "indexed" or (state == "behind" and at == 2):
                memory.index()


def test_a_search_before_the_index_is_open_has_a_degradation() -> None:
    with episodic_client(opened=False) as memory:
        memory.add("tea", user="u")
        assert memory.search("tea", user_id="u").degraded == [DEGRADATION_INDEX_UNAVAILABLE]
        memory.open()
        assert not memory.search("tea", user_id="u").degraded


def scores(memory: EpisodicClient, query: str, **fields: object) -> dict[str, float]:
    return {hit.message.content: hit.score for hit in memory.search(query, limit=1_000, **fields).hits}


@given(texts=st.lists(TEXTS, min_size=2, max_size=14), newest=st.integers(1, 13), query=TEXTS)
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize("hot", [True, False])
def test_unindexed_messages_have_the_same_scores(hot: bool, texts: list[str], newest: int, query: str) -> None:
    with episodic_client(embedders=STATIC) as whole, episodic_client(embedders=STATIC) as behind:
        for at, text in enumerate(texts):
            if at == max(len(texts) - newest, 0):
                behind.index()
                if hot:
                    behind.find("tea", user_id="u")
            for memory in (whole, behind):
                memory.add(f"{text} #{at}", f"s{at % 3}", user="u", name=f"speaker{at % 2}")
        whole.index()
        assert scores(behind, query, user_id="u") == pytest.approx(scores(whole, query, user_id="u"), abs=1e-4)


@given(texts=st.lists(TEXTS, min_size=2, max_size=14), query=TEXTS)
@settings(max_examples=20, deadline=None)
@pytest.mark.parametrize("scope", [SCOPE_USER, SCOPE_NAMESPACE], ids=Scope.Name)
def test_partition_candidates_and_journal_fallback_rank_a_small_scope_alike(
    scope: Scope, texts: list[str], query: str
) -> None:
    """The messages are so few that all are candidates: each is a neighbour of one."""
    answers = []
    for limits, opened in ((IN_RAM, True), (NO_RAM, True), (IN_RAM, False)):
        with episodic_client(limits=limits, opened=opened, embedders=STATIC) as memory:
            for at, text in enumerate(texts):
                memory.add(f"{text} and tea #{at}", f"s{at % 2}", user="u")
            if opened:
                memory.index()
            answers.append(scores(memory, f"tea {query}", **names_of(scope)))
    assert answers[0] == pytest.approx(answers[1], abs=1e-4)
    assert answers[0] == pytest.approx(answers[2], abs=1e-4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scope", SCOPES, ids=Scope.Name)
def test_a_message_has_the_same_relevance_before_and_after_it_is_indexed(scope: Scope, mode: pb.SearchMode) -> None:
    with episodic_client(embedders=STATIC) as memory:
        for at in range(4):
            memory.add(f"I saw {at} herons in the reeds", "s", user="u")

        def relevances() -> dict[str, float]:
            found = memory.search("herons in the reeds", mode=mode, **names_of(scope))
            return {hit.message.content: hit.relevance for hit in found.hits}

        before = relevances()
        memory.index()
        assert len(before) == 4 and relevances() == pytest.approx(before, abs=2e-4)


def test_a_stuck_index_recovers_without_duplicates() -> None:
    index = StuckIndex()
    with episodic_client(stepped=False, index=index) as memory:
        for at in range(5):
            memory.add(f"tea {at}", user="u")
        until(lambda: any(lag.last_error for lag in memory.episodic.lags()))
        index.stuck = False
        until(lambda: memory.episodic.lags() == [])
        (generation,) = index.generations("default")
        table = index.open("default", generation.number)
        assert table is not None and table.stats().rows == 5
        assert len(memory.find("tea", user_id="u", mode=pb.SEARCH_MODE_KEYWORD)) == 5


def test_a_segment_without_vectors_is_read_again_although_others_follow_it() -> None:
    """Entries of facts may follow the messages, and the index never passes them if nothing else is written."""
    table: Any = SimpleNamespace(position=0)
    tail, batch = LogTail(), IndexBatch()
    without_vectors = TailSegment(0, 5, batch, frozenset({Degradation.EMBEDDER}))
    first = tail.after(table, 1, lambda _: TailSegments([without_vectors, TailSegment(5, 6, batch)], truncated=False))
    assert first.degraded == {Degradation.EMBEDDER}
    table.position = 4
    again = tail.after(table, 1, lambda after: TailSegments([TailSegment(after, 6, batch)], truncated=False))
    assert again.degraded == frozenset()
