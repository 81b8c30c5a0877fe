"""The embedder is down, slow or wrong: keyword search works, and vectors are added when it is back."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from memsidecar.embedding.contract import EmbedderMismatch, EmbedderUnavailable
from memsidecar.layers.background import RetryLater
from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.query import message_partition
from memsidecar.stores.volatile.index import VolatileIndex, rows_of
from memsidecar.v1.context_pb2 import DEGRADATION_EMBEDDER_UNAVAILABLE
from tests.episodic.components import (
    HYBRID,
    KEYWORD,
    NO_RAM,
    SCOPES,
    SEMANTIC,
    BlockingEmbedder,
    EpisodicClient,
    ToyEmbedder,
    ToyEmbedders,
    episodic_client,
    names_of,
)
from tests.support.waiting import HANG_SECONDS, until

FAULTS = pytest.mark.parametrize("fault", [EmbedderUnavailable, EmbedderMismatch])
PATHS = pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
Fault = type[EmbedderUnavailable] | type[EmbedderMismatch]


@FAULTS
@PATHS
@pytest.mark.parametrize("opened", [True, False], ids=["open", "warming up"])
def test_keyword_search_answers_with_a_degradation(fault: Fault, limits: EpisodicLimits, opened: bool) -> None:
    embedder = ToyEmbedder(fault=fault)
    with episodic_client(embedders=ToyEmbedders(embedder), limits=limits, opened=opened) as memory:
        memory.add("the tea is green", user="u")
        memory.add("coffee is not", user="u")
        for scope in SCOPES:
            for mode in (HYBRID, KEYWORD):
                answer = memory.search("tea", mode=mode, **names_of(scope))
                assert answer.hits[0].message.content == "the tea is green"
                assert mode == KEYWORD or DEGRADATION_EMBEDDER_UNAVAILABLE in answer.degraded


def cosines(memory: EpisodicClient, query: str) -> list[float]:
    hits = memory.search(query, user_id="u", mode=SEMANTIC, limit=100).hits
    return sorted(round(hit.score, 2) for hit in hits)


@FAULTS
def test_vectors_are_added_when_it_is_back_also_in_a_cached_partition(fault: Fault) -> None:
    embedder = ToyEmbedder()
    with episodic_client(embedders=ToyEmbedders(embedder)) as memory:
        memory.add("tea", user="u")
        memory.index()
        assert cosines(memory, "tea") == [1.0]
        embedder.fault = fault
        memory.add("tea", user="u")
        answer = memory.search("tea", user_id="u")
        assert len(answer.hits) == 2 and answer.degraded == [DEGRADATION_EMBEDDER_UNAVAILABLE]
        embedder.fault = None
        assert cosines(memory, "tea") == [1.0, 1.0]
        assert memory.search("tea", user_id="u").degraded == []
        memory.index()
        assert cosines(memory, "tea") == [1.0, 1.0]


@FAULTS
def test_indexing_waits_and_resumes_without_duplicates(fault: Fault) -> None:
    embedder, index = ToyEmbedder(fault=fault), VolatileIndex()
    with episodic_client(embedders=ToyEmbedders(embedder), index=index, stepped=False) as memory:
        for at in range(5):
            memory.add(f"tea {at}", user="u")
        until(lambda: [lag.last_error for lag in memory.episodic.lags()] == ["as the test wants it"])
        assert memory.journal.dead_letters("episodic") == []
        embedder.fault = None
        until(lambda: memory.episodic.lags() == [])
        table = index.open("default", 1)
        assert table is not None
        rows = [row for part in table.read_partition(message_partition("u", 0), chunks=False) for row in rows_of(part)]
        assert sorted(row.terms for row in rows) == [f"tea {at}" for at in range(5)]
        assert all(np.isclose(np.linalg.norm(row.vector), 1, atol=1e-5) for row in rows)
        assert memory.journal.dead_letters("episodic") == []


@PATHS
def test_candidates_have_vectors_once_they_are_indexed(limits: EpisodicLimits) -> None:
    embedder = ToyEmbedder()
    with episodic_client(embedders=ToyEmbedders(embedder), limits=limits) as memory:
        memory.add("tea", user="u")
        memory.index()
        embedder.fault = EmbedderUnavailable
        memory.add("tea", user="u")
        assert len(memory.find("tea", user_id="u")) == 2
        with pytest.raises(RetryLater):
            memory.index()
        embedder.fault = None
        memory.index()
        assert cosines(memory, "tea") == [1.0, 1.0]


def test_messages_with_client_vectors_need_no_embedder() -> None:
    embedder = ToyEmbedder(fault=EmbedderUnavailable)
    with episodic_client(embedders=ToyEmbedders(embedder)) as memory:
        memory.add("tea", user="u", vector=embedder.vector("tea").tolist())
        memory.index()
        answer = memory.search("tea", user_id="u", mode=SEMANTIC, query_vector=embedder.vector("tea").tolist())
        assert [round(hit.score, 2) for hit in answer.hits] == [1.0]
        assert answer.degraded == []


def test_a_slow_embedder_does_not_delay_adds() -> None:
    embedder = BlockingEmbedder()
    with episodic_client(embedders=ToyEmbedders(embedder), stepped=False) as memory, ThreadPoolExecutor(1) as adding:
        try:
            adding.submit(memory.add, "tea", user="u").result(HANG_SECONDS)
            assert embedder.called.wait(HANG_SECONDS)
            for at in range(20):
                adding.submit(memory.add, f"tea {at}", user="u").result(HANG_SECONDS)
            assert embedder.texts == [] and memory.episodic.lags()
        finally:
            embedder.released.set()
        until(lambda: memory.episodic.lags() == [])
