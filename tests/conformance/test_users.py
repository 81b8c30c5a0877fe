"""Users: those that own a session, a fact or a document, in the order of their ids, page by page."""

from collections.abc import Sequence

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Claim,
    DeleteDocument,
    DeleteRecord,
    EraseUser,
    Journal,
    Owner,
    RecordKind,
    UserActivity,
    UserQuery,
)
from tests.conformance.builders import append, draft, erase, execute, known_head, new_record, put, upsert

HOSTILE_IDS = [" ", "%", "A", "Z", "a", "a b", "a%", "ann", "ann ", "anna", "b", "ä", "\u4e2d", "\U0001f600"]
"In the byte order of UTF-8."


def add_session(journal: Journal, user_id: str, session_id: str = "", namespace: str = "default") -> None:
    append(journal, draft("m"), key=SessionKey(namespace, session_id or f"of {user_id}"), user_id=user_id)


def put_fact(journal: Journal, user_id: str, kind: RecordKind = RecordKind.FACT) -> None:
    upsert(journal, new_record(), owner=Owner("default", user_id), kind=kind)


def ids(users: Sequence[UserActivity]) -> list[str]:
    return [user.user_id for user in users]


def listed(journal: Journal, namespace: str = "default", **query: str | int) -> list[str]:
    return ids(journal.users(UserQuery(namespace, **query)))  # type: ignore[arg-type]


def test_an_unknown_namespace_has_no_users(journal: Journal) -> None:
    add_session(journal, "ann")
    assert list(journal.users(UserQuery("elsewhere"))) == []


def test_a_user_has_the_number_and_the_last_activity_of_its_sessions(journal: Journal) -> None:
    for session_id in ("s1", "s2", "s3"):
        add_session(journal, "ann", session_id)
    add_session(journal, "bob", "s4")
    append(journal, draft("again"), key=SessionKey("default", "s1"))
    newest_us = known_head(journal, SessionKey("default", "s1")).last_active_us
    first, second = journal.users(UserQuery("default"))
    assert first == UserActivity("ann", 3, newest_us)
    assert second[:2] == ("bob", 1)


def test_owners_of_facts_or_documents_are_users_without_sessions(journal: Journal) -> None:
    put_fact(journal, "fact")
    put(journal, "text", owner=Owner("default", "document"))
    add_session(journal, "session")
    put_fact(journal, "session")
    assert [user[:2] for user in journal.users(UserQuery("default"))] == [("document", 0), ("fact", 0), ("session", 1)]
    assert journal.users(UserQuery("default"))[0].last_active_us == 0


def test_neither_patterns_nor_what_sessions_and_the_namespace_own_make_a_user(journal: Journal) -> None:
    put_fact(journal, "", RecordKind.FACT)
    put_fact(journal, "patterns", RecordKind.PATTERNS)
    put(journal, "text")
    add_session(journal, "", "s1")
    put(journal, "text", owner=Owner("default", "", "s1"))
    upsert(journal, new_record(), owner=Owner("default", "", "s1"), kind=RecordKind.FACT)
    assert listed(journal) == []


def test_a_claimed_session_counts_for_its_user(journal: Journal) -> None:
    add_session(journal, "", "s1")
    execute(journal, Claim(SessionKey("default", "s1"), "ann"))
    assert [user[:2] for user in journal.users(UserQuery("default"))] == [("ann", 1)]


def test_users_of_other_namespaces_are_not_listed(journal: Journal) -> None:
    for user_id, namespace in (("ann", "a"), ("bob", "b"), ("cid", "a"), ("dan", "c")):
        add_session(journal, user_id, namespace=namespace)
    assert listed(journal, "a") == ["ann", "cid"]


def test_users_are_in_the_byte_order_of_their_ids(journal: Journal) -> None:
    assert sorted(HOSTILE_IDS, key=str.encode) == HOSTILE_IDS
    for number, user_id in enumerate(reversed(HOSTILE_IDS)):
        (add_session if number % 2 else put_fact)(journal, user_id)
    assert listed(journal) == HOSTILE_IDS


@pytest.mark.parametrize("limit", [1, 3, 14, 100])
def test_pages_follow_each_other(journal: Journal, limit: int) -> None:
    for user_id in HOSTILE_IDS:
        add_session(journal, user_id)
    found: list[str] = []
    while page := listed(journal, limit=limit, after_id=found[-1] if found else ""):
        assert len(page) <= limit
        found += page
    assert found == HOSTILE_IDS


@pytest.mark.parametrize("prefix", ["", "a", "an", "ann", "anna", "A", "%", "ä", "\u4e2d", "zz", "\U0001f600"])
def test_a_prefix_selects_the_ids_that_begin_with_it(journal: Journal, prefix: str) -> None:
    for user_id in HOSTILE_IDS:
        put_fact(journal, user_id)
    expected = [user_id for user_id in HOSTILE_IDS if user_id.startswith(prefix)]
    assert listed(journal, prefix=prefix) == expected
    assert listed(journal, prefix=prefix, limit=2) == expected[:2]
    if expected:
        assert listed(journal, prefix=prefix, after_id=expected[0]) == expected[1:]


def test_a_user_leaves_with_its_last_session_fact_and_document(journal: Journal) -> None:
    owner = Owner("default", "ann")
    add_session(journal, "ann", "s1")
    put_fact(journal, "ann")
    put(journal, "text", owner=owner)
    erase(journal, delete_session=True)
    execute(journal, DeleteRecord(owner, RecordKind.FACT, "n1"))
    assert [user[:2] for user in journal.users(UserQuery("default"))] == [("ann", 0)]
    execute(journal, DeleteDocument(owner, "d1"))
    assert listed(journal) == []


def test_an_erased_user_is_not_listed(journal: Journal) -> None:
    for user_id in ("ann", "bob"):
        add_session(journal, user_id)
        put_fact(journal, user_id)
        put(journal, "text", owner=Owner("default", user_id))
    execute(journal, EraseUser("default", "ann"))
    assert listed(journal) == ["bob"]


def test_a_cleared_session_still_has_its_user(journal: Journal) -> None:
    add_session(journal, "ann", "s1")
    erase(journal)
    assert [user[:2] for user in journal.users(UserQuery("default"))] == [("ann", 1)]
