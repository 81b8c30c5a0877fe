"""Building rows for the index yields CPU after every text, with the same result."""

from collections.abc import Callable, Sequence
from contextlib import closing

import numpy as np
import pytest
from numpy.typing import NDArray

from memsidecar.domain.session import SessionKey
from memsidecar.embedding.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from memsidecar.layers.episodic.index_batch import BatchBuilder, BatchEmbedder
from memsidecar.stores.contract import Append, IndexBatch, Journal
from memsidecar.stores.volatile.index import VolatileTable
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.conformance.builders import draft, execute
from tests.episodic.components import EpisodicClient, ToyEmbedder

MESSAGES = 48


def built_batch(journal: Journal, yield_cpu: Callable[[], None]) -> IndexBatch:
    builder = BatchBuilder(journal)
    for entry in journal.read_changes("a", 0, 1_000):
        builder.add(entry)
    return builder.build(BatchEmbedder(ToyEmbedder()), yield_cpu)


def test_the_cpu_is_yielded_between_any_two_texts() -> None:
    pauses: list[None] = []
    with closing(VolatileJournal()) as journal:
        drafts = [draft(f"tea number {at}") for at in range(MESSAGES)]
        execute(journal, Append(SessionKey("a", "s"), "", drafts))
        plain = built_batch(journal, lambda: None)
        yielding = built_batch(journal, lambda: pauses.append(None))
    assert len(pauses) >= MESSAGES
    assert plain.episodes is not None
    assert yielding.episodes is not None
    assert plain.episodes.terms == yielding.episodes.terms
    assert np.array_equal(plain.episodes.vectors, yielding.episodes.vectors)


def test_an_embedder_gets_full_batches_and_the_cpu_is_yielded_in_between() -> None:
    steps: list[int | str] = []

    class CountingEmbedder(ToyEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            steps.append(len(texts))
            return super().embed(texts)

    with closing(VolatileJournal()) as journal:
        execute(journal, Append(SessionKey("a", "s"), "", [draft(f"tea number {at}") for at in range(MESSAGES)]))
        builder = BatchBuilder(journal)
        for entry in journal.read_changes("a", 0, 1_000):
            builder.add(entry)
        builder.build(BatchEmbedder(CountingEmbedder(batch_size=20), lambda: steps.append("yielded")))
    assert steps == [20, "yielded", 20, "yielded", 8, "yielded"]


def test_a_remote_embedder_gets_full_requests() -> None:
    settings = OpenAIEmbedderConfig(url="http://127.0.0.1:1", model="m", dimensions=8, texts_per_request=5)
    assert OpenAIEmbedder(settings).batch_size == 5


def indexing_steps(monkeypatch: pytest.MonkeyPatch, *, erasing: bool) -> list[str]:
    """Return the steps of processing a batch that adds a message and may erase another session."""
    steps: list[str] = []
    real = VolatileTable.apply

    def apply(table: VolatileTable, batch: IndexBatch) -> None:
        steps.append("applied")
        real(table, batch)

    monkeypatch.setattr(VolatileTable, "apply", apply)
    with closing(EpisodicClient()) as memory:
        memory.add("tea", "gone")
        memory.stepped.catch_up()
        steps.clear()
        memory.add("coffee", "stays")
        if erasing:
            memory.erase("gone")
        memory.stepped.indexer.yield_cpu = lambda: steps.append("yielded")
        memory.stepped.catch_up()
    return steps


def test_a_batch_of_additions_yields_before_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert indexing_steps(monkeypatch, erasing=False)[0] == "yielded"


def test_a_batch_with_erasures_does_not_yield(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a busy sidecar would keep erased text in its files."""
    assert indexing_steps(monkeypatch, erasing=True)[0] == "applied"
