"""Two sidecars' journals and working memories on one database: each reads what the other has committed."""

from collections.abc import Callable

import pytest

from memsidecar.domain.retention import Retention, RetentionLimit
from memsidecar.domain.session import Policy, SessionHead, SessionKey, Strategy
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.layers.working.window_update import PruneRequest
from memsidecar.stores.contract import Erase, EraseUser
from memsidecar.v1.message_pb2 import Message
from tests.conformance.builders import execute
from tests.postgres.conftest import OpenJournal
from tests.semantic.builders import ANN, client_fact, put, values
from tests.working.components import memory_over, messages_of

KEY = SessionKey("default", "s")
NEW = SessionKey("default", "new")


@pytest.fixture
def memories(open_journal: OpenJournal) -> tuple[WorkingMemory, WorkingMemory]:
    first, second = (memory_over(open_journal(exclusive=False)) for _ in range(2))
    return first, second


def recent(memory: WorkingMemory, n: int = 100) -> list[str]:
    frames = memory.read.recent(KEY, "", n, 0).frames
    return [Message.FromString(body).content for body in frames[1::2]]


def known_head(memory: WorkingMemory) -> SessionHead:
    head = memory.read.head(KEY, "")
    assert head is not None
    return head


def add(*contents: str) -> Callable[[WorkingMemory], object]:
    return lambda memory: memory.add(KEY, "", messages_of(*contents))


def prune(memory: WorkingMemory) -> None:
    memory.prune(KEY, "", PruneRequest(max_tokens=1, strategy=Strategy.WINDOW, window=1, min_messages=1))


def erase(memory: WorkingMemory) -> None:
    memory.sessions.submit_erase(Erase(KEY, "")).wait()


def delete(memory: WorkingMemory) -> None:
    memory.sessions.submit_erase(Erase(KEY, "", delete_session=True)).wait()


@pytest.mark.parametrize(
    ("change", "expected"),
    [(add("c"), ["a", "b", "c"]), (prune, ["b"]), (erase, []), (delete, [])],
)
def test_a_read_sees_what_another_sidecar_has_committed(
    memories: tuple[WorkingMemory, WorkingMemory],
    change: Callable[[WorkingMemory], object],
    expected: list[str],
) -> None:
    one, other = memories
    add("a", "b")(one)
    assert recent(one) == recent(other) == ["a", "b"]
    change(other)
    assert recent(one) == expected
    head = one.read.head(KEY, "")
    assert (head.message_count if head else 0) == len(expected)
    assert one.session_cache.cached(KEY) is None


def test_a_commit_does_not_extend_a_snapshot_that_misses_one_of_another_sidecar(
    memories: tuple[WorkingMemory, WorkingMemory],
) -> None:
    one, other = memories
    add("a")(one)
    add("b")(other)
    add("c")(one)
    assert recent(one) == ["a", "b", "c"]
    delete(other)
    add("d")(one)
    assert recent(one) == ["d"]


def test_a_current_snapshot_is_not_read_again(memories: tuple[WorkingMemory, WorkingMemory]) -> None:
    one, other = memories
    add("a")(one)
    assert recent(other) == recent(other) == ["a"]
    assert (other.session_cache.statistics.hits, other.session_cache.statistics.misses) == (1, 1)
    assert recent(one) == ["a"]
    assert (one.session_cache.statistics.hits, one.session_cache.statistics.misses) == (1, 0)


def test_a_policy_of_another_sidecar_is_in_force_at_once(memories: tuple[WorkingMemory, WorkingMemory]) -> None:
    one, other = memories
    add("a")(one)
    policy = Policy(auto_prune_tokens=5)
    other.policies.set(KEY, "", policy)
    assert one.policies.of(known_head(one)) == policy


def test_a_default_policy_of_another_sidecar_is_in_force_at_once(memories: tuple[WorkingMemory, WorkingMemory]) -> None:
    one, other = memories
    add("a")(one)
    policy = Policy(auto_prune_tokens=5, retention=Retention(messages=RetentionLimit(max_count=9)))
    other.policies.set(SessionKey("default", ""), "", policy)
    for head in (known_head(one), one.add(KEY, "", messages_of("b")).head, one.add(NEW, "", messages_of("c")).head):
        assert one.policies.of(head) == policy
        assert one.policies.retention_of(head) == policy.retention
    assert one.policies.retention_in("default") == policy.retention
    assert not one.policies.set_default_if_none("default", Policy())
    other.policies.set(SessionKey("default", ""), "", None)
    assert one.policies.of(known_head(one)) is None


def test_facts_of_an_owner_are_read_again_when_another_sidecar_has_changed_them(open_journal: OpenJournal) -> None:
    journals = [open_journal(exclusive=False) for _ in range(2)]
    one, other = (Facts(journal, cached_owners=10) for journal in journals)
    for expected, city in enumerate(("Rome", "Lima"), 1):
        put(one, client_fact(city, expected))
        assert values(one) == values(other) == [city]
    execute(journals[1], EraseUser(ANN.namespace, ANN.user_id))
    assert values(one) == values(other) == []


def test_facts_of_an_owner_are_cached_while_nobody_changes_them(open_journal: OpenJournal) -> None:
    facts = Facts(open_journal(exclusive=False), cached_owners=10)
    put(facts, client_fact("Rome"))
    assert values(facts) == values(facts) == ["Rome"]
    assert (facts.cache_statistics.hits, facts.cache_statistics.misses) == (1, 1)
