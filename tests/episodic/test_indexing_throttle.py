"""Making rows for the index gives way after every text, and changes nothing by it."""

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
from tests.conformance.builders import carry_out, draft
from tests.episodic.components import ToyEmbedder, World

MESSAGES = 48


def harvested(journal: Journal, yield_cpu: Callable[[], None]) -> IndexBatch:
    gathering = BatchBuilder(journal)
    for entry in journal.read_changes("a", 0, 1_000):
        gathering.add(entry)
    return gathering.build(BatchEmbedder(ToyEmbedder()), yield_cpu)


def test_others_are_let_go_first_between_any_two_texts() -> None:
    pauses: list[None] = []
    with closing(VolatileJournal()) as journal:
        drafts = [draft(f"tea number {at}") for at in range(MESSAGES)]
        carry_out(journal, Append(SessionKey("a", "s"), "", drafts))
        plain = harvested(journal, lambda: None)
        polite = harvested(journal, lambda: pauses.append(None))
    assert len(pauses) >= MESSAGES
    assert plain.episodes is not None
    assert polite.episodes is not None
    assert plain.episodes.terms == polite.episodes.terms
    assert np.array_equal(plain.episodes.vectors, polite.episodes.vectors)


def test_an_embedder_is_given_as_many_texts_as_it_takes_at_once_and_others_a_turn_in_between() -> None:
    happened: list[int | str] = []

    class Counting(ToyEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            happened.append(len(texts))
            return super().embed(texts)

    with closing(VolatileJournal()) as journal:
        carry_out(journal, Append(SessionKey("a", "s"), "", [draft(f"tea number {at}") for at in range(MESSAGES)]))
        gathering = BatchBuilder(journal)
        for entry in journal.read_changes("a", 0, 1_000):
            gathering.add(entry)
        gathering.build(BatchEmbedder(Counting(batch_size=20), lambda: happened.append("gave way")))
    assert happened == [20, "gave way", 20, "gave way", 8, "gave way"]


def test_a_remote_embedder_takes_what_fills_a_request() -> None:
    settings = OpenAIEmbedderConfig(url="http://127.0.0.1:1", model="m", dimensions=8, texts_per_request=5)
    assert OpenAIEmbedder(settings).batch_size == 5


def indexed_politely(monkeypatch: pytest.MonkeyPatch, *, erasing: bool) -> list[str]:
    """What happens, in order, while a chapter is taken that adds a message and may erase another session."""
    told: list[str] = []
    real = VolatileTable.apply

    def apply(table: VolatileTable, harvest: IndexBatch) -> None:
        told.append("applied")
        real(table, harvest)

    monkeypatch.setattr(VolatileTable, "apply", apply)
    with closing(World()) as world:
        world.add("tea", "gone")
        world.stepped.catch_up()
        told.clear()
        world.add("coffee", "stays")
        if erasing:
            world.erase("gone")
        world.stepped.indexer.yield_cpu = lambda: told.append("gave way")
        world.stepped.catch_up()
    return told


def test_what_is_only_added_gives_way_before_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert indexed_politely(monkeypatch, erasing=False)[0] == "gave way"


def test_what_is_erased_waits_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a busy sidecar would keep a text in its files for as long as it is polite."""
    assert indexed_politely(monkeypatch, erasing=True)[0] == "applied"
