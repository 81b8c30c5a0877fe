"""Expiry: nothing younger goes, everything older goes, exchanges are whole, facts follow, holds stay."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct

from memsidecar.assembly.derived_memory import DERIVATIONS
from memsidecar.assembly.retention import is_pinned
from memsidecar.domain.errors import ShuttingDown
from memsidecar.domain.retention import KEEP_ALL, Retention, RetentionLimit
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.layers.retention.expiry import (
    GROUP_DOCUMENTS,
    GROUP_MESSAGES,
    GROUP_SESSIONS,
    Expiry,
    ExpiryCounts,
)
from memsidecar.layers.retention.legal_hold import hold_check
from memsidecar.layers.semantic.fact import KnownFact
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import DocumentQuery, Journal, Owner, RecordKind, UpdateWindow, submit_and_wait
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message, ToolCall
from tests.conformance.builders import ANN, KEY, contents, known_head, new_record, put, record_ids, upsert
from tests.conformance.conftest import JOURNALS
from tests.semantic.builders import client_fact, fact
from tests.semantic.builders import put as put_facts

SECOND = 1_000_000
DAY = 86_400
OTHER = SessionKey("default", "s2")
WEEK = Retention(messages=RetentionLimit(7 * DAY))


@dataclass
class Sidecar:
    """A journal with its layers, and a clock that tests set."""

    journal: Journal
    settings: Retention = KEEP_ALL
    hold: str = ""

    def __post_init__(self) -> None:
        limits = WorkingLimits(retention=self.settings)
        self.memory = WorkingMemory(self.journal, CounterRegistry("chars4"), limits, derivations=DERIVATIONS)
        self.facts = Facts(self.journal, 10)

    def add(self, *messages: Message | str, key: SessionKey = KEY, user_id: str = "") -> int:
        """Add messages; return the time of their commit in microseconds."""
        made = [Message(role=ROLE_USER, content=each, id=each) if isinstance(each, str) else each for each in messages]
        self.memory.add(key, user_id, made)
        return known_head(self.journal, key).last_active_us

    def expire(self, now_us: int, pause: Callable[[], None] = lambda: None) -> ExpiryCounts:
        """Run once as of a time."""
        erase = {RecordKind.FACT: self.facts.upsert, RecordKind.ARTIFACT: self._upsert}
        hold = hold_check(self.hold)
        return Expiry(self.journal, self.memory.policies, DERIVATIONS, erase, is_pinned, hold, pause).run(now_us)

    def _upsert(self, command: Any) -> None:
        submit_and_wait(self.journal, command)

    def set(self, retention: Retention | None, key: SessionKey = KEY) -> None:
        self.memory.policies.set(key, "", Policy(retention=retention))


@pytest.fixture(params=list(JOURNALS.values()), ids=list(JOURNALS))
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    with closing(request.param(tmp_path / "journal")) as opened:
        yield opened


def tagged(content: str, **tags: Any) -> Message:
    metadata = Struct()
    metadata.update(tags)
    return Message(role=ROLE_USER, content=content, id=content, metadata=metadata)


def tool_call(name: str, *calls: str) -> Message:
    tool_calls = [ToolCall(id=each, name="t", arguments_json="{}") for each in calls]
    return Message(role=ROLE_ASSISTANT, id=name, content=name, tool_calls=tool_calls)


def result(name: str, call_id: str) -> Message:
    return Message(role=ROLE_TOOL, id=name, content=name, tool_call_id=call_id)


def at_age(commit_us: int, seconds: int, plus_us: int = 0) -> int:
    """Return the time at which what was committed then has this age."""
    return commit_us + seconds * SECOND + plus_us


def test_nothing_younger_goes_and_everything_older_goes(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    times = [sidecar.add(name) for name in "abcd"]
    assert sidecar.expire(at_age(times[1], 7 * DAY)) == ExpiryCounts(messages=1)
    assert contents(journal) == ["b", "c", "d"]
    assert sidecar.expire(at_age(times[2], 7 * DAY, plus_us=1)) == ExpiryCounts(messages=2)
    assert contents(journal) == ["d"]
    assert sidecar.expire(at_age(times[3], 8 * DAY)) == ExpiryCounts(messages=1)
    assert sidecar.expire(at_age(times[3], 9 * DAY)) == ExpiryCounts()


def test_everything_is_kept_by_default(journal: Journal) -> None:
    sidecar = Sidecar(journal)
    committed = sidecar.add("a")
    assert sidecar.expire(at_age(committed, 10_000 * DAY)) == ExpiryCounts()
    assert contents(journal) == ["a"]


def test_the_times_that_clients_give_change_nothing(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    past, future = Message(role=ROLE_USER, content="past"), Message(role=ROLE_USER, content="future")
    past.create_time.FromSeconds(-(10**9))
    future.create_time.FromSeconds(10**11)
    committed = sidecar.add(past, future)
    assert sidecar.expire(at_age(committed, 7 * DAY - 60)) == ExpiryCounts()
    assert sidecar.expire(at_age(committed, 7 * DAY, plus_us=SECOND)) == ExpiryCounts(messages=2)


def test_pruned_and_system_messages_go_too(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    committed = sidecar.add(Message(role=ROLE_SYSTEM, content="be brief"), "a", "b")
    submit_and_wait(journal, _prune(journal, 2))
    assert sidecar.expire(at_age(committed, 8 * DAY)).messages == 3
    assert contents(journal, include_pruned=True) == []


def _prune(journal: Journal, *sequences: int) -> Any:
    return UpdateWindow(KEY, known_head(journal).version, sequences)


def test_an_exchange_goes_when_its_newest_message_does(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    first = sidecar.add("u", tool_call("c", "x"), "v")
    last = sidecar.add(result("r", "x"))
    assert sidecar.expire(at_age(first, 7 * DAY, plus_us=1)).messages == 2
    assert contents(journal) == ["c", "r"]
    assert sidecar.expire(at_age(last, 7 * DAY, plus_us=1)).messages == 2


def test_the_newest_messages_stay_by_count_and_exchanges_with_them(journal: Journal) -> None:
    sidecar = Sidecar(journal, Retention(messages=RetentionLimit(max_count=3)))
    committed = sidecar.add("a", "b", tool_call("c", "x"), result("r", "x"), "d", "e")
    assert sidecar.expire(committed).messages == 2
    assert contents(journal) == ["c", "r", "d", "e"]
    assert sidecar.expire(committed).messages == 0
    sidecar.add("f")
    assert sidecar.expire(committed).messages == 2
    assert contents(journal) == ["d", "e", "f"]


@pytest.mark.parametrize("tag", ["hold", "hold=case 7"])
def test_a_message_under_legal_hold_stays_with_its_exchange(journal: Journal, tag: str) -> None:
    sidecar = Sidecar(journal, WEEK, hold=tag)
    held_result = result("held result", "x")
    held_result.metadata.update({"hold": "case 7"})
    committed = sidecar.add(
        "a", tagged("held", hold="case 7"), tool_call("call", "x"), held_result, tagged("other", held="case 7"), "b"
    )
    assert sidecar.expire(at_age(committed, 8 * DAY)).messages == 3
    assert contents(journal) == ["held", "call", "held result"]
    command = sidecar.memory.sessions.forget_command(KEY, "", ["held"])
    assert submit_and_wait(journal, command).counts.messages == 1


@pytest.mark.parametrize(
    ("tag", "tags", "is_held"),
    [
        ("hold", {"hold": True}, True),
        ("hold", {"hold": False}, False),
        ("hold", {"hold": None}, False),
        ("hold", {"hold": ""}, True),
        ("hold=true", {"hold": True}, True),
        ("hold=7", {"hold": 7}, True),
        ("hold=yes", {"hold": "no"}, False),
        ("hold=", {"hold": ""}, True),
        ("hold", {"other": "hold"}, False),
    ],
)
def test_a_tag_is_a_key_or_a_key_with_a_value(tag: str, tags: dict[str, Any], is_held: bool) -> None:
    check = hold_check(tag)
    assert check is not None and check(tagged("m", **tags).SerializeToString()) == is_held


def test_the_session_is_over_the_namespace_and_the_namespace_over_the_settings(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    committed = sidecar.add("a")
    sidecar.add("a", key=OTHER)
    sidecar.set(Retention(messages=RetentionLimit(30 * DAY)), SessionKey("default", ""))
    sidecar.set(Retention(), OTHER)
    assert sidecar.expire(at_age(committed, 8 * DAY)).messages == 0
    assert sidecar.expire(at_age(committed, 31 * DAY)).messages == 1
    assert (contents(journal), contents(journal, OTHER)) == ([], ["a"])
    sidecar.set(None, OTHER)
    assert sidecar.expire(at_age(committed, 31 * DAY)).messages == 1


def test_a_policy_that_changes_during_a_run_is_obeyed(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    committed = sidecar.add(*(f"m{number}" for number in range(3 * GROUP_MESSAGES)))
    groups: list[int] = []

    def pause() -> None:
        groups.append(known_head(journal).message_count)
        sidecar.set(Retention())

    sidecar.expire(at_age(committed, 8 * DAY), pause)
    assert known_head(journal).message_count == 2 * GROUP_MESSAGES


def test_a_run_that_ends_in_the_middle_is_continued_by_the_next(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    count = 3 * GROUP_MESSAGES
    committed = sidecar.add(*(f"m{number}" for number in range(count)))

    def stop() -> None:
        raise ShuttingDown()

    with pytest.raises(ShuttingDown):
        sidecar.expire(at_age(committed, 8 * DAY), stop)
    left = known_head(journal).message_count
    assert left == count - GROUP_MESSAGES
    again = Sidecar(journal, WEEK)
    assert again.expire(at_age(committed, 8 * DAY)).messages == left


def test_facts_go_with_the_last_message_that_they_rest_on(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    first = sidecar.add("m1", user_id="ann")
    sidecar.add("m2", user_id="ann")
    put_facts(
        sidecar.facts,
        fact("Oslo", 1, source_message_ids=("m1",)),
        fact("tea", 1, key="drink", source_message_ids=("m1", "m2")),
        client_fact("Ann", 1, key="name"),
    )
    assert sidecar.expire(at_age(first, 7 * DAY, plus_us=1)) == ExpiryCounts(messages=1, facts=1)
    assert _values(sidecar) == ["Ann", "tea"]
    sidecar.expire(at_age(first, 8 * DAY))
    assert _values(sidecar) == ["Ann"]


def _values(sidecar: Sidecar, owner: Owner = ANN) -> list[str]:
    return sorted(known.value for known in sidecar.facts.all(owner, history=True))


def test_facts_expire_by_their_last_mention_and_pinned_ones_stay(journal: Journal) -> None:
    sidecar = Sidecar(journal, Retention(facts=RetentionLimit(10)))
    known = [
        client_fact("old", 1 * SECOND, key="a"),
        client_fact("pinned", 1 * SECOND, key="b", pinned=True),
        client_fact("new", 5 * SECOND, key="c"),
        client_fact("was", 2 * SECOND, key="d"),
        client_fact("is", 9 * SECOND, key="d"),
    ]
    put_facts(sidecar.facts, *known)
    assert sidecar.expire(15 * SECOND) == ExpiryCounts(facts=2)
    assert _values(sidecar) == ["is", "new", "pinned"]
    assert [each.value for each in sidecar.facts.current(ANN)] == ["is", "new", "pinned"]


def test_the_newest_facts_of_an_owner_stay_by_count(journal: Journal) -> None:
    sidecar = Sidecar(journal, Retention(facts=RetentionLimit(max_count=2)))
    many: Sequence[KnownFact] = [client_fact(f"f{number}", number, key=f"k{number}") for number in range(40)]
    put_facts(sidecar.facts, *many)
    put_facts(sidecar.facts, *many[:3], owner=Owner("default", session_id="s1"))
    assert sidecar.expire(0) == ExpiryCounts(facts=39)
    assert _values(sidecar) == ["f38", "f39"]


def test_artifacts_of_a_session_and_documents_of_an_owner_expire(journal: Journal) -> None:
    limit = RetentionLimit(10, max_count=2)
    sidecar = Sidecar(journal, Retention(artifacts=limit, documents=limit))
    owner = Owner("default", session_id="s1")
    sidecar.add("a")
    for number in range(1, 6):
        upsert(journal, new_record(name=f"a{number}", conflict_key=number, time_us=number * SECOND), owner=owner)
        put(journal, "text", name=f"d{number}", create_time_us=number * SECOND)
    assert sidecar.expire(2 * SECOND) == ExpiryCounts(artifacts=3, documents=3)
    assert record_ids(journal, owner) == ["a5", "a4"]
    assert sidecar.expire(15 * SECOND) == ExpiryCounts(artifacts=1, documents=1)
    assert [each.id for each in journal.documents(DocumentQuery(Owner("default")))] == ["d5"]


def test_retention_of_a_session_holds_for_what_it_owns(journal: Journal) -> None:
    sidecar = Sidecar(journal, Retention(facts=RetentionLimit(10)))
    sidecar.add("a")
    sidecar.set(Retention(), KEY)
    for owner in (Owner("default", session_id="s1"), Owner("default", session_id="unknown"), ANN):
        put_facts(sidecar.facts, client_fact("old", 1), owner=owner)
    assert sidecar.expire(20 * SECOND) == ExpiryCounts(facts=2)
    assert _values(sidecar, Owner("default", session_id="s1")) == ["old"]


def test_each_group_is_followed_by_a_pause(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    committed = sidecar.add(*(f"m{number}" for number in range(5 * GROUP_MESSAGES)))
    counts: list[int] = []
    sidecar.expire(at_age(committed, 8 * DAY), lambda: counts.append(known_head(journal).message_count))
    steps = [before - after for before, after in zip([5 * GROUP_MESSAGES, *counts], counts, strict=False)]
    assert max(steps) == GROUP_MESSAGES and counts[-1] == 0


def test_small_sessions_are_erased_together(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    keys = [SessionKey("default", f"small{number}") for number in range(2 * GROUP_SESSIONS)]
    committed = max(sidecar.add("a", key=key) for key in keys)
    left: list[int] = []
    counts = sidecar.expire(
        at_age(committed, 8 * DAY), lambda: left.append(sum(known_head(journal, key).message_count for key in keys))
    )
    assert counts == ExpiryCounts(messages=len(keys)) and sorted(set(left)) == [0, GROUP_SESSIONS]


def test_a_group_of_sessions_has_no_more_messages_than_one_of_a_large_session(journal: Journal) -> None:
    sidecar = Sidecar(journal, WEEK)
    keys = [SessionKey("default", name) for name in "abc"]
    count = GROUP_MESSAGES // 2 + 1
    committed = max(sidecar.add(*(f"m{number}" for number in range(count)), key=key) for key in keys)
    left: list[int] = []
    sidecar.expire(
        at_age(committed, 8 * DAY), lambda: left.append(sum(known_head(journal, key).message_count for key in keys))
    )
    assert sorted(set(left)) == [0, count, 2 * count]


def test_documents_are_erased_together(journal: Journal) -> None:
    sidecar = Sidecar(journal, Retention(documents=RetentionLimit(10)))
    for number in range(GROUP_DOCUMENTS):
        put(journal, "text", name=f"d{number}", create_time_us=1 + number)
    pauses: list[int] = []
    counts = sidecar.expire(20 * SECOND, lambda: pauses.append(len(journal.documents(DocumentQuery(Owner("default"))))))
    assert counts == ExpiryCounts(documents=GROUP_DOCUMENTS) and set(pauses) == {0}
