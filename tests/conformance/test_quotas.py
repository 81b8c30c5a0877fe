"""Quotas: what counts, what is rejected, and what is always allowed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from memsidecar.domain.errors import IdConflict, QuotaExceeded, SequenceMismatch
from memsidecar.domain.quota import Quota, Usage
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    DeleteDocument,
    DeleteRecord,
    Journal,
    Owner,
    Progress,
    RecordKind,
    SetPolicy,
    UpdateWindow,
    UpdateWindowExclusive,
)
from tests.conformance.builders import (
    ANN,
    KEY,
    NAMESPACE_OWNER,
    answer,
    append,
    call,
    contents,
    draft,
    erase,
    execute,
    known_head,
    new_record,
    put,
    read,
    record_ids,
    recount,
    scored,
    shortened,
    update_message,
    update_window,
    upsert,
)

OTHER = SessionKey("default", "s2")
Quotas = dict[str, Quota]


def refused(work: Callable[[], object], what: str, limit: int) -> None:
    """Check that the work is rejected for this quota, without content of the caller in the message."""
    with pytest.raises(QuotaExceeded) as refusal:
        work()
    assert (refusal.value.resource, refusal.value.limit) == (what, limit)
    expected = f"the namespace may keep {limit} {what}, and this would be more; nothing was changed"
    assert str(refusal.value) == expected


def test_an_empty_namespace_has_no_usage(journal: Journal) -> None:
    assert journal.usage("default") == Usage() == Usage(0, 0, 0)


def test_bodies_and_vectors_count_in_their_own_namespace(journal: Journal) -> None:
    append(journal, draft("a", vector=b"12345678"), draft("b"))
    append(journal, draft("c"), key=SessionKey("elsewhere", "s1"))
    sizes = [len(stored.body) for stored in read(journal)]
    assert journal.usage("default") == Usage(1, 2, sum(sizes) + 8) == recount(journal)
    assert journal.usage("elsewhere")[:2] == (1, 1)


def test_a_duplicate_counts_once(journal: Journal) -> None:
    append(journal, draft("a"))
    before = journal.usage("default")
    append(journal, draft("a"), draft("a"))
    assert journal.usage("default") == before


def test_pruned_messages_count_and_shortened_ones_count_as_written(journal: Journal) -> None:
    append(journal, draft("a" * 100), draft("b"))
    before = journal.usage("default")
    update_window(journal, 2, shortened=[shortened(read(journal)[0], "a", 1)])
    assert journal.usage("default") == before == recount(journal)


def test_an_annotation_counts(journal: Journal) -> None:
    append(journal, draft("a" * 50))
    update_window(journal, shortened=[shortened(read(journal)[0], "a", 1)])
    before = journal.usage("default").bytes
    update_message(journal, "a" * 50, scored(7, "mark"))
    update_message(journal, "a" * 50, scored(8, "mark"))
    assert journal.usage("default").bytes == before + 2 * len("..mark")
    assert journal.usage("default") == recount(journal)


def test_documents_and_records_count_with_all_their_content(journal: Journal) -> None:
    put(journal, "text", "more", title="title", metadata=b"meta")
    assert journal.usage("default").bytes > len("textmoretitlemeta")
    assert journal.usage("default") == recount(journal)
    put(journal, "text", "more", title="t", metadata=b"meta")
    put(journal, "other", name="d2", owner=ANN)
    put(journal, "another", name="d2", owner=ANN)
    upsert(journal, new_record("body"), new_record("", name="n2"))
    upsert(journal, new_record("longer body"), new_record("made", name="n3"), deleted=["n2"])
    assert journal.usage("default") == recount(journal)
    execute(journal, DeleteDocument(NAMESPACE_OWNER, "d1"))
    execute(journal, DeleteDocument(ANN, "d2"))
    assert journal.usage("default").bytes == len("longer bodymade")
    execute(journal, DeleteRecord(ANN, RecordKind.ARTIFACT, "n1"))
    assert journal.usage("default").bytes == len("made")


@pytest.mark.parametrize("delete_session", [False, True], ids=["cleared", "deleted"])
def test_erased_content_does_not_count(journal: Journal, delete_session: bool) -> None:
    mine = Owner("default", session_id="s1")
    append(journal, draft("a"), draft("b"))
    update_window(journal, 1)
    put(journal, "text", owner=mine)
    upsert(journal, new_record("made of it", source="s1"), new_record("kept", name="n2"))
    upsert(journal, new_record("its own"), owner=mine)
    erase(journal, delete_session=delete_session)
    assert journal.usage("default") == recount(journal, owners=[ANN, mine])
    assert journal.usage("default")[:2] == (int(not delete_session), 0)
    assert delete_session == (journal.usage("default").bytes == len("kept"))


def test_messages_are_accepted_up_to_the_limit(journal: Journal, quotas: Quotas) -> None:
    quotas["default"] = Quota(messages=2)
    append(journal, draft("a"), draft("b"))
    head = known_head(journal)
    refused(lambda: append(journal, draft("c")), "messages", 2)
    assert known_head(journal) == head
    assert contents(journal) == ["a", "b"]
    append(journal, draft("free"), draft("of"), draft("limits"), key=SessionKey("elsewhere", "s1"))


def test_a_batch_is_accepted_as_a_whole_or_rejected(journal: Journal, quotas: Quotas) -> None:
    quotas["default"] = Quota(messages=2)
    refused(lambda: append(journal, draft("a"), draft("b"), draft("c")), "messages", 2)
    assert journal.head(KEY) is None
    assert journal.usage("default") == Usage()


def test_a_session_beyond_the_limit_is_rejected_for_every_command(journal: Journal, quotas: Quotas) -> None:
    quotas["default"] = Quota(sessions=1)
    append(journal, draft("a"))
    refused(lambda: append(journal, draft("b"), key=OTHER), "sessions", 1)
    refused(lambda: execute(journal, SetPolicy(OTHER, "", Policy())), "sessions", 1)
    execute(journal, SetPolicy(KEY, "", Policy()))
    execute(journal, SetPolicy(SessionKey("default", ""), "", Policy()))
    append(journal, draft("c"))
    erase(journal, delete_session=True)
    append(journal, draft("b"), key=OTHER)


def test_bytes_beyond_the_limit_are_rejected_for_every_command(journal: Journal, quotas: Quotas) -> None:
    append(journal, draft("a"))
    put(journal, "text")
    upsert(journal, new_record("body"))
    limit = journal.usage("default").bytes
    quotas["default"] = Quota(bytes=limit)
    for work in (
        lambda: append(journal, draft("b")),
        lambda: update_message(journal, "a", scored(3, "mark")),
        lambda: put(journal, "text", name="d2"),
        lambda: put(journal, "longer"),
        lambda: put(journal, "text", title="titled"),
        lambda: upsert(journal, new_record("longer")),
        lambda: upsert(journal, new_record("fact"), kind=RecordKind.FACT),
        lambda: upsert(journal, new_record("more", name="n2"), derived_from=known_head(journal).row_id),
    ):
        refused(work, "bytes", limit)
    assert journal.usage("default") == recount(journal) == Usage(1, 1, limit)


def test_a_replacement_of_the_same_size_is_accepted(journal: Journal, quotas: Quotas) -> None:
    put(journal, "text")
    upsert(journal, new_record("body"))
    quotas["default"] = Quota(bytes=journal.usage("default").bytes)
    put(journal, "next")
    upsert(journal, new_record("ydob"))
    upsert(journal, new_record("more", name="n2"), deleted=["n1"])
    assert journal.usage("default") == recount(journal)


def test_duplicates_are_never_rejected(journal: Journal, quotas: Quotas) -> None:
    append(journal, draft("a"))
    put(journal, "text")
    upsert(journal, new_record("body"))
    quotas["default"] = Quota(1, 1, 1)
    assert append(journal, draft("a")).results[0].duplicate
    assert put(journal, "text").unchanged
    upsert(journal, new_record("body"))
    upsert(journal, new_record("body", time_us=2_000))
    refused(lambda: append(journal, draft("a"), draft("b")), "messages", 1)


def test_other_errors_take_precedence(journal: Journal, quotas: Quotas) -> None:
    append(journal, draft("a"))
    quotas["default"] = Quota(messages=1)
    with pytest.raises(IdConflict):
        append(journal, draft("other", message_id="a"))
    with pytest.raises(SequenceMismatch):
        append(journal, draft("b"), expected=7)


def test_erasing_and_pruning_work_above_a_quota_that_was_lowered(journal: Journal, quotas: Quotas) -> None:
    append(journal, draft("a" * 50), draft("b"), draft("c"))
    append(journal, draft("d"), key=OTHER)
    put(journal, "text")
    upsert(journal, new_record("body"), new_record("body", name="n2"))
    quotas["default"] = Quota(1, 1, 1)
    update_window(journal, 2, shortened=[shortened(read(journal)[0], "a", 1)])
    execute(journal, UpdateWindowExclusive(KEY, lambda: UpdateWindow(KEY, known_head(journal).version, [3])))
    upsert(journal, new_record("b"), deleted=["n2"])
    execute(journal, DeleteRecord(ANN, RecordKind.ARTIFACT, "n1"))
    put(journal, "t")
    execute(journal, DeleteDocument(NAMESPACE_OWNER, "d1"))
    erase(journal)
    erase(journal, key=OTHER, delete_session=True)
    assert journal.usage("default") == Usage(1, 0, 0)


def test_a_rejected_answer_does_not_restore_its_call(journal: Journal, quotas: Quotas) -> None:
    append(journal, draft("u1"), call("c", "x"), draft("u2"))
    update_window(journal, 1, 2)
    quotas["default"] = Quota(messages=3)
    refused(lambda: append(journal, answer("ax", "x")), "messages", 3)
    assert contents(journal) == ["u2"]


def test_derived_records_count_and_are_not_rejected(journal: Journal, quotas: Quotas) -> None:
    append(journal, draft("a"))
    number = known_head(journal).row_id
    quotas["default"] = Quota(bytes=1)
    before = journal.usage("default").bytes
    upsert(journal, new_record("summary"), kind=RecordKind.SUMMARY, derived_from=number)
    upsert(journal, new_record("habits"), kind=RecordKind.PATTERNS)
    upsert(journal, new_record("learned"), kind=RecordKind.FACT, derived_from=number, progress=Progress("facts", 1))
    assert record_ids(journal, kind=RecordKind.FACT) == ["n1"]
    assert journal.usage("default").bytes == before + len("summaryhabitslearned")


def test_concurrent_writes_never_exceed_the_limit(journal: Journal, quotas: Quotas) -> None:
    quotas["default"] = Quota(sessions=5, messages=60)

    def add(number: int) -> bool:
        try:
            append(journal, draft(f"a{number}"), draft(f"b{number}"), key=SessionKey("default", f"s{number % 8}"))
        except QuotaExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        taken = sum(threads.map(add, range(160)))
    usage = journal.usage("default")
    assert (usage.sessions, usage.messages, taken) == (5, 60, 30)
    assert usage == recount(journal)
