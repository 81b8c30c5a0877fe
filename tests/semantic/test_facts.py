"""Facts in a journal: owners, the cache, and erasure with a session."""

import threading
from collections.abc import Callable

import pytest

from memsidecar.domain.errors import NotFound, SessionOwnerMismatch
from memsidecar.domain.session import SessionKey
from memsidecar.layers.record_cache import RecordCache
from memsidecar.layers.semantic.fact import PutFact
from memsidecar.layers.semantic.facts import FactQuery, Facts, fact_label
from memsidecar.stores.contract import Append, Erase, Journal, Owner, PendingCommand, RecordKind, RecordQuery
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.conformance.builders import append, draft
from tests.semantic.builders import ANN, INTEREST, PROFILE, client_fact, delete, fact, put, values

BOB = Owner("default", "bob")


def erase(journal: Journal, session_id: str, delete_session: bool) -> None:
    pending = PendingCommand(Erase(SessionKey("default", session_id), "", delete_session))
    journal.submit(pending)
    pending.wait()


def add(journal: Journal, session_id: str, user_id: str = "") -> None:
    pending = PendingCommand(Append(SessionKey("default", session_id), user_id, [draft("hello")]))
    journal.submit(pending)
    pending.wait()


# -- whose


def test_facts_belong_to_the_user_of_the_request_or_of_the_session(journal: Journal, facts: Facts) -> None:
    append(journal, draft("hello"), user_id="ann")
    assert facts.owner("default", "ann", "") == facts.owner("default", "", "s1") == ANN
    assert facts.owner("default", "ann", "s1") == facts.owner("default", "ann", "unknown") == ANN
    assert facts.owner("default", "", "unknown") == Owner("default", session_id="unknown")
    with pytest.raises(SessionOwnerMismatch):
        facts.owner("default", "bob", "s1")


# -- what was put is read from then on


def test_changes_are_visible_at_once(journal: Journal, facts: Facts) -> None:
    add(journal, "s1")
    assert values(facts) == []
    (paris,) = put(facts, fact("Paris", 1))
    assert values(facts) == ["Paris"]
    (rome,) = put(facts, client_fact("Rome", 2))
    assert (values(facts), len(facts.all(ANN, history=True))) == (["Rome"], 2)
    delete(facts, rome.id)
    assert values(facts) == []
    with pytest.raises(NotFound):
        delete(facts, rome.id)
    put(facts, fact("Oslo", 3))
    assert values(facts) == ["Oslo"]
    erase(journal, "s1", delete_session=True)
    assert (values(facts), list(facts.all(ANN, history=True))) == ([], [])
    assert paris.until_us == 0


def test_facts_of_a_session_without_messages_are_erased_with_it(journal: Journal, facts: Facts) -> None:
    owner = Owner("default", session_id="s9")
    put(facts, client_fact("Paris"), owner=owner)
    assert values(facts, owner) == ["Paris"]
    erase(journal, "s9", delete_session=True)
    assert values(facts, owner) == []


def test_a_put_returns_the_final_state_of_the_facts(facts: Facts) -> None:
    stored = put(facts, client_fact("Paris", 1), client_fact("Rome", 2), client_fact("tea", 3, type=INTEREST))
    assert [(one.value, one.until_us) for one in stored] == [("Paris", 2), ("Rome", 0), ("tea", 0)]
    assert put(facts, client_fact("ROME", 9))[0].id == stored[1].id


def test_facts_of_other_owners_are_not_visible(facts: Facts) -> None:
    put(facts, client_fact("Paris"))
    assert values(facts, BOB) == values(facts, Owner("elsewhere", "ann")) == []


def test_a_put_is_read_at_once_during_concurrent_puts(facts: Facts) -> None:
    missing: list[str] = []

    def work(name: str) -> None:
        for number in range(40):
            value = f"{name} {number}"
            put(facts, client_fact(value, number, type=INTEREST, key="likes"))
            if value not in values(facts):
                missing.append(value)

    _together(*[lambda name=name: work(name) for name in ("a", "b", "c")])
    assert missing == [] and len(values(facts)) == 120


def test_the_cache_equals_the_journal_after_concurrent_writes(journal: Journal, facts: Facts) -> None:
    add(journal, "s1")

    def write() -> None:
        for number in range(30):
            put(facts, fact(f"city {number}", number))
            if number % 10 == 9:
                erase(journal, "s1", delete_session=False)

    def read() -> None:
        for _ in range(200):
            facts.current(ANN)

    _together(write, read, write)
    page = RecordQuery(ANN, RecordKind.FACT)
    assert [one.id for one in facts.current(ANN)] == [record.id for record in journal.records(page)]


def _together(*works: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# -- what is at hand


def test_a_read_that_a_commit_overtakes_is_not_cached() -> None:
    at_hand: RecordCache[str] = RecordCache(VolatileJournal(), 10)

    def read_while_it_changes() -> str:
        at_hand.invalidate(BOB)
        return "old"

    assert at_hand.get(ANN, read_while_it_changes) == "old"
    assert at_hand.get(ANN, lambda: "new") == "new"
    assert at_hand.get(ANN, lambda: "unread") == "new"


def test_the_cache_evicts_the_least_recently_used_entries() -> None:
    at_hand: RecordCache[str] = RecordCache(VolatileJournal(), 10, len)
    carl = Owner("default", "carl")
    for owner, value in ((ANN, "aaaa"), (BOB, "bbbb")):
        at_hand.get(owner, lambda value=value: value)  # type: ignore[misc]
    at_hand.get(ANN, lambda: "unread")
    at_hand.get(carl, lambda: "cccc")
    assert [at_hand.get(owner, lambda: "read") for owner in (ANN, carl, BOB)] == ["aaaa", "cccc", "read"]
    assert at_hand.get(BOB, lambda: "x" * 11) == "read"
    assert at_hand.get(Owner("default", "dora"), lambda: "x" * 11) == "x" * 11


# -- what goes with a session


def test_a_cleared_session_keeps_its_facts(journal: Journal, facts: Facts) -> None:
    add(journal, "s1")
    put(facts, fact("Paris"))
    erase(journal, "s1", delete_session=False)
    assert values(facts) == ["Paris"]


def test_a_fact_that_another_session_confirmed_is_not_erased_with_the_first(journal: Journal, facts: Facts) -> None:
    for name in ("s1", "s2"):
        add(journal, name, "ann")
    (known,) = put(facts, fact("Paris", 1))
    put(facts, fact("paris", 5, session_id="s2", erased_with="s2"))
    erase(journal, "s1", delete_session=True)
    (left,) = facts.current(ANN)
    assert (left.id, left.session_id, left.erased_with) == (known.id, "s1", "s2")
    erase(journal, "s2", delete_session=True)
    assert values(facts) == []


def test_facts_of_a_client_are_not_erased_with_a_session(journal: Journal, facts: Facts) -> None:
    add(journal, "s1", "ann")
    put(facts, fact("Paris", 1))
    put(facts, client_fact("Paris", 5), client_fact("tea", 5, type=INTEREST, session_id="s1"))
    erase(journal, "s1", delete_session=True)
    assert values(facts) == ["Paris", "tea"]


# -- pages


def test_pages_are_ordered_by_confidence_last_confirmation_and_id(facts: Facts) -> None:
    sure = {"a": 0.5, "b": 0.9, "c": 0.9, "d": 1.0, "e": 0.9}
    for when, (value, confidence) in enumerate(sure.items()):
        put(facts, client_fact(value, when, type=INTEREST, confidence=confidence))
    equal_facts = [client_fact(f"t{at}", 9, type=INTEREST, confidence=0.1, id=f"id{at}") for at in (2, 1)]
    put(facts, *equal_facts)
    first, place = FactQuery(frozenset(), False, 2).of(facts, ANN)
    delete(facts, first[-1].id)
    put(facts, client_fact("new", 10, type=INTEREST, confidence=0.95))
    second, place = FactQuery(frozenset(), False, 3, place).of(facts, ANN)
    third, last = FactQuery(frozenset(), False, 3, place).of(facts, ANN)
    assert [one.value for one in (*first, *second, *third)] == ["d", "e", "c", "b", "a", "t1", "t2"]
    assert last is None


def test_a_page_has_the_requested_types_and_history(facts: Facts) -> None:
    put(facts, client_fact("Paris", 1), client_fact("Rome", 2), client_fact("tea", 3, type=INTEREST))

    def found(types: set[object], history: bool) -> list[str]:
        page = FactQuery(frozenset(types), history, 10)  # type: ignore[arg-type]
        return [one.value for one in page.of(facts, ANN)[0]]

    assert found(set(), False) == ["tea", "Rome"]
    assert found({PROFILE}, True) == ["Rome", "Paris"]
    assert found({INTEREST}, True) == ["tea"]


def test_a_page_fits_into_a_response(facts: Facts) -> None:
    many = [client_fact(f"{at} " + "x" * 16_000, at, type=INTEREST) for at in range(250)]
    put(facts, *many)
    first, place = FactQuery(frozenset(), False, 1_000).of(facts, ANN)
    assert 100 < len(first) < 200 and place is not None
    rest, last = FactQuery(frozenset(), False, 1_000, place).of(facts, ANN)
    assert len(first) + len(rest) == 250 and last is None


def test_an_undated_put_is_stored_as_the_newest(facts: Facts) -> None:
    put(facts, fact("Paris", 5_000))
    outcome: list[object] = []
    done = threading.Event()

    def on_done(pending: PendingCommand) -> None:
        outcome.append(pending.error)
        done.set()

    facts.submit_put(ANN, [PutFact(client_fact("Rome", 1), undated=True)], on_done)
    assert done.wait(30) and outcome == [None]
    assert values(facts) == ["Rome"]


# -- text


@pytest.mark.parametrize(
    ("key", "value", "label"),
    [
        ("city", "Rome", "city"),
        ("marital_status", "single", "marital status"),
        ("dislikes:olives", "olives", "dislikes"),
        ("uses:postgres", "Postgres 16", "uses"),
        ("skill:rust", "new to Rust", "skill"),
        ("db:replica", "Rome", "db:replica"),
    ],
)
def test_the_label_of_a_fact_repeats_nothing_of_its_value(key: str, value: str, label: str) -> None:
    assert fact_label(fact(value, key=key)) == label
