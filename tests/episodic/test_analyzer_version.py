"""Other words than a table was made with: it answers until one with the new words is complete."""

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
from tests.episodic.components import KEYWORD, ToyEmbedder, ToyEmbedders, World

EMBEDDER = ToyEmbedder()
CLAUSES = ["我今天喝了一杯咖啡", "今日は天気がいい"]


def written_before(journal: Journal, index: Index) -> None:
    """The table of a process to which a clause was one word."""
    memory = World(journal, opened=False)
    for clause in CLAUSES:
        memory.add(clause, user="u")
    memory.abandon()
    gathering = BatchBuilder(journal)
    for news in journal.read_changes("default", 0, 100):
        gathering.add(news)
    harvest = gathering.build(BatchEmbedder(EMBEDDER))
    assert harvest.episodes is not None
    table = index.create("default", Generation(1, EMBEDDER.identity, EMBEDDER.dimensions, analyzer_version=1))
    table.apply(replace(harvest, episodes=replace(harvest.episodes, terms=CLAUSES)))
    ticket = PendingCommand(AdvanceWatermark(GENERATION_WATERMARK, "default", 1))
    journal.submit(ticket)
    ticket.wait()


def check_that_it_is_made_anew(journal: Journal, index: Index) -> None:
    with closing(World(journal, index=index, embedders=ToyEmbedders(EMBEDDER))) as memory:
        asked = {"mode": KEYWORD, "user_id": "u"}
        assert memory.find(CLAUSES[0], **asked) == []
        assert [generation.number for generation in index.generations("default")] == [1, 2]
        memory.index()
        assert memory.find("咖啡", **asked) == [CLAUSES[0]]
        assert memory.find("天気", **asked)[:1] == [CLAUSES[1]]
        assert [(one.number, one.analyzer_version) for one in index.generations("default")] == [(2, ANALYZER_VERSION)]


def test_a_table_of_other_words_is_made_anew() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    written_before(journal, index)
    check_that_it_is_made_anew(journal, index)


@pytest.mark.parametrize("tells", [True, False], ids=["a card with an old version", "a card without a version"])
def test_on_disk_a_table_of_other_words_is_made_anew(data_dir: Path, tells: bool) -> None:
    def opened() -> tuple[SqliteJournal, LanceIndex]:
        return SqliteJournal(data_dir / "journal"), LanceIndex(data_dir / "index", memory_bytes=16 << 20)

    journal, index = opened()
    written_before(journal, index)
    index.close()
    journal.close()
    if not tells:
        path = data_dir / "index" / f"{files.name('default', 1)}.json"
        card = json.loads(path.read_text())
        del card["analyzer_version"]
        path.write_text(json.dumps(card))
    check_that_it_is_made_anew(*opened())


def test_a_table_of_the_same_words_stays() -> None:
    journal, index = VolatileJournal(), VolatileIndex()
    memory = World(journal, index=index, embedders=ToyEmbedders(EMBEDDER))
    memory.add("我今天喝了一杯咖啡", user="u")
    memory.index()
    memory.abandon()
    with closing(World(journal, index=index, embedders=ToyEmbedders(EMBEDDER))) as again:
        assert again.stepped.step("default", 100) == 0
        assert [(generation.number, generation.analyzer_version) for generation in index.generations("default")] == [
            (1, ANALYZER_VERSION)
        ]
