"""Notes: revised while nothing moves, all or nothing, kept apart by owner and kind."""

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
    EVERYBODY,
    Replica,
    append,
    carry_out,
    draft,
    erase,
    follow,
    keep,
    note,
    notes,
    revising,
)

SESSION = Owner("default", "", "s1")
ARTIFACT = RecordKind.ARTIFACT


def seen_by_a_revision(journal: Journal, *slots: int, owner: Owner = ANN) -> list[Record]:
    seen: list[Record] = []

    def look(found: Sequence[Record]) -> RecordChanges:
        seen.extend(found)
        return RecordChanges()

    carry_out(journal, UpsertRecords(owner, ARTIFACT, slots, look))
    return seen


@pytest.mark.parametrize("body", [b"", b"\0\xff not utf-8", b"x" * 1_000_000])
def test_a_note_is_read_as_it_was_kept(journal: Journal, body: bytes) -> None:
    given = Record("n\0 é", -(1 << 63), "s1", 77, body, 99)
    assert keep(journal, given) == RecordsUpserted((given,))
    assert journal.record(ANN, ARTIFACT, given.id) == given
    assert list(journal.records(RecordQuery(ANN, ARTIFACT, history=True))) == [given]
    assert seen_by_a_revision(journal, -(1 << 63)) == [given]
    assert keep(journal, replace(given, time_us=78)).records[0] == journal.record(ANN, ARTIFACT, given.id)


def test_owners_and_kinds_do_not_see_each_others_notes(journal: Journal) -> None:
    owners = [EVERYBODY, ANN, SESSION, Owner("elsewhere", "ann")]
    for owner in owners:
        for kind in RecordKind:
            keep(journal, note(f"{owner} {kind}"), owner=owner, kind=kind)
    for owner in owners:
        for kind in RecordKind:
            assert notes(journal, owner, kind) == ["n1"]
            found = journal.record(owner, kind, "n1")
            assert found is not None and found.body == f"{owner} {kind}".encode()
    carry_out(journal, DeleteRecord(ANN, ARTIFACT, "n1"))
    assert [journal.record(owner, ARTIFACT, "n1") is None for owner in owners] == [False, True, False, False]
    assert journal.record(ANN, RecordKind.SUMMARY, "n1") is not None
    assert journal.record(ANN, ARTIFACT, "unknown") is None


def test_a_revision_is_given_what_is_in_its_slots_oldest_first(journal: Journal) -> None:
    top, bottom = (1 << 63) - 1, -(1 << 63)
    given = [
        note("a", name="c", slot=top, time_us=5, until_us=6),
        note("b", name="b", slot=bottom, time_us=5),
        note("c", name="a", slot=top, time_us=9),
        note("d", name="d", slot=top, time_us=1, until_us=5),
        note("e", name="e", slot=3),
    ]
    keep(journal, *given)
    keep(journal, note(name="other", slot=top), owner=EVERYBODY)
    assert [one.id for one in seen_by_a_revision(journal, top, bottom, top, 8)] == ["d", "b", "c", "a"]
    assert seen_by_a_revision(journal, 3) == [given[-1]]
    assert seen_by_a_revision(journal) == seen_by_a_revision(journal, 3, owner=SESSION) == []


def test_a_revision_changes_what_it_was_given_and_what_it_names(journal: Journal) -> None:
    keep(journal, note("old", name="a", slot=1), note(name="b", slot=2), note(name="c", slot=3))

    def supersede(found: Sequence[Record]) -> RecordChanges:
        new = [replace(one, until_us=7) for one in found]
        return RecordChanges([*new, note("new", name="d", slot=1, time_us=7), note("moved", name="c", slot=4)], ["b"])

    kept = carry_out(journal, UpsertRecords(ANN, ARTIFACT, [1], supersede)).records
    assert [one.id for one in kept] == ["a", "d", "c"]
    assert notes(journal, history=True) == ["c", "a", "d"]
    assert notes(journal) == ["c", "d"]
    assert seen_by_a_revision(journal, 2, 3) == []
    assert [one.body for one in seen_by_a_revision(journal, 1, 4)] == [b"new", b"old", b"moved"]


def test_dropping_what_is_not_there_does_nothing_and_what_is_kept_is_not_dropped(journal: Journal) -> None:
    keep(journal, note("one"))
    keep(journal, note("two"), dropped=["n1", "unknown", "unknown"])
    assert journal.record(ANN, ARTIFACT, "n1") == note("two")


def test_the_last_of_two_notes_with_one_id_is_kept(journal: Journal) -> None:
    assert keep(journal, note("one"), note("two")) == RecordsUpserted((note("two"),))
    assert journal.record(ANN, ARTIFACT, "n1") == note("two")


def test_what_a_revision_raises_refuses_it_and_nothing_else(journal: Journal) -> None:
    def fails(found: Sequence[Record]) -> RecordChanges:
        raise ArithmeticError(f"for the test, {len(found)}")

    keep(journal, note("kept"))
    commands = [UpsertRecords(ANN, ARTIFACT, [1], fails, progress=Progress("facts", 9)), revising(note(name="n2"))]
    tickets = [PendingCommand(command) for command in commands]
    for ticket in tickets:
        journal.submit(ticket)
    with pytest.raises(ArithmeticError, match="1"):
        tickets[0].wait()
    tickets[1].wait()
    assert notes(journal) == ["n2", "n1"]
    assert journal.watermark("facts", "default") == 0


def test_notes_are_listed_newest_first_page_by_page(journal: Journal) -> None:
    times = {"b": 5, "é": 5, "a": 5, "old": 1, "new": 9, "past": 7}
    for name, time_us in times.items():
        keep(journal, note(name=name, time_us=time_us, until_us=8 * (name == "past")))
    for history, expected in ((False, ["new", "é", "b", "a", "old"]), (True, ["new", "past", "é", "b", "a", "old"])):
        listed: list[Record] = []
        while page := journal.records(
            RecordQuery(ANN, ARTIFACT, 2, (listed[-1].time_us, listed[-1].id) if listed else None, history)
        ):
            assert len(page) <= 2
            listed += page
        assert [one.id for one in listed] == expected
    assert notes(journal, EVERYBODY) == []


def test_a_note_seen_again_moves_to_the_front(journal: Journal) -> None:
    keep(journal, note(name="a", time_us=1), note(name="b", time_us=2))
    keep(journal, note(name="a", time_us=3))
    assert notes(journal) == ["a", "b"]


def test_a_dropped_note_is_gone_and_answered(journal: Journal) -> None:
    keep(journal, note("one", source="s9"), note(name="n2"))
    assert carry_out(journal, DeleteRecord(ANN, ARTIFACT, "n1")) == note("one", source="s9")
    assert notes(journal) == ["n2"]
    assert seen_by_a_revision(journal, 1) == [note(name="n2")]
    for owner, kind in ((ANN, ARTIFACT), (EVERYBODY, ARTIFACT), (ANN, RecordKind.FACT)):
        with pytest.raises(NotFound):
            carry_out(journal, DeleteRecord(owner, kind, "n1"))
    keep(journal, note("again"))
    assert journal.record(ANN, ARTIFACT, "n1") == note("again")


def test_notes_write_no_entries_and_tell_no_changes(journal: Journal) -> None:
    append(journal, draft("m"))
    replica, told, before = Replica(journal), follow(journal), journal.stats().last_lsn
    keep(journal, note("one"), progress=Progress("facts", 1))
    keep(journal, note("two"))
    keep(journal, owner=SESSION)
    carry_out(journal, DeleteRecord(ANN, ARTIFACT, "n1"))
    assert (journal.stats().last_lsn, follow(journal), replica.changes) == (before, told, [])
    assert journal.last_lsns() == {"default": before}


def test_progress_is_kept_together_with_the_notes_and_never_moves_back(journal: Journal) -> None:
    append(journal, draft("m"))
    keep(journal, note(), progress=Progress("facts", 7))
    assert (journal.watermark("facts", "default"), journal.watermark("other", "default")) == (7, 0)
    keep(journal, progress=Progress("facts", 9))
    keep(journal, note("two"), progress=Progress("facts", 3))
    assert journal.watermark("facts", "default") == 9
    carry_out(journal, AdvanceWatermark("facts", "default", 12))
    with pytest.raises(NotFound):
        keep(journal, note("three"), derived_from=999, progress=Progress("facts", 20))
    assert (journal.watermark("facts", "default"), journal.watermark("facts", "elsewhere")) == (12, 0)
    assert journal.record(ANN, ARTIFACT, "n1") == note("two")


@pytest.mark.parametrize("delete_session", [True, False])
def test_what_was_made_of_an_erased_session_is_refused(journal: Journal, delete_session: bool) -> None:
    key = SessionKey("default", "s1")
    number = append(journal, draft("m"), key=key).head.row_id
    keep(journal, note("one", source="s1"), derived_from=number)
    erase(journal, delete_session=delete_session)
    append(journal, draft("m"), key=key)
    with pytest.raises(NotFound):
        keep(journal, note("two", source="s1"), derived_from=number)
    assert notes(journal, history=True) == []


def test_commands_on_notes_take_effect_in_the_order_of_submission(journal: Journal) -> None:
    """Of many submitted at once each sees the one before it."""

    def count(found: Sequence[Record]) -> RecordChanges:
        so_far = int(found[0].body) if found else 0
        return RecordChanges([note(f"{so_far + 1}")])

    for owner in (ANN, SESSION):
        tickets = [PendingCommand(UpsertRecords(owner, ARTIFACT, [1], count)) for _ in range(60)]
        for ticket in tickets:
            journal.submit(ticket)
        assert [int(ticket.wait().records[0].body) for ticket in tickets] == list(range(1, 61))


def test_a_revision_is_never_half_visible(journal: Journal) -> None:
    """Both notes always say the same, and one of them is current."""
    over = threading.Event()

    def write(number: int) -> None:
        pair = [note(f"{number}", name=name, time_us=number, until_us=number * (name == "a")) for name in "ab"]
        keep(journal, *pair)

    def look() -> int:
        looks = 0
        while not over.is_set():
            first, second = journal.records(RecordQuery(ANN, ARTIFACT, history=True))
            assert first.body == second.body == b"%d" % first.time_us
            assert (first.current, second.current) == (True, False)
            looks += 1
        return looks

    write(1)
    with ThreadPoolExecutor(3) as pool:
        looking = [pool.submit(look) for _ in range(3)]
        for number in range(2, 40):
            write(number)
        over.set()
        assert all(one.result() for one in looking)
