"""Chunks of documents: visible to their owners only, and never of a partial version."""

import threading
from collections.abc import Sequence
from itertools import pairwise

import pytest

from memsidecar.layers.documents.documents import ChunkHit
from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.query import document_partition
from memsidecar.stores.contract import DeleteDocument, Owner, PendingCommand
from tests.conformance.builders import put
from tests.episodic.components import NO_RAM, EpisodicClient, StuckIndex, episodic_client
from tests.support.waiting import until

PATHS = pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
NAMESPACE_OWNER, ANNA, BERT = Owner("default"), Owner("default", user_id="anna"), Owner("default", user_id="bert")
TALK, ELSEWHERE = Owner("default", session_id="talk"), Owner("elsewhere")


def find(memory: EpisodicClient, owners: Sequence[Owner], query: str, limit: int = 100) -> Sequence[ChunkHit]:
    return memory.chunks()(owners, query, limit, 0.0).hits


def ids(hits: Sequence[ChunkHit]) -> list[tuple[str, int]]:
    return sorted((hit.document.id, hit.index) for hit in hits)


def drop(memory: EpisodicClient, owner: Owner, name: str) -> None:
    pending = PendingCommand(DeleteDocument(owner, name))
    memory.journal.submit(pending)
    pending.wait()


@PATHS
@pytest.mark.parametrize("opened", [True, False], ids=["open", "warming up"])
@pytest.mark.parametrize("indexed", [0, 2, 5])
def test_only_documents_of_visible_owners_are_found(limits: EpisodicLimits, opened: bool, indexed: int) -> None:
    with episodic_client(limits=limits, opened=opened) as memory:
        owners = [NAMESPACE_OWNER, ANNA, BERT, TALK, ELSEWHERE]
        for at, owner in enumerate(owners):
            put(memory.journal, f"tea of {at}", "and coffee", owner=owner, name=f"d{at}")
            if opened and at + 1 == indexed:
                memory.index()
        memory.add("tea in a message", "talk", user="anna")
        assert ids(find(memory, [NAMESPACE_OWNER], "tea"))[:1] == [("d0", 0)]
        assert {one for one, _ in ids(find(memory, [NAMESPACE_OWNER, TALK, ANNA], "tea"))} == {"d0", "d1", "d3"}
        assert {one for one, _ in ids(find(memory, [ELSEWHERE], "tea"))} == {"d4"}
        assert memory.find("tea", user_id="anna") == ["tea in a message"]


@PATHS
def test_a_document_is_found_from_its_put_to_its_deletion(limits: EpisodicLimits) -> None:
    with episodic_client(limits=limits) as memory:
        for indexing in (True, False):
            put(memory.journal, "tea", "milk and tea")
            if indexing:
                memory.index()
            assert ids(find(memory, [NAMESPACE_OWNER], "tea")) == [("d1", 0), ("d1", 1)]
            put(memory.journal, "coffee and tea")
            assert [(hit.document.id, hit.chunk.text) for hit in find(memory, [NAMESPACE_OWNER], "tea")] == [
                ("d1", "coffee and tea")
            ]
            drop(memory, NAMESPACE_OWNER, "d1")
            assert find(memory, [NAMESPACE_OWNER], "tea") == []


def test_putting_the_same_again_writes_nothing_and_indexes_nothing() -> None:
    with episodic_client() as memory:
        put(memory.journal, "tea", title="a")
        memory.index()
        tail = memory.journal.last_lsns()["default"]
        assert put(memory.journal, "tea", title="a").unchanged
        assert memory.journal.last_lsns()["default"] == tail
        assert memory.stepped.step("default", 100) == 0
        put(memory.journal, "tea", title="b")
        (hit,) = find(memory, [NAMESPACE_OWNER], "tea")
        assert hit.document.title == "b"


def test_hits_have_the_chunk_that_they_name() -> None:
    with episodic_client() as memory:
        for name in ("b", "a", "c"):
            put(memory.journal, *(f"tea {name}{at} " + "cup " * at for at in range(5)), name=name)
        memory.index()
        for hit in find(memory, [NAMESPACE_OWNER], "tea cup"):
            assert hit.chunk.text.startswith(f"tea {hit.document.id}{hit.index} ")


@PATHS
def test_a_document_that_is_replaced_repeatedly_is_never_partially_visible(limits: EpisodicLimits) -> None:
    """Each version has other chunks; a reader sees all chunks of one version and none of another."""
    with episodic_client(limits=limits, stepped=False) as memory:
        put(memory.journal, *_version(0), owner=ANNA)
        seen: list[list[str]] = []
        problems: list[BaseException] = []
        ended = threading.Event()

        def read() -> None:
            finder = memory.chunks()
            try:
                while not ended.is_set():
                    seen.append([hit.chunk.text for hit in finder([NAMESPACE_OWNER, ANNA], "tea", 100, 0.0).hits])
            except BaseException as problem:  # noqa: BLE001 - reported to the test
                problems.append(problem)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for version in range(1, 40):
            put(memory.journal, *_version(version), owner=ANNA)
            until(lambda version=version: len(seen) >= version or bool(problems))  # type: ignore[misc]
        ended.set()
        for reader in readers:
            reader.join(20)
        assert problems == []
        for texts in seen:
            versions = {text.split()[1] for text in texts}
            assert len(versions) == 1
            assert sorted(texts) == sorted(_version(int(versions.pop().removeprefix("v"))))


def _version(number: int) -> list[str]:
    return [f"tea v{number} part{at}" for at in range(2 + number % 3)]


def test_a_search_ends_although_the_index_has_rows_that_the_journal_does_not_have() -> None:
    """As after a dead letter for the erasure of a document: its rows stay for ever."""
    with episodic_client() as memory:
        put(memory.journal, "tea that is gone", name="gone")
        put(memory.journal, "tea that is kept", name="kept")
        memory.index()
        drop(memory, NAMESPACE_OWNER, "gone")
        memory.stepped.generations.get("default").live.position = memory.journal.last_lsns()["default"]
        assert ids(find(memory, [NAMESPACE_OWNER], "tea")) == [("kept", 0)]


def test_documents_are_found_while_the_index_is_stuck() -> None:
    with episodic_client(index=StuckIndex(), stepped=False) as memory:
        put(memory.journal, "tea", owner=ANNA)
        assert ids(find(memory, [NAMESPACE_OWNER, ANNA], "tea")) == [("d1", 0)]


def test_no_two_kinds_of_owners_share_a_partition() -> None:
    owners = [Owner("n"), Owner("n", "x"), Owner("n", session_id="x"), Owner("n", "y"), Owner("n", session_id="y")]
    partitions = sorted(document_partition(owner) for owner in owners)
    assert all(one < other for one, other in pairwise(partitions))
    assert all(0 <= partition < 1 << 63 for partition in partitions)


def test_the_score_of_a_chunk_is_the_sum_of_its_parts() -> None:
    with episodic_client() as memory:
        put(memory.journal, *(f"tea {'milk ' * at}" for at in range(8)))
        hits = find(memory, [NAMESPACE_OWNER], "tea milk")
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        for hit in hits:
            parts = hit.parts
            total = parts.keyword + parts.semantic + parts.neighbours + parts.speaker + parts.session + parts.recency
            assert total == pytest.approx(hit.score, abs=1e-5)
        assert len(find(memory, [NAMESPACE_OWNER], "tea milk", limit=3)) == 3
        assert all(hit.score >= 0.6 for hit in memory.chunks()([NAMESPACE_OWNER], "tea milk", 100, 0.6).hits)
