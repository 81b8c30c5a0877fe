"""An empty namespace has no tables; one with any content keeps them."""

from pathlib import Path

import pytest

from memsidecar.layers.episodic.generations import GENERATION_WATERMARK
from memsidecar.stores.contract import DeleteDocument, Owner, PendingCommand
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE
from tests.conformance.builders import put
from tests.episodic.components import EpisodicClient, episodic_client
from tests.support.waiting import until

OWNERS = {
    "namespace's": Owner("default"),
    "a user's": Owner("default", user_id="u"),
    "a session's": Owner("default", session_id="another"),
}


def drop(memory: EpisodicClient, owner: Owner, name: str = "d1") -> None:
    pending = PendingCommand(DeleteDocument(owner, name))
    memory.journal.submit(pending)
    pending.wait()


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_no_table_is_left_when_the_last_session_is_deleted() -> None:
    with episodic_client() as memory:
        memory.add("tea", "a", user="u")
        memory.add("tea", "b")
        memory.index()
        memory.erase("a", user="u", delete_session=True)
        memory.index()
        assert len(memory.tables.generations("default")) == 1
        memory.erase("b", delete_session=True)
        memory.index()
        assert memory.tables.generations("default") == []


def test_no_file_is_left_of_an_empty_namespace(data_dir: Path) -> None:
    index = LanceIndex(data_dir / "index", memory_bytes=16 << 20)
    with episodic_client(SqliteJournal(data_dir / "journal"), index=index) as memory:
        empty = files(data_dir / "index")
        memory.add("tea", "a", user="u")
        memory.index()
        assert files(data_dir / "index") != empty
        memory.erase("a", user="u", delete_session=True)
        memory.index()
        assert files(data_dir / "index") == empty


def test_the_indexing_task_drops_an_empty_namespace() -> None:
    with episodic_client(stepped=False) as memory:
        memory.add("tea", "a")
        until(lambda: len(memory.tables.generations("default")) == 1)
        memory.erase("a", delete_session=True)
        until(lambda: memory.tables.generations("default") == [])
        # It then rests: another namespace is indexed meanwhile, and no table was made for this one again.
        generation = memory.journal.watermark(GENERATION_WATERMARK, "default")
        memory.add("milk", "b", namespace="other")
        until(lambda: len(memory.tables.generations("other")) == 1)
        assert memory.journal.watermark(GENERATION_WATERMARK, "default") == generation
        assert memory.tables.generations("default") == []


@pytest.mark.parametrize("owner", OWNERS.values(), ids=OWNERS)
def test_a_remaining_document_of_any_owner_stays_in_the_index(owner: Owner) -> None:
    with episodic_client() as memory:
        put(memory.journal, "all about tea", owner=owner)
        memory.add("tea", "a", user="u")
        memory.index()
        memory.erase("a", user="u", delete_session=True)
        memory.index()
        (generation,) = memory.tables.generations("default")
        table = memory.tables.open("default", generation.number)
        assert table is not None and table.stats().rows == 1
        assert [hit.document.id for hit in memory.chunks()([owner], "tea", 10, 0.0).hits] == ["d1"]
        drop(memory, owner)
        memory.index()
        assert memory.tables.generations("default") == []


@pytest.mark.parametrize("again", [True, False], ids=["indexed", "not indexed yet"])
def test_a_namespace_that_is_used_again_starts_with_its_new_content(again: bool) -> None:
    with episodic_client() as memory:
        memory.add("tea of old", "a", user="u")
        memory.index()
        memory.find("tea", user_id="u")
        memory.erase("a", user="u", delete_session=True)
        memory.index()
        memory.add("tea again", "a", user="u")
        if again:
            memory.index()
        assert memory.find("tea", user_id="u") == ["tea again"]
        assert memory.find("tea", session_id="a", scope=SCOPE_NAMESPACE) == ["tea again"]


def test_a_namespace_that_is_emptied_repeatedly_is_dropped_each_time() -> None:
    with episodic_client() as memory:
        for round_ in range(3):
            memory.add(f"tea {round_}", "a")
            memory.index()
            assert memory.find("tea", session_id="a") == [f"tea {round_}"]
            memory.erase("a", delete_session=True)
            memory.index()
            assert memory.tables.generations("default") == []


def test_an_empty_namespace_is_dropped_after_a_restart() -> None:
    with episodic_client() as memory:
        memory.add("tea", "a")
        memory.index()
        memory.erase("a", delete_session=True)
        memory.abandon()
        with episodic_client(memory.journal, index=memory.tables) as again:
            again.index()
            assert memory.tables.generations("default") == []


def test_a_search_does_not_create_the_table_of_an_empty_namespace() -> None:
    with episodic_client() as memory:
        memory.add("tea", "a", user="u")
        memory.index()
        memory.erase("a", user="u", delete_session=True)
        memory.index()
        assert memory.find("tea", user_id="u") == []
        assert memory.tables.generations("default") == []
