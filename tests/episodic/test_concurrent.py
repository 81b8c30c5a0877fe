"""Concurrent adds, searches and erasures during indexing and a switch of tables."""

import threading
from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.session import SessionKey
from memsidecar.layers.episodic.hits import PageRequest
from memsidecar.layers.episodic.query import SearchQuery, SearchScope
from memsidecar.stores.volatile.index import VolatileIndex
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1.message_pb2 import Message
from tests.episodic.components import EpisodicClient, ToyEmbedder, ToyEmbedders, episodic_client, messages_of
from tests.support.waiting import until


def find(memory: EpisodicClient, query: str, user: str) -> list[str]:
    """Search as the service does, but on the calling thread."""
    within = SearchScope.of_user("default", user)
    found = memory.episodic.hits.messages(SearchQuery(query), within, PageRequest(1_000), lambda _: True)
    return [Message.FromString(hit.message.body).content for _, hit in found.hits]


def together(*work: Callable[[], None]) -> None:
    problems: list[BaseException] = []

    def guarded(one: Callable[[], None]) -> None:
        try:
            one()
        except BaseException as problem:  # noqa: BLE001 - reported to the test
            problems.append(problem)

    threads = [threading.Thread(target=guarded, args=(one,)) for one in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    if problems:
        raise problems[0]


def test_each_user_finds_their_messages_at_once_without_duplicates() -> None:
    with episodic_client(stepped=False) as memory:

        def talk(user: str) -> None:
            for at in range(25):
                memory.working.add(SessionKey("default", f"s-{user}"), user, messages_of(f"tea {user} {at}"))
                found = find(memory, "tea", user)
                assert sorted(found) == sorted(f"tea {user} {before}" for before in range(at + 1))

        together(*(lambda user=user: talk(user) for user in ("anna", "bert", "carl")))
        until(lambda: memory.episodic.lags() == [])
        for user in ("anna", "bert", "carl"):
            assert len(find(memory, "tea", user)) == 25


def test_concurrent_writers_of_a_partition_see_every_acknowledged_message() -> None:
    with episodic_client(stepped=False) as memory:
        acknowledged: list[str] = []

        def add(writer: int) -> None:
            for at in range(30):
                memory.working.add(SessionKey("default", f"s{writer}"), "u", messages_of(f"tea {writer} {at}"))
                acknowledged.append(f"tea {writer} {at}")

        def search() -> None:
            for _ in range(40):
                before = list(acknowledged)
                found = find(memory, "tea", "u")
                assert set(before) <= set(found)
                assert len(found) == len(set(found))

        together(lambda: add(1), lambda: add(2), search, search)


def test_a_switch_to_a_table_of_other_dimensions_affects_no_search() -> None:
    """The embedder is slow during the switch, so that a search spans it."""
    journal, index = VolatileJournal(), VolatileIndex()
    old, new = ToyEmbedder("toy/old"), ToyEmbedder("toy/new", dimensions=16)
    before = EpisodicClient(journal, index=index, embedders=ToyEmbedders(old))
    for at in range(10):
        before.add(f"tea {at}", user="u")
    before.index()
    before.abandon()
    with closing(EpisodicClient(journal, index=index, embedders=ToyEmbedders(new, {old.identity: old}))) as memory:
        memory.add("tea 10", user="u")
        switched = threading.Event()

        class Slow(ToyEmbedder):
            """The old embedder: while it embeds, the new table is completed and promoted."""

            def vector(self, text: str) -> NDArray[np.float32]:
                if not switched.is_set():
                    switched.set()
                    memory.index()
                return super().vector(text)

        slow = Slow("toy/old")
        memory.stepped.generations.get("default").live.embedder = slow
        assert len(find(memory, "tea", "u")) == 11
        assert switched.is_set()
        assert [generation.embedder for generation in index.generations("default")] == ["toy/new"]
        assert len(find(memory, "tea", "u")) == 11
