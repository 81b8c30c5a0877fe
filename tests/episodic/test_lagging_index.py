"""The index is further behind than a search reads: what others say keeps nobody from what is theirs."""

from pathlib import Path

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.layers.episodic import log_tail
from memsidecar.layers.episodic.query import SearchQuery, SearchScope
from memsidecar.stores.contract import Journal, LogEntries, LogFilter, Owner
from memsidecar.stores.sqlite import change_feed
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1.context_pb2 import DEGRADATION_STALE
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_USER, Scope
from tests.conformance.builders import append, draft, put
from tests.episodic.components import MODES, World, names_of, world

IMPORTED = 60
MINE_LONG_AGO, MINE = "the heron wears a coat", "the pelican wears a hat"
EVERYBODY, BERT = Owner("default"), Owner("default", user_id="bert")
TABLE = pytest.mark.parametrize("indexed", [True, False], ids=["with a table", "without"])
USERS = pytest.mark.parametrize("user", ["u", ""], ids=["of a user", "of nobody"])


@pytest.fixture(autouse=True)
def _little_is_read_by_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_tail, "BATCH_ENTRIES", 5)
    monkeypatch.setattr(log_tail, "MAX_TAIL_BATCHES", 2)


@pytest.fixture(params=["sqlite", "volatile"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Journal:
    return SqliteJournal(tmp_path) if request.param == "sqlite" else VolatileJournal()


def begin(memory: World, user: str, indexed: bool) -> None:
    """What the user said long ago, and then somebody else's import."""
    memory.add(MINE_LONG_AGO, "s", user=user)
    if indexed:
        memory.index()
    for at in range(IMPORTED):
        memory.add(f"imported pelican {at}", "import", user="importer")


@TABLE
@USERS
def test_all_that_is_mine_is_found_behind_somebody_elses_import(journal: Journal, user: str, indexed: bool) -> None:
    with world(journal) as memory:
        begin(memory, user, indexed)
        memory.add(MINE, "s", user=user)
        for scope in (SCOPE_SESSION, SCOPE_USER) if user else (SCOPE_SESSION,):
            for mode in MODES:
                found = memory.search("who wears a hat or a coat", mode=mode, **names_of(scope, user))
                assert {hit.message.content for hit in found.hits} == {MINE, MINE_LONG_AGO}
                assert not found.degraded


@TABLE
def test_a_document_is_found_behind_an_import_of_messages(journal: Journal, indexed: bool) -> None:
    with world(journal) as memory:
        begin(memory, "u", indexed)
        put(memory.journal, "the pelican wears a hat", name="d")
        put(memory.journal, "the pelican wears a scarf", name="d")
        found = memory.chunks()([EVERYBODY, BERT], "pelican", 10, 0.0)
        assert [hit.chunk.text for hit in found.hits] == ["the pelican wears a scarf"]
        assert not found.degraded


def test_a_session_that_was_claimed_behind_an_import_is_its_users(journal: Journal) -> None:
    with world(journal) as memory:
        begin(memory, "", indexed=True)
        memory.add(MINE, "s", user="u")
        assert len(memory.find("wears", scope=SCOPE_USER, user_id="u")) == 2


def test_what_was_erased_behind_an_import_leaves_its_shelf(journal: Journal) -> None:
    """Not only the answer, which the journal has the last word in."""
    with world(journal) as memory:
        begin(memory, "u", indexed=True)

        def standing() -> int:
            question, within = SearchQuery("heron"), SearchScope.of_user("default", "u")
            return len(memory.episodic.hits.searcher(question, within, 10, 0.0).hits)

        assert standing() == 1
        memory.erase("s", user="u")
        assert standing() == 0


def test_what_others_say_somewhere_else_keeps_nobody_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many stretches of the log it fills, and though nothing is indexed yet where it is asked."""
    monkeypatch.setattr(change_feed, "PAGE_ENTRIES", 5)
    with world(SqliteJournal(tmp_path)) as memory:
        for at in range(IMPORTED):
            memory.add(f"imported pelican {at}", "import", namespace="elsewhere")
        memory.add(MINE, "s", user="u")
        found = memory.search("pelican", user_id="u")
        assert [hit.message.content for hit in found.hits] == [MINE] and not found.degraded


class Importing(VolatileJournal):
    """Somebody adds something whenever the log is read."""

    def read_changes(
        self, namespace: str, after_lsn: int, limit: int, log_filter: LogFilter | None = None
    ) -> LogEntries:
        told = super().read_changes(namespace, after_lsn, limit, log_filter)
        append(self, draft("imported"), key=SessionKey(namespace, "import"), user_id="importer")
        return told


@TABLE
def test_an_import_that_goes_on_does_not_make_an_answer_old(indexed: bool) -> None:
    with world(Importing()) as memory:
        memory.add(MINE_LONG_AGO, "s", user="u")
        if indexed:
            memory.stepped.step("default", 1)
        memory.add(MINE, "s", user="u")
        found = memory.search("who wears what", user_id="u")
        assert len(found.hits) == 2 and not found.degraded


@TABLE
def test_documents_of_others_keep_no_message(journal: Journal, indexed: bool) -> None:
    with world(journal) as memory:
        begin(memory, "u", indexed)
        for at in range(IMPORTED):
            put(memory.journal, f"document {at}", name=f"d{at}")
        memory.add(MINE, "s", user="u")
        found = memory.search("pelican", user_id="u")
        assert found.hits[0].message.content == MINE and not found.degraded


def test_where_all_of_it_is_asked_for_the_answer_says_that_it_is_behind(journal: Journal) -> None:
    with world(journal) as memory:
        begin(memory, "u", indexed=True)
        assert memory.search("pelican", scope=SCOPE_NAMESPACE).degraded == [DEGRADATION_STALE]
        memory.index()
        found = memory.search("pelican", scope=SCOPE_NAMESPACE, limit=1_000)
        assert len(found.hits) == IMPORTED and not found.degraded


@pytest.mark.parametrize("scope", [SCOPE_SESSION, SCOPE_USER], ids=Scope.Name)
def test_pages_are_as_of_the_first_one_though_others_go_on_importing(journal: Journal, scope: Scope) -> None:
    with world(journal) as memory:
        begin(memory, "u", indexed=True)
        for at in range(8):
            memory.add(f"tea {at}", "s", user="u")
        whole = [hit.message.id for hit in memory.search("tea", limit=100, **names_of(scope)).hits]

        def meanwhile() -> None:
            memory.add("tea imported", "import", user="importer")
            memory.add("tea later", "s", user="u")
            memory.stepped.step("default", 7)

        assert memory.pages("tea", 3, meanwhile, **names_of(scope)) == whole
