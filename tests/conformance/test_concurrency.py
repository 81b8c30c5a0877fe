"""Concurrent callers, and closing."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from memsidecar.domain.errors import IdConflict, SequenceMismatch, ShuttingDown
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Append,
    Calibrate,
    Calibration,
    Journal,
    MessageQuery,
    PendingCommand,
    UpdateMessage,
    UpdateWindow,
    VersionConflict,
)
from tests.conformance.builders import KEY, Replica, append, contents, draft, execute, known_head, read, scored

THREADS = 16


def at_once(work: Callable[[int], None]) -> None:
    """Run the work on all threads, started together; raise the first failure."""
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        start.wait()
        work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, range(THREADS)))


def test_one_session_written_by_many_has_every_message_once_without_a_gap(journal: Journal) -> None:
    given: list[int] = []

    def write(writer: int) -> None:
        for number in range(25):
            given.append(append(journal, draft(f"{writer}/{number}")).results[0].sequence)

    at_once(write)
    assert sorted(given) == list(range(1, THREADS * 25 + 1))
    assert [stored.sequence for stored in read(journal)] == sorted(given)
    for writer in range(THREADS):
        own = [text for text in contents(journal) if text.startswith(f"{writer}/")]
        assert own == [f"{writer}/{number}" for number in range(25)]


def test_the_same_message_from_many_is_stored_once(journal: Journal) -> None:
    new: list[bool] = []

    def write(_: int) -> None:
        new.extend(not append(journal, draft(f"m{number}")).results[0].duplicate for number in range(10))

    at_once(write)
    assert sum(new) == 10
    assert contents(journal) == [f"m{number}" for number in range(10)]


def test_of_many_with_the_same_expected_sequence_one_wins(journal: Journal) -> None:
    lost: list[int] = []

    def write(writer: int) -> None:
        try:
            append(journal, draft(f"m{writer}"), expected=0)
        except SequenceMismatch:
            lost.append(writer)

    at_once(write)
    assert (len(contents(journal)), len(lost)) == (1, THREADS - 1)


def test_a_completed_write_is_read(journal: Journal) -> None:
    def write(writer: int) -> None:
        key = SessionKey("default", f"s{writer % 4}")
        for number in range(15):
            sequence = append(journal, draft(f"{writer}/{number}"), key=key).results[0].sequence
            assert contents(journal, key, after=sequence - 1, limit=1) == [f"{writer}/{number}"]
            assert known_head(journal, key).last_sequence >= sequence

    at_once(write)


def test_heads_and_events_match_the_messages_after_concurrent_commands(journal: Journal) -> None:
    replica = Replica(journal)
    keys = [SessionKey("default", f"s{number}") for number in range(3)]

    def write(writer: int) -> None:
        key = keys[writer % 3]
        for number in range(12):
            append(journal, draft(f"{writer}/{number}"), key=key)
            if number % 4 == 3:
                prune_oldest(journal, key)
                execute(journal, UpdateMessage(key, "", f"{writer}/{number}", scored(number)))

    at_once(write)
    for key in keys:
        window = read(journal, key)
        assert known_head(journal, key).counts == [0, len(window), 0, 0]
        assert replica.heads[key] == known_head(journal, key)
        assert sorted(replica.window(journal, key)) == window


def prune_oldest(journal: Journal, key: SessionKey) -> None:
    while True:
        page = journal.messages(key, MessageQuery(limit=1))
        assert page.head is not None
        try:
            execute(journal, UpdateWindow(key, page.head.version, [page.messages[0].sequence]))
        except VersionConflict:
            continue
        return


def test_concurrent_calibrations_all_count(journal: Journal) -> None:
    def report(_: int) -> None:
        for _ in range(10):
            execute(journal, Calibrate("n", "m", lambda now: Calibration(now.factor, now.reports + 1)))

    at_once(report)
    assert journal.calibration("n", "m").reports == THREADS * 10


def test_commands_of_one_session_take_effect_in_the_order_of_submission(journal: Journal) -> None:
    commands = [PendingCommand(Append(KEY, "", [draft(f"m{number}")])) for number in range(200)]
    for pending in commands:
        journal.submit(pending)
    assert [pending.wait().results[0].sequence for pending in commands] == list(range(1, 201))


def test_a_rejected_command_affects_no_other(journal: Journal) -> None:
    append(journal, draft("known"))
    drafts = [draft(f"m{number}") if number % 3 else draft("other", message_id="known") for number in range(60)]
    commands = [PendingCommand(Append(KEY, "", [sent])) for sent in drafts]
    for pending in commands:
        journal.submit(pending)
    refused = 0
    for pending in commands:
        try:
            pending.wait()
        except IdConflict:
            refused += 1
    assert refused == 20
    assert contents(journal) == ["known", *(f"m{number}" for number in range(60) if number % 3)]


def test_closing_completes_submitted_commands(journal: Journal) -> None:
    commands = [PendingCommand(Append(KEY, "", [draft(f"m{number}")])) for number in range(100)]
    for pending in commands:
        journal.submit(pending)
    journal.close()
    assert [pending.wait().results[0].sequence for pending in commands] == list(range(1, 101))


def test_a_closed_journal_rejects_commands_and_can_be_closed_again(journal: Journal) -> None:
    append(journal, draft("a"))
    journal.close()
    journal.close()
    with pytest.raises(ShuttingDown):
        append(journal, draft("b"))
    with pytest.raises(ShuttingDown):
        journal.head(KEY)
