"""The index is further behind than a search reads: what was said last is found, and the answer says that it is old."""

from collections.abc import Iterator

import pytest

from memsidecar.layers.episodic import EpisodicLimits, retrieving, unindexed
from memsidecar.layers.episodic.tail import Piece
from memsidecar.layers.episodic.unindexed import Unindexed
from memsidecar.stores.contract import Owner
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.context_pb2 import DEGRADATION_STALE
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_USER, Scope
from tests.conformance.said import put
from tests.episodic.parts import MODES, NO_RAM, SCOPES, World, names_of, world

READ_BY_A_SEARCH, IMPORTED = 10, 60
STATES = pytest.mark.parametrize("state", ["in RAM", "by candidates", "no table yet"])
EVERYBODY = Owner("default")


@pytest.fixture(autouse=True)
def _little_is_read_by_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unindexed, "CHAPTER", READ_BY_A_SEARCH // 2)
    monkeypatch.setattr(retrieving, "CHAPTERS_AT_MOST", 2)


@pytest.fixture
def memory(state: str) -> Iterator[World]:
    limits = NO_RAM if state == "by candidates" else EpisodicLimits()
    with world(limits=limits) as opened:
        if state != "no table yet":
            opened.add("the first of all", "long ago")
            opened.index()
        yield opened


def import_much(memory: World) -> None:
    for at in range(IMPORTED):
        memory.add(f"imported line {at}", "import", user="importer")


@STATES
@pytest.mark.parametrize("scope", SCOPES, ids=Scope.Name)
def test_a_message_is_found_behind_somebody_elses_import(memory: World, scope: Scope) -> None:
    import_much(memory)
    memory.add("the pelican wears a hat", "s", user="u")
    for mode in MODES:
        found = memory.search("pelican wears a hat", mode=mode, **names_of(scope))
        assert "the pelican wears a hat" in [hit.message.content for hit in found.hits]
        assert found.degraded == [DEGRADATION_STALE]
        memory.episodic.recall.retrieve.hot.drop("default", 1)  # each mode begins as far behind as the first


@STATES
def test_a_document_is_found_behind_an_import(memory: World) -> None:
    import_much(memory)
    put(memory.journal, "the pelican wears a hat")
    found = memory.chunks()([EVERYBODY], "pelican", 10, 0.0)
    assert [hit.chunk.text for hit in found.hits] == ["the pelican wears a hat"]
    assert found.lacks == {DEGRADATION_STALE}


@STATES
def test_what_is_in_between_is_found_when_the_index_has_caught_up(memory: World) -> None:
    import_much(memory)
    between = f"imported line {IMPORTED // 2}"
    memory.index()
    found = memory.search(between, scope=SCOPE_NAMESPACE, mode=pb.SEARCH_MODE_KEYWORD)
    assert found.hits[0].message.content == between and not found.degraded


@STATES
@pytest.mark.parametrize("scope", [SCOPE_USER, SCOPE_SESSION], ids=Scope.Name)
def test_pages_name_each_message_once_though_the_index_catches_up_between_them(memory: World, scope: Scope) -> None:
    for at in range(IMPORTED):
        memory.add(f"tea {at}", "s", user="u")
    names = names_of(scope)
    whole = [hit.message.id for hit in memory.search("tea", limit=1_000, **names).hits]
    if memory.episodic.ready:
        memory.episodic.recall.retrieve.hot.drop("default", 1)
    pages = memory.pages("tea", 7, lambda: memory.stepped.step("default", READ_BY_A_SEARCH), **names)
    assert pages == whole and len(set(pages)) == len(pages)


@pytest.mark.parametrize("state", ["in RAM"])
def test_what_comes_to_its_shelf_meanwhile_is_named_once(memory: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index takes all there is between the reading of the log's end and the ranking."""
    newest_of = Unindexed.newest_of

    def then_index(*asked: object) -> Piece:
        piece = newest_of(*asked)  # type: ignore[arg-type]
        memory.index()
        return piece

    for at in range(IMPORTED):
        memory.add(f"tea {at}", "s", user="u")
    monkeypatch.setattr(Unindexed, "newest_of", then_index)
    found = memory.find("tea", user_id="u", limit=1_000)
    assert len(found) == len(set(found)) == IMPORTED
