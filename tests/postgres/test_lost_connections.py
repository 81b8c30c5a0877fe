"""A connection that is lost at any moment loses no command and executes none twice."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from urllib.parse import urlsplit

import psycopg
import pytest

from memsidecar.domain.errors import JournalUnavailable, NotFound
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Calibrate,
    Calibration,
    Claim,
    DeleteDocument,
    DeleteRecord,
    EraseUser,
    ImportMessages,
    Journal,
    MessageImport,
    Outcome,
    RecordKind,
    SetPolicy,
    UpdateWindow,
)
from memsidecar.stores.postgres.integrity import examine
from memsidecar.stores.postgres.journal import PostgresJournal
from memsidecar.stores.postgres.migrations import migrate
from tests.conformance.builders import (
    ANN,
    KEY,
    NAMESPACE_OWNER,
    append,
    content,
    contents,
    draft,
    erase,
    execute,
    follow,
    forget,
    known_head,
    new_record,
    put,
    read,
    record_ids,
    scored,
    update_message,
    upsert,
)
from tests.postgres.conftest import NEWEST, OpenJournal
from tests.postgres.cutting_proxy import Cut, CuttingProxy
from tests.support.postgres_server import PostgresServer, create_database, postgres_server
from tests.support.waiting import until

_TERMINATE = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name = 'memsidecar' AND datname = %s"""
_LOCK_SESSIONS = "SELECT FROM sessions FOR UPDATE"
_WAITING = "SELECT FROM pg_stat_activity WHERE application_name = 'memsidecar' AND wait_event_type = 'Lock'"
ROUNDS = 4
TERMINATIONS = 20
WRITERS = 4
KILLS = 3


@pytest.fixture
def cut_journal(proxy: CuttingProxy, server: PostgresServer, database: str, open_journal: OpenJournal) -> Journal:
    journal = open_journal(server.url(database, proxy.port))
    append(journal, draft("first"), draft("second"), draft("third"))
    return journal


def _append(journal: Journal, number: int) -> Iterator[None]:
    yield
    result = append(journal, draft(f"m{number}"))
    assert not result.results[0].duplicate
    assert (result.head, contents(journal)[-1]) == (known_head(journal), f"m{number}")


def _annotate(journal: Journal, number: int) -> Iterator[None]:
    before = known_head(journal).version
    yield
    result = update_message(journal, "second", scored(number, "mark"))
    assert result.head == known_head(journal) and result.head.version == before + 1


def _prune(journal: Journal, number: int) -> Iterator[None]:
    append(journal, draft(f"pruned{number}"))
    head = known_head(journal)
    yield
    result = execute(journal, UpdateWindow(KEY, head.version, [head.last_sequence]))
    assert result.head == known_head(journal)
    assert f"pruned{number}" not in contents(journal)


def _claim(journal: Journal, number: int) -> Iterator[None]:
    key = SessionKey("default", f"claimed{number}")
    yield
    head = execute(journal, Claim(key, "ann"))
    assert head == known_head(journal, key)


def _set_policy(journal: Journal, number: int) -> Iterator[None]:
    yield
    execute(journal, SetPolicy(KEY, "", Policy(number + 1)))
    assert known_head(journal).policy == Policy(number + 1)


def _calibrate(journal: Journal, number: int) -> Iterator[None]:
    yield
    execute(journal, Calibrate("default", "m", lambda now: Calibration(now.factor, now.reports + 1)))
    assert journal.calibration("default", "m").reports == number + 1


def _advance(journal: Journal, number: int) -> Iterator[None]:
    yield
    execute(journal, AdvanceWatermark("task", "default", number + 1))
    assert journal.watermark("task", "default") == number + 1


def _add_dead_letter(journal: Journal, number: int) -> Iterator[None]:
    yield
    execute(journal, AddDeadLetter("task", "default", number + 1, "reason"))
    assert len(journal.dead_letters("task")) == number + 1


def _put_document(journal: Journal, number: int) -> Iterator[None]:
    yield
    result = put(journal, "text", str(number))
    ((_, chunk),) = journal.find_chunks("default", [(result.document.version, 0)]).values()
    assert chunk.text == "text"


def _delete_document(journal: Journal, number: int) -> Iterator[None]:
    put(journal, "text", name=f"d{number}")
    yield
    execute(journal, DeleteDocument(NAMESPACE_OWNER, f"d{number}"))
    assert journal.document(NAMESPACE_OWNER, f"d{number}") is None


def _upsert(journal: Journal, number: int) -> Iterator[None]:
    yield
    upsert(journal, new_record(f"body{number}", name=f"n{number}"), kind=RecordKind.FACT)
    assert len(record_ids(journal, kind=RecordKind.FACT)) == number + 1


def _delete_record(journal: Journal, number: int) -> Iterator[None]:
    upsert(journal, new_record(name=f"n{number}"))
    yield
    execute(journal, DeleteRecord(ANN, RecordKind.ARTIFACT, f"n{number}"))
    assert record_ids(journal) == []


def _clear(journal: Journal, number: int) -> Iterator[None]:
    append(journal, draft(f"cleared{number}"))
    yield
    assert erase(journal).head == known_head(journal)
    assert contents(journal) == []


def _delete_session(journal: Journal, number: int) -> Iterator[None]:
    append(journal, draft(f"deleted{number}"))
    yield
    assert erase(journal, delete_session=True).counts.sessions == 1
    assert journal.head(KEY) is None


def _forget(journal: Journal, number: int) -> Iterator[None]:
    append(journal, draft(f"forgotten{number}"))
    yield
    assert forget(journal, f"forgotten{number}").counts.messages == 1
    with pytest.raises(NotFound):
        forget(journal, f"forgotten{number}")


def _erase_user(journal: Journal, number: int) -> Iterator[None]:
    append(journal, draft("a"), key=SessionKey("default", f"user{number}"), user_id="ann")
    yield
    assert execute(journal, EraseUser("default", "ann")).counts.sessions == 1
    assert journal.head(SessionKey("default", f"user{number}")) is None


def _import_messages(journal: Journal, number: int) -> Iterator[None]:
    yield
    imported = execute(journal, ImportMessages([MessageImport(KEY, "", draft(f"imported{number}"))]))
    assert imported.outcomes == [Outcome.STORED]
    assert contents(journal)[-1] == f"imported{number}"


WRITES: dict[str, Callable[[Journal, int], Iterator[None]]] = {
    "append": _append,
    "annotate": _annotate,
    "prune": _prune,
    "claim": _claim,
    "set policy": _set_policy,
    "calibrate": _calibrate,
    "advance a watermark": _advance,
    "add a dead letter": _add_dead_letter,
    "put a document": _put_document,
    "delete a document": _delete_document,
    "upsert a record": _upsert,
    "delete a record": _delete_record,
    "clear a session": _clear,
    "delete a session": _delete_session,
    "forget a message": _forget,
    "erase a user": _erase_user,
    "import messages": _import_messages,
}
"Each is a preparation, and after its `yield` a write with a check of its result and effect."


@pytest.mark.parametrize("cut", [Cut.BEFORE_REQUEST, Cut.BEFORE_ANSWER], ids=["before", "after"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_write_whose_connection_is_cut_takes_effect_once(
    write: Callable[[Journal, int], Iterator[None]], cut: Cut, cut_journal: Journal, proxy: CuttingProxy, url: str
) -> None:
    for number in range(ROUNDS):
        steps = write(cut_journal, number)
        next(steps)
        proxy.cut = cut
        assert next(steps, "done") == "done"
        assert proxy.cuts == number + 1
    lsns = [entry.lsn for entry in follow(cut_journal)]
    assert lsns == sorted(set(lsns))
    assert examine(lambda: url) == []


def test_an_append_by_one_statement_whose_answer_is_lost_is_stored_once(
    cut_journal: Journal, proxy: CuttingProxy, url: str
) -> None:
    for number in range(ROUNDS):
        steps = _append(cut_journal, number)
        next(steps)
        proxy.mark, proxy.cut = f"m{number}".encode(), Cut.BEFORE_ANSWER_TO_MARK
        assert next(steps, "done") == "done"
        assert proxy.cuts == number + 1
    assert contents(cut_journal) == ["first", "second", "third", *(f"m{number}" for number in range(ROUNDS))]
    assert examine(lambda: url) == []


def test_a_statement_that_outlives_its_connection_is_stored_once(
    cut_journal: Journal, proxy: CuttingProxy, url: str
) -> None:
    """The statement waits for a lock when its connection is lost. Its sidecar waits for it."""
    with psycopg.connect(url) as other, ThreadPoolExecutor(1) as pool:
        other.execute(_LOCK_SESSIONS)
        appended = pool.submit(append, cut_journal, draft("a"))
        until(lambda: other.execute(_WAITING).fetchone() is not None, "the statement's wait for the lock")
        proxy.disconnect()
        other.rollback()
        assert not appended.result().results[0].duplicate
    assert appended.result().head == known_head(cut_journal)
    assert contents(cut_journal) == ["first", "second", "third", "a"]
    assert examine(lambda: url) == []


class _Writers:
    """Threads that append until they are stopped, each to its session, and record what was acknowledged."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._stopped = threading.Event()
        self.acknowledged: dict[SessionKey, dict[str, int]] = {
            SessionKey("default", f"s{number}"): {} for number in range(WRITERS)
        }
        self.failures = 0
        self._pool = ThreadPoolExecutor(WRITERS)
        self._futures = [self._pool.submit(self._write, key) for key in self.acknowledged]

    def _write(self, key: SessionKey) -> None:
        for number in count():
            if self._stopped.is_set():
                return
            self._append(key, f"{key.session_id}/{number}")

    def _append(self, key: SessionKey, name: str) -> None:
        """Append a message until it is acknowledged: its id makes it safe to try again."""
        while True:
            try:
                result = append(self._journal, draft(name), key=key)
            except JournalUnavailable:
                self.failures += 1
                continue
            self.acknowledged[key][name] = result.results[0].sequence
            return

    @property
    def count(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    def wait_for_more(self) -> None:
        enough = self.count + 3 * WRITERS
        until(lambda: self.count >= enough, "more acknowledged messages", progress=lambda: self.count)

    def stop(self) -> None:
        self._stopped.set()
        for future in self._futures:
            future.result()
        self._pool.shutdown()

    def check(self) -> None:
        for key, acknowledged in self.acknowledged.items():
            stored = {content(message): message.sequence for message in read(self._journal, key, limit=1_000_000)}
            assert stored == acknowledged
            assert sorted(stored.values()) == list(range(1, len(stored) + 1))


def test_terminated_connections_lose_and_double_no_message(
    journal: PostgresJournal, server: PostgresServer, url: str
) -> None:
    writers = _Writers(journal)
    with psycopg.connect(server.url("postgres"), autocommit=True) as admin:
        for _ in range(TERMINATIONS):
            writers.wait_for_more()
            admin.execute(_TERMINATE, (urlsplit(url).path.removeprefix("/"),))
    writers.wait_for_more()
    writers.stop()
    writers.check()
    assert writers.failures == 0
    assert examine(lambda: url) == []


def test_a_killed_server_loses_and_doubles_no_message() -> None:
    with postgres_server(NEWEST, durable=True) as server:
        url = create_database(server, "memsidecar")
        migrate(lambda: url)
        with closing(PostgresJournal(lambda: url)) as journal:
            writers = _Writers(journal)
            for _ in range(KILLS):
                writers.wait_for_more()
                server.kill()
                server.start()
            writers.wait_for_more()
            writers.stop()
            writers.check()
        assert examine(lambda: url) == []


def test_a_frozen_server_delays_calls_and_loses_and_doubles_no_message() -> None:
    """The writers retry with the same ids while the server is frozen: a statement may take effect when it goes on."""
    with postgres_server(NEWEST, durable=True) as server:
        url = create_database(server, "memsidecar")
        migrate(lambda: url)
        with closing(PostgresJournal(lambda: url)) as journal:
            writers = _Writers(journal)
            writers.wait_for_more()
            with server.frozen():
                with pytest.raises(JournalUnavailable):
                    journal.head(KEY)
                until(lambda: writers.failures >= WRITERS, "refused appends", progress=lambda: writers.failures)
            writers.wait_for_more()
            writers.stop()
            writers.check()
        assert examine(lambda: url) == []
