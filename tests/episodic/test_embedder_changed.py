"""A change of the embedder: the old table answers until the new one is complete."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.memory import IndexRebuild
from memsidecar.stores.contract import AdvanceWatermark, Journal, PendingCommand
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.index import VolatileIndex
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_USER, Scope
from tests.episodic.components import (
    HYBRID,
    NO_RAM,
    SEMANTIC,
    EpisodicClient,
    ToyEmbedder,
    ToyEmbedders,
    episodic_client,
    names_of,
)
from tests.support.waiting import until

OLD, NEW, OTHER = ToyEmbedder("toy/old"), ToyEmbedder("toy/new"), ToyEmbedder("toy/wide", dimensions=16)
PATHS = pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
CHANGES = pytest.mark.parametrize("new", [NEW, OTHER], ids=["of as many dimensions", "of more dimensions"])


def before(journal: Journal, index: VolatileIndex | LanceIndex, count: int = 12) -> None:
    """Index messages with the old embedder, as an earlier process."""
    memory = EpisodicClient(journal, index=index, embedders=ToyEmbedders(OLD))
    for at in range(count):
        memory.add(f"tea number{at}", f"s{at % 3}", user="u")
    memory.index()
    memory.abandon()


def later(journal: Journal, index: Any, new: ToyEmbedder, *, known: bool = True, **options: Any) -> EpisodicClient:
    older = {OLD.identity: OLD} if known else {}
    return EpisodicClient(journal, index=index, embedders=ToyEmbedders(new, older), **options)


def answers(memory: EpisodicClient, **fields: Any) -> dict[str, float]:
    hits = memory.search("tea number3", limit=100, **fields).hits
    return {hit.message.content: round(hit.score, 3) for hit in hits}


def oracle(new: ToyEmbedder, count: int, **fields: Any) -> dict[str, float]:
    """Return the hits of a memory that always had the new embedder."""
    with episodic_client(embedders=ToyEmbedders(new)) as memory:
        for at in range(count):
            memory.add(f"tea number{at}", f"s{at % 3}", user="u")
        memory.index()
        return answers(memory, **fields)


@CHANGES
@PATHS
def test_the_old_vectors_answer_until_the_new_table_is_complete(new: ToyEmbedder, limits: EpisodicLimits) -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    memory = later(journal, index, new, limits=limits)
    fields = {"mode": HYBRID, **names_of(SCOPE_USER)}
    for taken in range(12):
        memory.stepped.step("default", 1)
        memory.stepped.indexer.maintain(idle=False)
        expected = oracle(OLD if taken < 11 else new, 12, **fields)
        assert answers(memory, **fields) == pytest.approx(expected, abs=2e-3)
    assert [generation.embedder for generation in index.generations("default")] == [new.identity]
    memory.close()


@CHANGES
@pytest.mark.parametrize("scope", [SCOPE_USER, SCOPE_NAMESPACE])
@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_messages_added_during_the_build_are_found_before_and_after_the_switch(
    new: ToyEmbedder, scope: Scope, known: bool
) -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    memory = later(journal, index, new, known=known)
    for at in range(12, 20):
        memory.add(f"tea number{at}", f"s{at % 3}", user="u")
        memory.stepped.step("default", 1)
        for mode in (HYBRID, SEMANTIC) if known else (HYBRID,):
            assert f"tea number{at}" in memory.find(f"number{at}", mode=mode, **names_of(scope))
    memory.index()
    assert answers(memory, **names_of(scope)) == pytest.approx(oracle(new, 20, **names_of(scope)), abs=2e-3)
    memory.close()


@CHANGES
def test_an_interrupted_build_is_resumed(new: ToyEmbedder) -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    for _ in range(3):
        memory = later(journal, index, new)
        memory.stepped.step("default", 3)
        memory.abandon()
    texts = len(new.texts)
    with later_client(journal, index, new) as memory:
        assert memory.stepped.indexer.position("default") == 9
        memory.index()
        assert len(new.texts) == texts + 3, "nothing is embedded again"
        assert answers(memory, user_id="u") == pytest.approx(oracle(new, 12, user_id="u"), abs=2e-3)


def later_client(journal: Journal, index: Any, new: ToyEmbedder) -> Any:
    return closing(later(journal, index, new))


@pytest.mark.parametrize("stepped", [True, False])
def test_a_process_that_ends_right_before_the_switch_promotes_at_the_next_start(stepped: bool) -> None:
    """There are no later log entries that would trigger the switch."""
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    memory = later(journal, index, NEW)
    while memory.stepped.step("default", 100):
        pass
    memory.abandon()
    assert len(index.generations("default")) == 2
    with closing(later(journal, index, NEW, stepped=stepped)) as again:
        if stepped:
            again.index()
        until(lambda: [generation.embedder for generation in index.generations("default")] == [NEW.identity])
        assert answers(again, user_id="u") == pytest.approx(oracle(NEW, 12, user_id="u"), abs=2e-3)


def test_a_process_that_ends_right_after_the_switch_drops_the_old_table_at_the_next_start() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    memory = later(journal, index, NEW)
    while memory.stepped.step("default", 100):
        pass
    pending = PendingCommand(AdvanceWatermark("episodic.generation", "default", 2))
    journal.submit(pending)
    pending.wait()
    memory.abandon()
    with later_client(journal, index, NEW) as again:
        assert len(again.find("tea", user_id="u", limit=100)) == 12
        assert [generation.number for generation in index.generations("default")] == [2]


def test_another_change_of_the_embedder_restarts_the_build() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    memory = later(journal, index, NEW)
    memory.stepped.step("default", 5)
    memory.abandon()
    with later_client(journal, index, OTHER) as again:
        again.index()
        assert answers(again, user_id="u") == pytest.approx(oracle(OTHER, 12, user_id="u"), abs=2e-3)
        assert [generation.embedder for generation in index.generations("default")] == [OTHER.identity]


def test_going_back_to_the_old_embedder_keeps_the_old_table() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    memory = later(journal, index, NEW)
    memory.stepped.step("default", 5)
    memory.abandon()
    with later_client(journal, index, OLD) as again:
        again.add("tea number12", user="u")
        again.index()
        assert len(again.find("tea", user_id="u", limit=100)) == 13


def test_messages_erased_during_the_build_are_in_neither_table() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    with later_client(journal, index, NEW) as memory:
        memory.stepped.step("default", 5)
        memory.erase("s0", user="u")
        assert len(memory.find("tea", user_id="u", limit=100)) == 8
        memory.index()
        assert len(memory.find("tea", user_id="u", limit=100)) == 8
        assert memory.stepped.generations.get("default").live.table.stats().rows == 8


@pytest.mark.parametrize("step", [5, 100])
def test_an_interrupted_change_on_disk_is_completed(data_dir: Path, step: int) -> None:
    def opened() -> tuple[SqliteJournal, LanceIndex]:
        return SqliteJournal(data_dir / "journal"), LanceIndex(data_dir / "index", memory_bytes=16 << 20)

    journal, index = opened()
    before(journal, index)
    journal.close()
    journal, index = opened()
    memory = later(journal, index, OTHER)
    memory.stepped.step("default", step)
    memory.close()
    journal, index = opened()
    with later_client(journal, index, OTHER) as again:
        again.index()
        assert answers(again, user_id="u") == pytest.approx(oracle(OTHER, 12, user_id="u"), abs=2e-3)
        assert [generation.embedder for generation in index.generations("default")] == [OTHER.identity]


def test_the_index_can_be_rebuilt_from_the_journal() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    before(journal, index)
    steps: list[int] = []
    work = IndexRebuild(journal, index, ToyEmbedders(NEW, {OLD.identity: OLD}))
    work(steps.append)
    assert sum(steps) == work.total()
    with later_client(journal, index, NEW) as memory:
        assert memory.stepped.step("default", 100) == 0
        assert answers(memory, user_id="u") == pytest.approx(oracle(NEW, 12, user_id="u"), abs=2e-3)
        assert [generation.number for generation in index.generations("default")] == [2]
