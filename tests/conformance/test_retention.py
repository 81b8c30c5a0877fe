"""Reads that find what exceeds the limits of a retention."""

from typing import Any

import pytest

from memsidecar.domain.errors import NotFound
from memsidecar.domain.retention import Retention, RetentionLimit
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import DeleteDocument, ExpiryQuery, Journal, Owner, RecordKind, SetPolicy
from tests.conformance.builders import (
    ANN,
    KEY,
    NAMESPACE_OWNER,
    answer,
    append,
    call,
    draft,
    execute,
    forget,
    known_head,
    new_record,
    put,
    update_window,
    upsert,
)

OTHER = SessionKey("other", "s1")


def commit_time(journal: Journal, key: SessionKey = KEY) -> int:
    return known_head(journal, key).last_active_us


def boundary(journal: Journal, **limits: Any) -> int:
    return journal.expiry_boundary(known_head(journal).row_id, ExpiryQuery(**limits))


def expired(journal: Journal, below: int, limit: int = 100) -> list[list[int]]:
    """Return all pages."""
    pages, after = [], 0
    while True:
        page = journal.expired_messages(known_head(journal).row_id, below, after, limit)
        pages.append(list(page.sequences))
        if not page.last:
            return pages
        after = page.last


def test_sessions_are_listed_by_row_id_over_all_namespaces(journal: Journal) -> None:
    keys = [KEY, OTHER, SessionKey("default", "s2")]
    for key in keys:
        append(journal, draft("a"), key=key)
    first = journal.sessions_after(0, 2)
    assert [head.key for head in first] == keys[:2]
    assert [head.key for head in journal.sessions_after(first[-1].row_id, 2)] == keys[2:]
    assert first[0] == known_head(journal)


def test_the_boundary_of_an_age_is_the_first_message_of_that_time_or_later(journal: Journal) -> None:
    times = []
    for number in range(6):
        append(journal, draft(f"m{number}"))
        times.append(commit_time(journal))
    assert boundary(journal, cutoff_us=times[0]) == 1
    assert boundary(journal, cutoff_us=times[3]) == 4
    assert boundary(journal, cutoff_us=times[5] + 1) == 7
    forget(journal, "m0", "m3")
    assert boundary(journal, cutoff_us=times[3]) == 5
    assert expired(journal, boundary(journal, cutoff_us=times[4])) == [[2, 3]]


def test_the_times_that_clients_choose_do_not_matter(journal: Journal) -> None:
    append(journal, draft("a"))
    first = commit_time(journal)
    old, new = draft("b"), draft("c")
    old.time_us, new.time_us = -(10**15), 10**17
    append(journal, old, new)
    assert boundary(journal, cutoff_us=first + 1) == 2


def test_the_boundary_of_a_count_is_the_oldest_message_that_is_kept(journal: Journal) -> None:
    append(journal, *(draft(f"m{number}") for number in range(5)))
    update_window(journal, 1, 2)
    assert [boundary(journal, keep=keep) for keep in (1, 3, 5, 6)] == [5, 3, 1, 0]
    forget(journal, "m3")
    assert boundary(journal, keep=3) == 2
    assert boundary(journal, keep=3, cutoff_us=commit_time(journal) + 1) == 6
    assert boundary(journal) == 0


def test_a_session_without_messages_has_no_boundary(journal: Journal) -> None:
    append(journal, draft("a"))
    forget(journal, "a")
    assert boundary(journal, keep=1, cutoff_us=commit_time(journal)) == 0
    assert journal.expiry_boundary(99, ExpiryQuery(keep=1)) == 0


def test_pages_have_whole_exchanges_and_leave_out_those_that_are_not_all_below_the_boundary(journal: Journal) -> None:
    append(journal, draft("u"), call("c", "x", "y"), answer("ax", "x"), draft("v"), answer("ay", "y"))
    append(journal, call("d", "z"), draft("w"), answer("az", "z"))
    assert expired(journal, 8) == [[1, 2, 3, 4, 5, 7]]
    assert expired(journal, 9) == [[1, 2, 3, 4, 5, 6, 7, 8]]
    assert expired(journal, 5) == [[1, 4]]
    assert expired(journal, 8, limit=2) == [[1, 2, 3, 5], [2, 3, 4, 5], [2, 3, 5, 7], []]


def test_records_beyond_a_time_or_a_number_are_found_oldest_first(journal: Journal) -> None:
    for number, until_us in ((3, 0), (1, 9), (5, 0), (-2, 0), (4, 0)):
        record = new_record(name=f"n{number}", time_us=number, until_us=until_us)
        upsert(journal, record, kind=RecordKind.FACT)
    upsert(journal, new_record(name="other kind", time_us=1))

    def names(**limits: Any) -> list[str]:
        return [each.id for each in journal.expired_records(ANN, RecordKind.FACT, ExpiryQuery(**limits))]

    assert names(cutoff_us=4) == names(cutoff_us=4, keep=3) == ["n-2", "n1", "n3"]
    assert names(keep=3) == names(keep=3, cutoff_us=0) == ["n-2", "n1"]
    assert names(keep=5) == names() == []
    assert names(cutoff_us=4, limit=2) == ["n-2", "n1"]
    assert names(cutoff_us=4, after=(1, "n1")) == ["n3"]


def test_documents_beyond_a_time_or_a_number_are_found_oldest_first(journal: Journal) -> None:
    for number in (3, 1, 2):
        put(journal, "text", name=f"d{number}", create_time_us=number)
    found = journal.expired_documents(NAMESPACE_OWNER, ExpiryQuery(cutoff_us=3))
    assert [(document.id, document.chunks) for document in found] == [("d1", ()), ("d2", ())]
    found = journal.expired_documents(NAMESPACE_OWNER, ExpiryQuery(keep=2))
    assert [document.id for document in found] == ["d1"]


def test_owners_are_listed_each_once_in_order(journal: Journal) -> None:
    owners = [Owner("a"), Owner("a", "ann"), Owner("a", "bob"), Owner("a", "", "s"), Owner("b", "ann")]
    for owner in (*reversed(owners), *owners):
        upsert(journal, new_record(name="x"), owner=owner)
        put(journal, "text", owner=owner)
    for read in (journal.record_owners, journal.document_owners):
        assert list(read(None, 3)) == owners[:3]
        assert list(read(owners[2], 3)) == owners[3:]


def test_a_policy_keeps_its_retention(journal: Journal) -> None:
    append(journal, draft("a"))
    assert not journal.has_retention_policies()
    for retention in (Retention(RetentionLimit(5, 6), documents=RetentionLimit(max_count=7)), Retention()):
        policy = Policy(retention=retention)
        execute(journal, SetPolicy(KEY, "", policy))
        execute(journal, SetPolicy(SessionKey("default", ""), "", policy))
        assert known_head(journal).policy == journal.default_policies()["default"] == policy
        assert journal.has_retention_policies()
    execute(journal, SetPolicy(KEY, "", Policy(auto_prune_tokens=5)))
    assert known_head(journal).policy == Policy(auto_prune_tokens=5)


def test_a_document_that_was_put_again_is_not_deleted_at_its_old_version(journal: Journal) -> None:
    version = put(journal, "text", name="d").document.version
    put(journal, "another text", name="d")
    with pytest.raises(NotFound):
        execute(journal, DeleteDocument(NAMESPACE_OWNER, "d", version))
    assert journal.document(NAMESPACE_OWNER, "d") is not None
