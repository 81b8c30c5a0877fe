"""The change feed: all entries in order, with the current state of their messages."""

import threading

import pytest

from memsidecar.domain.message import Flag
from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    AdvanceWatermark,
    Claim,
    EndOfLog,
    Journal,
    LogEntry,
    LogFilter,
    MessageWritten,
    NoOp,
    Owner,
    RowsErased,
    Scope,
    SessionClaimed,
    SetPolicy,
    UpdateMessage,
)
from tests.conformance.builders import (
    KEY,
    append,
    content,
    draft,
    erase,
    execute,
    follow,
    known_head,
    put,
    read,
    scored,
    shortened,
    update_message,
    update_window,
)
from tests.conformance.test_concurrency import THREADS, at_once

OTHER = SessionKey("default", "s2")
ELSEWHERE = SessionKey("elsewhere", "s1")


def texts(journal: Journal, namespace: str = "default") -> list[str]:
    return [content(entry.message) for entry in follow(journal, namespace) if isinstance(entry, MessageWritten)]


def test_messages_are_in_the_order_of_the_log_each_in_its_namespace(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), user_id="ann")
    append(journal, draft("x"), key=ELSEWHERE)
    append(journal, draft("c"), key=OTHER)
    assert (texts(journal), texts(journal, "elsewhere"), texts(journal, "nowhere")) == (["a", "b", "c"], ["x"], [])
    entries = follow(journal)
    assert [entry.lsn for entry in entries] == sorted({entry.lsn for entry in entries})


def test_an_entry_of_a_message_has_all_its_attributes(journal: Journal) -> None:
    append(journal, draft("a", vector=b"\1\2\3\4"), draft("b"), user_id="ann")
    head = known_head(journal)
    first, second = follow(journal)
    assert isinstance(first, MessageWritten) and isinstance(second, MessageWritten)
    assert first == (first.lsn, first.lsn, head.row_id, KEY, "ann", read(journal)[0], b"\1\2\3\4")
    assert second.vector is None
    assert second.lsn == head.version


def test_messages_above_a_size_are_left_out(journal: Journal) -> None:
    append(journal, draft("small"), draft("large" * 100), draft("last"))
    update_message(journal, "large" * 100, scored(3))
    sizes = [len(entry.message.body) for entry in follow(journal) if isinstance(entry, MessageWritten)]
    small, large = max(sizes[0], sizes[2]), sizes[3]
    assert small < sizes[1] <= large, "the annotation adds the score"

    def written(max_bytes: int) -> list[str]:
        entries = journal.read_changes("default", 0, 100, max_message_bytes=max_bytes)
        assert [entry.lsn for entry in entries] == [entry.lsn for entry in follow(journal)]
        return [content(entry.message)[:5] for entry in entries if isinstance(entry, MessageWritten)]

    assert written(small) == ["small", "last"]
    assert written(large - 1) == ["small", "last"]
    assert written(large) == ["small", "large", "last", "large"]


def filtered(journal: Journal, log_filter: LogFilter, limit: int = 100) -> list[LogEntry]:
    entries: list[LogEntry] = []
    while batch := journal.read_changes("default", entries[-1].lsn if entries else 0, limit, log_filter):
        assert len(batch) <= limit
        entries += batch
    return entries


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_a_filter_selects_messages_by_user_or_session(journal: Journal, limit: int) -> None:
    append(journal, draft("ann's"), user_id="ann")
    append(journal, draft("anonymous"), key=OTHER)
    append(journal, draft("x"), key=ELSEWHERE, user_id="ann")
    update_message(journal, "ann's", scored(3))
    put(journal, "a document")
    append(journal, draft("bert's"), key=SessionKey("default", "s3"), user_id="bert")
    update_window(journal, 1)
    everything, last = follow(journal), EndOfLog(journal.log_end("default"))
    number = known_head(journal, OTHER).row_id

    def entries(log_filter: LogFilter) -> list[str]:
        *included, end = filtered(journal, log_filter, limit)
        assert end == last and all(entry in everything for entry in included)
        return [
            content(entry.message) if isinstance(entry, MessageWritten) else type(entry).__name__ for entry in included
        ]

    assert entries(LogFilter("ann")) == ["ann's", "ann's"]
    assert entries(LogFilter("bert")) == ["bert's"]
    assert entries(LogFilter(session=number)) == ["anonymous"]
    assert entries(LogFilter()) == ["DocumentWritten"]


def test_a_claim_passes_filters_of_its_session_or_its_user(journal: Journal) -> None:
    append(journal, draft("a"))
    append(journal, draft("b"), user_id="ann")
    number = known_head(journal).row_id

    def is_included(log_filter: LogFilter) -> bool:
        return any(isinstance(entry, SessionClaimed) for entry in filtered(journal, log_filter))

    assert is_included(LogFilter("ann")) and is_included(LogFilter(session=number))
    assert not is_included(LogFilter("bert")) and not is_included(LogFilter())


def test_an_erasure_passes_every_filter(journal: Journal) -> None:
    append(journal, draft("a"), user_id="ann")
    erase(journal)
    for log_filter in (LogFilter("bert"), LogFilter(session=7), LogFilter()):
        assert any(isinstance(entry, RowsErased) for entry in filtered(journal, log_filter))


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_consecutive_batches_make_the_whole_log(journal: Journal, limit: int) -> None:
    for number in range(12):
        append(journal, draft(f"m{number}"), key=[KEY, OTHER, ELSEWHERE][number % 3])
    assert follow(journal, limit=limit) == follow(journal, limit=1_000)
    assert len(follow(journal, limit=limit)) == 8


def test_a_batch_starts_after_the_given_entry(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"))
    entries = follow(journal)
    assert follow(journal, after_lsn=entries[0].lsn) == entries[1:]
    assert follow(journal, after_lsn=entries[-1].lsn) == []


def test_an_annotated_message_has_two_entries_with_its_current_state(journal: Journal) -> None:
    append(journal, draft("a", vector=b"mine"), draft("b"))
    update_message(journal, "a", scored(3, "once"))
    update_message(journal, "a", scored(9, "twice"))
    entries = [entry for entry in follow(journal) if isinstance(entry, MessageWritten)]
    first = entries[0].lsn
    assert [entry.first_lsn for entry in entries] == [first, entries[1].lsn, first, first]
    assert [entry.message for entry in entries if entry.first_lsn == first] == [read(journal)[0]] * 3
    assert {entry.vector for entry in entries if entry.first_lsn == first} == {b"mine"}
    assert [entry.message.score for entry in entries] == [9, None, 9, 9]


def test_window_updates_have_no_entries_and_messages_are_untruncated(journal: Journal) -> None:
    append(journal, draft("long text", tokens=500), draft("b"), draft("c"))
    entries = follow(journal)
    update_window(journal, 2, shortened=[shortened(read(journal)[0], "l...", 5)])
    after = follow(journal)
    assert {type(entry) for entry in after[3:]} == {NoOp} and len(after) > 3
    messages = [entry.message for entry in after if isinstance(entry, MessageWritten)]
    assert [content(message) for message in messages] == ["long text", "b", "c"]
    assert [(message.tokens, message.flags) for message in messages] == [(500, 0), (10, Flag.PRUNED), (10, 0)]
    assert follow(journal, after_lsn=entries[-1].lsn) == after[3:]


@pytest.mark.parametrize("delete_session", [True, False])
def test_an_erasure_has_the_row_id_of_the_erased_session(journal: Journal, delete_session: bool) -> None:
    append(journal, draft("kept"), key=OTHER)
    append(journal, draft("a"))
    update_message(journal, "a", scored(1))
    before = follow(journal)
    number = known_head(journal).row_id
    erase(journal, delete_session=delete_session)
    (gone,) = follow(journal, after_lsn=before[-1].lsn)
    assert gone == RowsErased(gone.lsn, number)
    append(journal, draft("b"))
    assert known_head(journal).row_id != number
    assert texts(journal) == ["kept", "b"]


def test_a_claim_comes_before_the_messages_of_the_same_append(journal: Journal) -> None:
    append(journal, draft("a"))
    append(journal, draft("b"), draft("c"), user_id="ann")
    append(journal, draft("d"), user_id="ann")
    entries = follow(journal)
    assert entries[1] == SessionClaimed(entries[1].lsn, known_head(journal).row_id, KEY, "ann")
    assert [type(entry) for entry in entries] == [
        MessageWritten,
        SessionClaimed,
        MessageWritten,
        MessageWritten,
        MessageWritten,
    ]
    assert {entry.user_id for entry in entries if isinstance(entry, MessageWritten)} == {"ann"}
    assert entries[-1].lsn == known_head(journal).version


def test_an_append_of_known_messages_may_claim(journal: Journal) -> None:
    append(journal, draft("a"))
    head = append(journal, draft("a"), user_id="ann").head
    assert follow(journal)[1:] == [SessionClaimed(head.version, head.row_id, KEY, "ann")]
    assert known_head(journal) == head


def test_every_command_that_sets_the_owner_writes_a_claim(journal: Journal) -> None:
    keys = [KEY, OTHER]
    for key in keys:
        append(journal, draft("a"), draft("b"), key=key)
    append(journal, draft("a"), key=ELSEWHERE)
    execute(journal, UpdateMessage(KEY, "ann", "a", scored(1)))
    execute(journal, SetPolicy(OTHER, "bob", Policy(5)))
    claims = [entry for entry in follow(journal) if isinstance(entry, SessionClaimed)]
    assert [(claim.key, claim.user_id) for claim in claims] == [(KEY, "ann"), (OTHER, "bob")]
    assert [type(entry) for entry in follow(journal)][4:] == [SessionClaimed, MessageWritten, SessionClaimed]
    assert known_head(journal, OTHER).version == claims[1].lsn


def test_pruned_messages_can_be_claimed(journal: Journal) -> None:
    append(journal, draft("a"))
    update_window(journal, 1)
    append(journal, draft("b"), user_id="ann")
    assert [type(entry) for entry in follow(journal)] == [MessageWritten, NoOp, SessionClaimed, MessageWritten]


def test_a_session_without_messages_can_be_claimed(journal: Journal) -> None:
    """It may have facts, which then belong to its user."""
    execute(journal, Claim(OTHER, ""))
    append(journal, draft("first"), key=OTHER, user_id="bob")
    assert [type(entry) for entry in follow(journal)] == [SessionClaimed, MessageWritten]


def test_new_and_erased_sessions_write_no_claim(journal: Journal) -> None:
    append(journal, draft("new"), user_id="ann")
    execute(journal, Claim(OTHER, "bob"))
    append(journal, draft("gone"), key=ELSEWHERE)
    erase(journal, key=ELSEWHERE, user_id="cid")
    assert [type(entry) for entry in follow(journal)] == [MessageWritten]
    assert [type(entry) for entry in follow(journal, "elsewhere")] == [RowsErased]
    assert known_head(journal, ELSEWHERE).user_id == "cid"


def test_last_lsns_are_the_last_entries_of_each_namespace(journal: Journal) -> None:
    assert journal.last_lsns() == {}
    append(journal, draft("a"))
    append(journal, draft("x"), key=ELSEWHERE)
    put(journal, "only a document", owner=Owner("library"))
    execute(journal, SetPolicy(SessionKey("policies only", "s"), "", Policy(5)))
    execute(journal, AdvanceWatermark("index", "watermarks only", 7))
    tails = journal.last_lsns()
    assert tails == {name: follow(journal, name)[-1].lsn for name in ("default", "elsewhere", "library")}
    update_window(journal, 1)
    erase(journal, delete_session=True, key=ELSEWHERE)
    assert journal.last_lsns() == {name: follow(journal, name)[-1].lsn for name in ("default", "elsewhere", "library")}
    assert journal.last_lsns()["elsewhere"] == journal.log_end("elsewhere")


def test_a_session_is_read_by_its_row_id_with_pruned_and_untruncated_messages(journal: Journal) -> None:
    append(journal, draft("a", vector=b"mine"), draft("long", tokens=90), draft("c"), user_id="ann")
    update_window(journal, 1, shortened=[shortened(read(journal)[1], "l", 2)])
    update_message(journal, "a", scored(4, "mark"))
    number = known_head(journal).row_id
    entries = journal.read_session(number, 0, 100)
    assert [content(entry.message) for entry in entries] == ["a", "long", "c"]
    assert [(entry.lsn, entry.session, entry.user_id) for entry in entries] == [
        (entry.first_lsn, number, "ann") for entry in entries
    ]
    assert (entries[0].vector, entries[0].message.score) == (b"mine", 4)
    assert [list(journal.read_session(number, after, 1)) for after in range(4)] == [
        [entries[0]],
        [entries[1]],
        [entries[2]],
        [],
    ]
    erase(journal)
    assert list(journal.read_session(number, 0, 100)) == []
    assert list(journal.read_session(99, 0, 100)) == []


def test_messages_are_found_by_their_first_lsn(journal: Journal) -> None:
    append(journal, draft("long", tokens=90), draft("b"), user_id="ann")
    append(journal, draft("x"), key=ELSEWHERE)
    first = [entry.lsn for entry in follow(journal)]
    update_message(journal, "b", scored(7, "mark"))
    update_window(journal, 2, shortened=[shortened(read(journal)[0], "l", 2)])
    everything = range(-1, journal.log_end("default") + 2)
    found = journal.get_by_lsn("default", list(everything))
    assert found == {located.lsn: located for located in journal.scan(Scope("default"), None, 100)}
    assert [content(found[lsn].message) for lsn in first] == ["long", "b"]
    assert (found[first[0]].message.tokens, found[first[1]].message.score) == (90, 7)
    assert (found[first[0]].session, found[first[0]].user_id) == (known_head(journal).row_id, "ann")
    assert journal.get_by_lsn("default", []) == {}
    (elsewhere,) = [entry.lsn for entry in follow(journal, "elsewhere")]
    assert content(journal.get_by_lsn("elsewhere", [elsewhere])[elsewhere].message) == "x"


@pytest.mark.parametrize("delete_session", [True, False])
def test_erased_messages_are_not_found(journal: Journal, delete_session: bool) -> None:
    append(journal, draft("a"), draft("b"))
    append(journal, draft("kept"), key=OTHER)
    update_message(journal, "a", scored(1))
    lsns = [entry.lsn for entry in follow(journal)]
    erase(journal, delete_session=delete_session)
    append(journal, draft("a"))
    assert [content(message.message) for message in journal.get_by_lsn("default", lsns).values()] == ["kept"]


def test_a_thousand_messages_are_found_at_once(journal: Journal) -> None:
    for start in range(0, 1_000, 100):
        append(journal, *(draft(f"m{number}") for number in range(start, start + 100)))
    found = journal.get_by_lsn("default", list(range(1, 1_001)))
    assert [found[lsn].message.sequence for lsn in range(1, 1_001)] == list(range(1, 1_001))


def test_a_reader_of_the_feed_misses_nothing_during_concurrent_writes(journal: Journal) -> None:
    over = threading.Event()
    entries: list[MessageWritten] = []

    def read_on() -> None:
        while True:
            last = over.is_set()
            batch = journal.read_changes("default", entries[-1].lsn if entries else 0, 5)
            entries.extend(entry for entry in batch if isinstance(entry, MessageWritten))
            if last and not batch:
                return

    follower = threading.Thread(target=read_on)
    follower.start()

    def write(writer: int) -> None:
        for number in range(15):
            key = SessionKey("default" if number % 3 else "elsewhere", f"s{writer % 5}")
            append(journal, draft(f"{writer}/{number}"), key=key)

    at_once(write)
    over.set()
    follower.join()
    assert [entry.lsn for entry in entries] == sorted({entry.lsn for entry in entries})
    assert len(entries) == THREADS * 10
    for writer in range(THREADS):
        own = [content(entry.message) for entry in entries if content(entry.message).startswith(f"{writer}/")]
        assert own == [f"{writer}/{number}" for number in range(15) if number % 3]


def test_a_completed_write_is_in_the_feed(journal: Journal) -> None:
    def write(writer: int) -> None:
        for number in range(10):
            head = append(journal, draft(f"{writer}/{number}"), key=SessionKey("default", f"s{writer}")).head
            (entries,) = journal.read_changes("default", head.version - 1, 1)
            assert entries.lsn == head.version
            assert journal.last_lsns()["default"] >= head.version
            assert head.version in journal.get_by_lsn("default", [head.version])

    at_once(write)


# -- sequences at an lsn


def sequences(journal: Journal, *lsns: int, key: SessionKey = KEY) -> list[int]:
    head = known_head(journal, key)
    return list(journal.sequences_at([(head, lsn) for lsn in lsns]))


def lsns_of(journal: Journal, key: SessionKey = KEY) -> list[int]:
    return [
        entry.lsn for entry in follow(journal, key.namespace) if isinstance(entry, MessageWritten) and entry.key == key
    ]


def test_the_sequence_at_an_lsn_covers_all_earlier_messages(journal: Journal) -> None:
    for number in range(20):
        append(journal, draft(f"m{number}"), key=OTHER if number % 3 else KEY)
    mine = lsns_of(journal)
    assert sequences(journal, *mine) == list(range(1, 8))
    assert sequences(journal, *(lsn - 1 for lsn in mine)) == list(range(7))
    assert sequences(journal, 0, journal.log_end("default")) == [0, 7]


def test_sequences_of_several_sessions_are_returned_together(journal: Journal) -> None:
    for key in (KEY, OTHER, KEY, OTHER, KEY):
        append(journal, draft(f"m{journal.log_end('default')}"), key=key)
    heads = [known_head(journal, key) for key in (KEY, OTHER)]
    lsn = lsns_of(journal)[1]
    assert list(journal.sequences_at([(head, lsn) for head in heads])) == [2, 1]
    assert list(journal.sequences_at([])) == []


def test_later_prunes_and_annotations_do_not_change_the_sequence_at_an_lsn(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"))
    mine = lsns_of(journal)
    update_message(journal, "a", scored(5))
    update_window(journal, 1, 2)
    assert sequences(journal, *mine) == [1, 2, 3]


def test_cleared_messages_count_as_logged(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    erase(journal)
    assert sequences(journal, 0, journal.log_end("default")) == [2, 2]
    append(journal, draft("c"), draft("d"))
    third, fourth = lsns_of(journal)
    assert sequences(journal, 0, third - 1, third, fourth) == [2, 2, 3, 4]
