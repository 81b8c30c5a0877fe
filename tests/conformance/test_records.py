"""Records: upserts are atomic and serialized; owners and kinds are separate."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from memsidecar.domain.errors import NotFound
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    AdvanceWatermark,
    DeleteRecord,
    Journal,
    Owner,
    PendingCommand,
    Progress,
    Record,
    RecordChanges,
    RecordKind,
    RecordQuery,
    RecordsUpserted,
    UpsertRecords,
)
from tests.conformance.builders import (
    ANN,
    NAMESPACE_OWNER,
    Replica,
    append,
    draft,
    erase,
    execute,
    follow,
    new_record,
    record_ids,
    upsert,
    upsert_command,
)

SESSION = Owner("default", "", "s1")
ARTIFACT = RecordKind.ARTIFACT


def seen_by_an_upsert(journal: Journal, *slots: int, owner: Owner = ANN) -> list[Record]:
    seen: list[Record] = []

    def look(found: Sequence[Record]) -> RecordChanges:
        seen.extend(found)
        return RecordChanges()

    execute(journal, UpsertRecords(owner, ARTIFACT, slots, look))
    return seen


@pytest.mark.parametrize("body", [b"", b"\0\xff not utf-8", b"x" * 1_000_000])
def test_a_record_is_read_as_it_was_upserted(journal: Journal, body: bytes) -> None:
    given = Record("n é", -(1 << 63), "s1", 77, body, 99)
    assert upsert(journal, given) == RecordsUpserted((given,))
    assert journal.record(ANN, ARTIFACT, given.id) == given
    assert list(journal.records(RecordQuery(ANN, ARTIFACT, history=True))) == [given]
    assert seen_by_an_upsert(journal, -(1 << 63)) == [given]
    assert upsert(journal, replace(given, time_us=78)).records[0] == journal.record(ANN, ARTIFACT, given.id)


def test_owners_and_kinds_do_not_see_each_others_records(journal: Journal) -> None:
    owners = [NAMESPACE_OWNER, ANN, SESSION, Owner("elsewhere", "ann")]
    for owner in owners:
        for kind in RecordKind:
            upsert(journal, new_record(f"{owner} {kind}"), owner=owner, kind=kind)
    for owner in owners:
        for kind in RecordKind:
            assert record_ids(journal, owner, kind) == ["n1"]
            found = journal.record(owner, kind, "n1")
            assert found is not None and found.body == f"{owner} {kind}".encode()
    execute(journal, DeleteRecord(ANN, ARTIFACT, "n1"))
    assert [journal.record(owner, ARTIFACT, "n1") is None for owner in owners] == [False, True, False, False]
    assert journal.record(ANN, RecordKind.SUMMARY, "n1") is not None
    assert journal.record(ANN, ARTIFACT, "unknown") is None


def test_an_upsert_gets_the_records_with_its_conflict_keys_oldest_first(journal: Journal) -> None:
    top, bottom = (1 << 63) - 1, -(1 << 63)
    given = [
        new_record("a", name="c", conflict_key=top, time_us=5, until_us=6),
        new_record("b", name="b", conflict_key=bottom, time_us=5),
        new_record("c", name="a", conflict_key=top, time_us=9),
        new_record("d", name="d", conflict_key=top, time_us=1, until_us=5),
        new_record("e", name="e", conflict_key=3),
    ]
    upsert(journal, *given)
    upsert(journal, new_record(name="other", conflict_key=top), owner=NAMESPACE_OWNER)
    assert [record.id for record in seen_by_an_upsert(journal, top, bottom, top, 8)] == ["d", "b", "c", "a"]
    assert seen_by_an_upsert(journal, 3) == [given[-1]]
    assert seen_by_an_upsert(journal) == seen_by_an_upsert(journal, 3, owner=SESSION) == []


def test_an_upsert_changes_the_records_that_it_names(journal: Journal) -> None:
    upsert(
        journal,
        new_record("old", name="a", conflict_key=1),
        new_record(name="b", conflict_key=2),
        new_record(name="c", conflict_key=3),
    )

    def supersede(found: Sequence[Record]) -> RecordChanges:
        new = [replace(record, until_us=7) for record in found]
        return RecordChanges(
            [
                *new,
                new_record("new", name="d", conflict_key=1, time_us=7),
                new_record("moved", name="c", conflict_key=4),
            ],
            ["b"],
        )

    kept = execute(journal, UpsertRecords(ANN, ARTIFACT, [1], supersede)).records
    assert [record.id for record in kept] == ["a", "d", "c"]
    assert record_ids(journal, history=True) == ["c", "a", "d"]
    assert record_ids(journal) == ["c", "d"]
    assert seen_by_an_upsert(journal, 2, 3) == []
    assert [record.body for record in seen_by_an_upsert(journal, 1, 4)] == [b"new", b"old", b"moved"]


def test_deleting_absent_records_does_nothing_and_upserted_ones_are_not_deleted(journal: Journal) -> None:
    upsert(journal, new_record("one"))
    upsert(journal, new_record("two"), deleted=["n1", "unknown", "unknown"])
    assert journal.record(ANN, ARTIFACT, "n1") == new_record("two")


def test_the_last_of_two_records_with_the_same_id_is_stored(journal: Journal) -> None:
    assert upsert(journal, new_record("one"), new_record("two")) == RecordsUpserted((new_record("two"),))
    assert journal.record(ANN, ARTIFACT, "n1") == new_record("two")


def test_an_exception_of_an_upsert_rejects_only_that_upsert(journal: Journal) -> None:
    def fails(found: Sequence[Record]) -> RecordChanges:
        raise ArithmeticError(f"for the test, {len(found)}")

    upsert(journal, new_record("kept"))
    commands = [
        UpsertRecords(ANN, ARTIFACT, [1], fails, progress=Progress("facts", 9)),
        upsert_command(new_record(name="n2")),
    ]
    submitted = [PendingCommand(command) for command in commands]
    for pending in submitted:
        journal.submit(pending)
    with pytest.raises(ArithmeticError, match="1"):
        submitted[0].wait()
    submitted[1].wait()
    assert record_ids(journal) == ["n2", "n1"]
    assert journal.watermark("facts", "default") == 0


def test_records_are_listed_newest_first_page_by_page(journal: Journal) -> None:
    times = {"b": 5, "é": 5, "a": 5, "old": 1, "new": 9, "past": 7}
    for name, time_us in times.items():
        upsert(journal, new_record(name=name, time_us=time_us, until_us=8 * (name == "past")))
    for history, expected in ((False, ["new", "é", "b", "a", "old"]), (True, ["new", "past", "é", "b", "a", "old"])):
        listed: list[Record] = []
        while page := journal.records(
            RecordQuery(ANN, ARTIFACT, 2, (listed[-1].time_us, listed[-1].id) if listed else None, history)
        ):
            assert len(page) <= 2
            listed += page
        assert [record.id for record in listed] == expected
    assert record_ids(journal, NAMESPACE_OWNER) == []


def test_a_record_with_a_newer_time_moves_to_the_front(journal: Journal) -> None:
    upsert(journal, new_record(name="a", time_us=1), new_record(name="b", time_us=2))
    upsert(journal, new_record(name="a", time_us=3))
    assert record_ids(journal) == ["a", "b"]


def test_a_deleted_record_is_absent_and_returned(journal: Journal) -> None:
    upsert(journal, new_record("one", source="s9"), new_record(name="n2"))
    assert execute(journal, DeleteRecord(ANN, ARTIFACT, "n1")) == new_record("one", source="s9")
    assert record_ids(journal) == ["n2"]
    assert seen_by_an_upsert(journal, 1) == [new_record(name="n2")]
    for owner, kind in ((ANN, ARTIFACT), (NAMESPACE_OWNER, ARTIFACT), (ANN, RecordKind.FACT)):
        with pytest.raises(NotFound):
            execute(journal, DeleteRecord(owner, kind, "n1"))
    upsert(journal, new_record("again"))
    assert journal.record(ANN, ARTIFACT, "n1") == new_record("again")


def test_records_write_no_log_entries_and_no_commit_events(journal: Journal) -> None:
    append(journal, draft("m"))
    replica, entries, before = Replica(journal), follow(journal), journal.log_end("default")
    upsert(journal, new_record("one"), progress=Progress("facts", 1))
    upsert(journal, new_record("two"))
    upsert(journal, owner=SESSION)
    execute(journal, DeleteRecord(ANN, ARTIFACT, "n1"))
    assert (journal.log_end("default"), follow(journal), replica.changes) == (before, entries, [])
    assert journal.last_lsns() == {"default": before}


def test_progress_is_committed_with_the_records_and_never_moves_back(journal: Journal) -> None:
    append(journal, draft("m"))
    upsert(journal, new_record(), progress=Progress("facts", 7))
    assert (journal.watermark("facts", "default"), journal.watermark("other", "default")) == (7, 0)
    upsert(journal, progress=Progress("facts", 9))
    upsert(journal, new_record("two"), progress=Progress("facts", 3))
    assert journal.watermark("facts", "default") == 9
    execute(journal, AdvanceWatermark("facts", "default", 12))
    with pytest.raises(NotFound):
        upsert(journal, new_record("three"), derived_from=999, progress=Progress("facts", 20))
    assert (journal.watermark("facts", "default"), journal.watermark("facts", "elsewhere")) == (12, 0)
    assert journal.record(ANN, ARTIFACT, "n1") == new_record("two")


@pytest.mark.parametrize("delete_session", [True, False])
def test_records_derived_from_an_erased_session_are_rejected(journal: Journal, delete_session: bool) -> None:
    key = SessionKey("default", "s1")
    number = append(journal, draft("m"), key=key).head.row_id
    upsert(journal, new_record("one", source="s1"), derived_from=number)
    erase(journal, delete_session=delete_session)
    append(journal, draft("m"), key=key)
    with pytest.raises(NotFound):
        upsert(journal, new_record("two", source="s1"), derived_from=number)
    assert record_ids(journal, history=True) == []


def test_commands_on_records_take_effect_in_the_order_of_submission(journal: Journal) -> None:
    """Each of many concurrent commands sees the one before it."""

    def count(found: Sequence[Record]) -> RecordChanges:
        so_far = int(found[0].body) if found else 0
        return RecordChanges([new_record(f"{so_far + 1}")])

    for owner in (ANN, SESSION):
        submitted = [PendingCommand(UpsertRecords(owner, ARTIFACT, [1], count)) for _ in range(60)]
        for pending in submitted:
            journal.submit(pending)
        assert [int(pending.wait().records[0].body) for pending in submitted] == list(range(1, 61))


def test_readers_never_see_a_partial_upsert(journal: Journal) -> None:
    """Both records always have the same value, and one of them is current."""
    over = threading.Event()

    def write(number: int) -> None:
        pair = [new_record(f"{number}", name=name, time_us=number, until_us=number * (name == "a")) for name in "ab"]
        upsert(journal, *pair)

    def look() -> int:
        looks = 0
        while not over.is_set():
            first, second = journal.records(RecordQuery(ANN, ARTIFACT, history=True))
            assert first.body == second.body == b"%d" % first.time_us
            assert (first.current, second.current) == (True, False)
            looks += 1
        return looks

    write(1)
    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        for number in range(2, 40):
            write(number)
        over.set()
        assert all(future.result() for future in looking)
