"""The index lags further than a search reads: entries of other owners do not hide hits."""

from pathlib import Path

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.layers.episodic import log_tail
from memsidecar.layers.episodic.query import SearchQuery, SearchScope
from memsidecar.stores.contract import ANY_SIZE, Journal, LogEntries, LogFilter, Owner
from memsidecar.stores.sqlite import change_feed
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1.context_pb2 import DEGRADATION_STALE
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_USER, Scope
from tests.conformance.builders import append, draft, put
from tests.episodic.components import MODES, EpisodicClient, episodic_client, names_of

IMPORTED = 60
MINE_LONG_AGO, MINE = "the heron wears a coat", "the pelican wears a hat"
NAMESPACE_OWNER, BERT = Owner("default"), Owner("default", user_id="bert")
TABLE = pytest.mark.parametrize("indexed", [True, False], ids=["with a table", "without"])
USERS = pytest.mark.parametrize("user", ["u", ""], ids=["of a user", "without a user"])


@pytest.fixture(autouse=True)
def _small_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_tail, "BATCH_ENTRIES", 5)
    monkeypatch.setattr(log_tail, "MAX_TAIL_BATCHES", 2)


@pytest.fixture(params=["sqlite", "volatile"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Journal:
    return SqliteJournal(tmp_path) if request.param == "sqlite" else VolatileJournal()


def add_import(memory: EpisodicClient, user: str, indexed: bool) -> None:
    """Add old messages of the user, and then a large import of another user."""
    memory.add(MINE_LONG_AGO, "s", user=user)
    if indexed:
        memory.index()
    for at in range(IMPORTED):
        memory.add(f"imported pelican {at}", "import", user="importer")


@TABLE
@USERS
def test_all_messages_before_an_import_of_another_user_are_found(journal: Journal, user: str, indexed: bool) -> None:
    with episodic_client(journal) as memory:
        add_import(memory, user, indexed)
        memory.add(MINE, "s", user=user)
        for scope in (SCOPE_SESSION, SCOPE_USER) if user else (SCOPE_SESSION,):
            for mode in MODES:
                found = memory.search("who wears a hat or a coat", mode=mode, **names_of(scope, user))
                assert {hit.message.content for hit in found.hits} == {MINE, MINE_LONG_AGO}
                assert not found.degraded


@TABLE
def test_a_document_before_an_import_of_messages_is_found(journal: Journal, indexed: bool) -> None:
    with episodic_client(journal) as memory:
        add_import(memory, "u", indexed)
        put(memory.journal, "the pelican wears a hat", name="d")
        put(memory.journal, "the pelican wears a scarf", name="d")
        found = memory.chunks()([NAMESPACE_OWNER, BERT], "pelican", 10, 0.0)
        assert [hit.chunk.text for hit in found.hits] == ["the pelican wears a scarf"]
        assert not found.degraded


def test_a_session_that_was_claimed_before_an_import_is_found_by_its_user(journal: Journal) -> None:
    with episodic_client(journal) as memory:
        add_import(memory, "", indexed=True)
        memory.add(MINE, "s", user="u")
        assert len(memory.find("wears", scope=SCOPE_USER, user_id="u")) == 2


def test_messages_erased_before_an_import_leave_their_partition(journal: Journal) -> None:
    """The response alone proves nothing: the journal filters erased hits."""
    with episodic_client(journal) as memory:
        add_import(memory, "u", indexed=True)

        def row_count() -> int:
            question, within = SearchQuery("heron"), SearchScope.of_user("default", "u")
            return len(memory.episodic.hits.searcher(question, within, 10, 0.0).hits)

        assert row_count() == 1
        memory.erase("s", user="u")
        assert row_count() == 0


def test_an_import_into_another_namespace_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fills many batches of the log, and the searched namespace is not indexed yet."""
    monkeypatch.setattr(change_feed, "PAGE_ENTRIES", 5)
    with episodic_client(SqliteJournal(tmp_path)) as memory:
        for at in range(IMPORTED):
            memory.add(f"imported pelican {at}", "import", namespace="elsewhere")
        memory.add(MINE, "s", user="u")
        found = memory.search("pelican", user_id="u")
        assert [hit.message.content for hit in found.hits] == [MINE] and not found.degraded


class GrowingJournal(VolatileJournal):
    """A journal to which a message is added with each read of the log."""

    def read_changes(
        self,
        namespace: str,
        after_lsn: int,
        limit: int,
        log_filter: LogFilter | None = None,
        *,
        max_message_bytes: int = ANY_SIZE,
    ) -> LogEntries:
        entries = super().read_changes(namespace, after_lsn, limit, log_filter, max_message_bytes=max_message_bytes)
        append(self, draft("imported"), key=SessionKey(namespace, "import"), user_id="importer")
        return entries


@TABLE
def test_a_running_import_does_not_make_a_response_stale(indexed: bool) -> None:
    with episodic_client(GrowingJournal()) as memory:
        memory.add(MINE_LONG_AGO, "s", user="u")
        if indexed:
            memory.stepped.step("default", 1)
        memory.add(MINE, "s", user="u")
        found = memory.search("who wears what", user_id="u")
        assert len(found.hits) == 2 and not found.degraded


@TABLE
def test_documents_of_other_owners_hide_no_message(journal: Journal, indexed: bool) -> None:
    with episodic_client(journal) as memory:
        add_import(memory, "u", indexed)
        for at in range(IMPORTED):
            put(memory.journal, f"document {at}", name=f"d{at}")
        memory.add(MINE, "s", user="u")
        found = memory.search("pelican", user_id="u")
        assert found.hits[0].message.content == MINE and not found.degraded


def test_a_search_of_the_namespace_is_reported_as_stale(journal: Journal) -> None:
    with episodic_client(journal) as memory:
        add_import(memory, "u", indexed=True)
        assert memory.search("pelican", scope=SCOPE_NAMESPACE).degraded == [DEGRADATION_STALE]
        memory.index()
        found = memory.search("pelican", scope=SCOPE_NAMESPACE, limit=1_000)
        assert len(found.hits) == IMPORTED and not found.degraded


@pytest.mark.parametrize("scope", [SCOPE_SESSION, SCOPE_USER], ids=Scope.Name)
def test_pages_are_as_of_the_first_one_during_an_import(journal: Journal, scope: Scope) -> None:
    with episodic_client(journal) as memory:
        add_import(memory, "u", indexed=True)
        for at in range(8):
            memory.add(f"tea {at}", "s", user="u")
        whole = [hit.message.id for hit in memory.search("tea", limit=100, **names_of(scope)).hits]

        def meanwhile() -> None:
            memory.add("tea imported", "import", user="importer")
            memory.add("tea later", "s", user="u")
            memory.stepped.step("default", 7)

        assert memory.pages("tea", 3, meanwhile, **names_of(scope)) == whole
