"""Appends to sessions that the process wrote last: one round trip, and two where another process has written since."""

from contextlib import closing

import pytest

from memsidecar.domain.quota import no_quotas
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.domain.statistics import OperationStatistics
from memsidecar.stores.contract import Append, Appended, Journal, PendingCommand, SetPolicy
from memsidecar.stores.postgres.integrity import examine
from memsidecar.stores.postgres.leases import SidecarLease
from memsidecar.stores.postgres.writer import PostgresWriter
from tests.conformance.builders import (
    KEY,
    answer,
    append,
    call,
    contents,
    draft,
    erase,
    execute,
    follow,
    known_head,
    update_window,
)
from tests.postgres.conftest import OpenJournal
from tests.postgres.cutting_proxy import CuttingProxy
from tests.support.postgres_server import PostgresServer

ROUNDS = 5


@pytest.fixture
def journal(proxy: CuttingProxy, server: PostgresServer, database: str, open_journal: OpenJournal) -> Journal:
    return open_journal(server.url(database, proxy.port))


def _round_trips(proxy: CuttingProxy, journal: Journal, content: str, key: SessionKey = KEY) -> int:
    """Append a message; return how many requests had its id."""
    before, proxy.mark = proxy.marked_requests, content.encode()
    result = append(journal, draft(content), key=key)
    assert result.head == known_head(journal, key)
    return proxy.marked_requests - before


def test_an_append_to_a_session_that_was_written_last_takes_one_round_trip(
    journal: Journal, proxy: CuttingProxy
) -> None:
    assert _round_trips(proxy, journal, "new session") == 2
    assert [_round_trips(proxy, journal, f"known {number}") for number in range(ROUNDS)] == [1] * ROUNDS
    update_window(journal, 1)
    assert _round_trips(proxy, journal, "pruned") == 1


def test_an_append_to_an_erased_session_takes_two_round_trips(journal: Journal, proxy: CuttingProxy) -> None:
    append(journal, draft("a"))
    erase(journal, delete_session=True)
    assert _round_trips(proxy, journal, "new again") == 2


def test_a_policy_is_in_the_head_of_the_next_append(journal: Journal) -> None:
    append(journal, draft("a"))
    execute(journal, SetPolicy(KEY, "", Policy(7)))
    assert append(journal, draft("b")).head.policy == Policy(7)


def test_a_default_policy_is_in_the_head_of_the_next_append(journal: Journal) -> None:
    append(journal, draft("a"))
    execute(journal, SetPolicy(SessionKey(KEY.namespace, ""), "", Policy(7)))
    assert append(journal, draft("b")).head.default_policy == Policy(7)


def test_a_duplicate_beside_new_messages_is_answered_as_duplicate(journal: Journal) -> None:
    append(journal, draft("a"))
    result = append(journal, draft("a"), draft("b"))
    assert [added.duplicate for added in result.results] == [True, False]
    assert contents(journal) == ["a", "b"]


def test_a_result_of_a_pruned_call_brings_it_back(journal: Journal) -> None:
    append(journal, draft("a"), call("asks", "call"))
    update_window(journal, 2)
    append(journal, answer("answers", "call"))
    assert contents(journal) == ["a", "asks", "answers"]


def _append(writer: PostgresWriter, *contents: str) -> list[Appended]:
    group = [PendingCommand(Append(SessionKey("default", f"s{len(each)}"), "", [draft(each)])) for each in contents]
    writer.write(group)
    return [pending.result() for pending in group]


def test_writers_that_take_turns_leave_no_gap_in_a_session(url: str, open_journal: OpenJournal) -> None:
    with closing(SidecarLease(lambda: url)) as lease:
        writers = [
            PostgresWriter(lambda: url, lease, quotas=no_quotas, commits=OperationStatistics()) for _ in range(2)
        ]
        for number in range(ROUNDS):
            for name, writer in zip("ab", writers, strict=True):
                for turn in range(2):
                    results = _append(writer, f"{name}{number}{turn}", f"{name}{number}{turn}+")
                    assert [added.duplicate for result in results for added in result.results] == [False, False]
        for writer in writers:
            writer.close()
            writer.deletions.close()
    journal = open_journal()
    expected = [f"{name}{number}{turn}" for number in range(ROUNDS) for name in "ab" for turn in range(2)]
    assert contents(journal, SessionKey("default", "s3")) == expected
    assert contents(journal, SessionKey("default", "s4")) == [f"{content}+" for content in expected]
    assert [entry.lsn for entry in follow(journal)] == list(range(1, 8 * ROUNDS + 1))
    assert examine(lambda: url) == []
