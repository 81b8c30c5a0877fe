"""A table of another analyzer version answers until a new table is complete."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from memsidecar.layers.episodic.generations import GENERATION_WATERMARK
from memsidecar.layers.episodic.index_batch import BatchBuilder, BatchEmbedder
from memsidecar.layers.text_analysis import ANALYZER_VERSION
from memsidecar.stores.contract import AdvanceWatermark, Generation, Index, Journal, PendingCommand
from memsidecar.stores.lance import files
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.index import VolatileIndex
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.episodic.components import KEYWORD, EpisodicClient, ToyEmbedder, ToyEmbedders

EMBEDDER = ToyEmbedder()
CLAUSES = ["我今天喝了一杯咖啡", "今日は天気がいい"]


def written_before(journal: Journal, index: Index) -> None:
    """Write the table of an analyzer for which a clause was one term."""
    memory = EpisodicClient(journal, opened=False)
    for clause in CLAUSES:
        memory.add(clause, user="u")
    memory.abandon()
    builder = BatchBuilder(journal)
    for entry in journal.read_changes("default", 0, 100):
        builder.add(entry)
    batch = builder.build(BatchEmbedder(EMBEDDER))
    assert batch.episodes is not None
    table = index.create("default", Generation(1, EMBEDDER.identity, EMBEDDER.dimensions, analyzer_version=1))
    table.apply(replace(batch, episodes=replace(batch.episodes, terms=CLAUSES)))
    pending = PendingCommand(AdvanceWatermark(GENERATION_WATERMARK, "default", 1))
    journal.submit(pending)
    pending.wait()


def check_rebuilt(journal: Journal, index: Index) -> None:
    with closing(EpisodicClient(journal, index=index, embedders=ToyEmbedders(EMBEDDER))) as memory:
        fields = {"mode": KEYWORD, "user_id": "u"}
        assert memory.find(CLAUSES[0], **fields) == []
        assert [generation.number for generation in index.generations("default")] == [1, 2]
        memory.index()
        assert memory.find("咖啡", **fields) == [CLAUSES[0]]
        assert memory.find("天気", **fields)[:1] == [CLAUSES[1]]
        assert [(one.number, one.analyzer_version) for one in index.generations("default")] == [(2, ANALYZER_VERSION)]


def test_a_table_of_another_analyzer_is_rebuilt() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    written_before(journal, index)
    check_rebuilt(journal, index)


@pytest.mark.parametrize("has_version", [True, False], ids=["a card with an old version", "a card without a version"])
def test_a_table_of_another_analyzer_on_disk_is_rebuilt(data_dir: Path, has_version: bool) -> None:
    def opened() -> tuple[SqliteJournal, LanceIndex]:
        return SqliteJournal(data_dir / "journal"), LanceIndex(data_dir / "index", memory_bytes=16 << 20)

    journal, index = opened()
    written_before(journal, index)
    index.close()
    journal.close()
    if not has_version:
        path = data_dir / "index" / f"{files.name('default', 1)}.json"
        card = json.loads(path.read_text())
        del card["analyzer_version"]
        path.write_text(json.dumps(card))
    check_rebuilt(*opened())


def test_a_table_of_the_same_analyzer_is_kept() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    memory = EpisodicClient(journal, index=index, embedders=ToyEmbedders(EMBEDDER))
    memory.add("我今天喝了一杯咖啡", user="u")
    memory.index()
    memory.abandon()
    with closing(EpisodicClient(journal, index=index, embedders=ToyEmbedders(EMBEDDER))) as again:
        assert again.stepped.step("default", 100) == 0
        assert [(generation.number, generation.analyzer_version) for generation in index.generations("default")] == [
            (1, ANALYZER_VERSION)
        ]
