"""Window updates, annotations and erasures."""

import pytest

from memsidecar.domain.errors import NotFound, SessionOwnerMismatch
from memsidecar.domain.message import Flag, Role, StoredMessage
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Append,
    Erased,
    ErasureCounts,
    Journal,
    PendingCommand,
    Revision,
    Scope,
    UpdateWindow,
    UpdateWindowExclusive,
    VersionConflict,
)
from memsidecar.v1 import message_pb2
from tests.conformance.builders import (
    KEY,
    append,
    content,
    contents,
    draft,
    erase,
    execute,
    known_head,
    read,
    scored,
    shortened,
    update_message,
    update_window,
)


def scanned(journal: Journal) -> list[StoredMessage]:
    return [found.message for found in reversed(journal.scan(Scope("default"), None, 100))]


def name_of(stored: StoredMessage) -> str:
    return message_pb2.Message.FromString(stored.body).name


def test_pruned_messages_leave_the_sums_of_the_window(journal: Journal) -> None:
    append(journal, draft("a", tokens=1), draft("b", tokens=2), draft("c", tokens=4))
    head = update_window(journal, 1, 2).head
    assert (head.counts, head.tokens, head.pruned_count) == ([0, 1, 0, 0], [0, 4, 0, 0], 2)
    assert head.window_start <= 3
    assert known_head(journal) == head


def test_an_empty_window_can_be_filled_again(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    update_window(journal, 1, 2)
    assert contents(journal) == []
    append(journal, draft("c"))
    assert contents(journal) == ["c"]


def test_an_update_planned_for_an_earlier_version_changes_nothing(journal: Journal) -> None:
    version = append(journal, draft("a"), draft("b")).head.version
    append(journal, draft("c"))
    with pytest.raises(VersionConflict):
        execute(journal, UpdateWindow(KEY, version, (1,)))
    assert contents(journal) == ["a", "b", "c"]


@pytest.mark.parametrize("change", [lambda journal: update_message(journal, "a", scored(1)), erase])
def test_an_update_conflicts_after_any_change(journal: Journal, change: object) -> None:
    version = append(journal, draft("a"), draft("b")).head.version
    assert callable(change)
    change(journal)
    with pytest.raises(VersionConflict):
        execute(journal, UpdateWindow(KEY, version, (1,)))


def test_an_update_of_an_unknown_session_conflicts(journal: Journal) -> None:
    with pytest.raises(VersionConflict):
        execute(journal, UpdateWindow(KEY, 0, (1,)))


def test_an_update_of_messages_outside_the_window_changes_nothing(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    update_window(journal, 1)
    head = known_head(journal)
    with pytest.raises(NotFound):
        update_window(journal, 2, 1)
    assert (known_head(journal), contents(journal)) == (head, ["b"])


def test_an_exclusive_update_sees_all_commands_submitted_before_it(journal: Journal) -> None:
    append(journal, draft("first"))
    seen: list[int] = []

    def decide() -> UpdateWindow:
        head = known_head(journal)
        seen.append(head.last_sequence)
        return UpdateWindow(KEY, head.version, range(1, head.last_sequence))

    for number in range(40):
        journal.submit(PendingCommand(Append(KEY, "", [draft(f"m{number}")])))
    trimmed = PendingCommand(UpdateWindowExclusive(KEY, decide))
    journal.submit(trimmed)
    append(journal, draft("after"))
    assert trimmed.wait().head.counts == [0, 1, 0, 0]
    assert (seen, contents(journal)) == ([41], ["m39", "after"])


def test_a_shortened_message_is_displayed_short_and_scanned_whole(journal: Journal) -> None:
    append(journal, draft("long text", role=Role.TOOL, tokens=500), draft("u", tokens=3))
    head = update_window(journal, shortened=[shortened(read(journal)[0], "l...t", 20)]).head
    displayed, original = read(journal)[0], scanned(journal)[0]
    assert (content(displayed), displayed.tokens, displayed.flags & Flag.SHORTENED) == ("l...t", 20, Flag.SHORTENED)
    assert (content(original), original.tokens, original.flags & Flag.SHORTENED) == (
        "long text",
        500,
        0,
    )
    assert head.tokens == [0, 3, 0, 20]


def test_a_shortened_message_can_be_shortened_again(journal: Journal) -> None:
    append(journal, draft("long text", tokens=500))
    update_window(journal, shortened=[shortened(read(journal)[0], "long...", 50)])
    update_window(journal, shortened=[shortened(read(journal)[0], "l...", 5)])
    assert (contents(journal), known_head(journal).total_tokens) == (["l..."], 5)
    assert [content(stored) for stored in scanned(journal)] == ["long text"]


def test_one_update_may_shorten_and_remove(journal: Journal) -> None:
    append(journal, draft("a", tokens=100), draft("b", tokens=100), draft("c", tokens=1))
    update_window(journal, 1, shortened=[shortened(stored, "short", 10) for stored in read(journal)[:2]])
    assert contents(journal) == ["short", "c"]
    assert known_head(journal).total_tokens == 11
    assert contents(journal, include_pruned=True) == ["short", "short", "c"]


def test_an_annotation_changes_the_message_and_not_its_sequence(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"))
    rewritten = update_message(journal, "b", scored(9, "mark"))
    assert contents(journal) == ["a", "b", "c"]
    stored = read(journal)[1]
    assert (stored.sequence, stored.score, name_of(stored)) == (2, 9, "mark")
    assert stored.flags == Flag.IMPORTANT
    assert rewritten.message == stored
    assert rewritten.head == known_head(journal)


def test_an_annotation_applies_to_both_versions_of_a_shortened_message(journal: Journal) -> None:
    append(journal, draft("long text", tokens=500))
    update_window(journal, shortened=[shortened(read(journal)[0], "l...t", 20)])
    rewritten = update_message(journal, "long text", scored(9, "mark")).message
    displayed, original = read(journal)[0], scanned(journal)[0]
    assert rewritten == displayed
    assert (content(displayed), name_of(displayed), displayed.tokens) == ("l...t", "mark", 20)
    assert (content(original), name_of(original), original.tokens) == ("long text", "mark", 500)
    assert displayed.flags == Flag.IMPORTANT | Flag.SHORTENED
    assert displayed.score == original.score == 9


def test_a_pruned_message_can_be_annotated_and_stays_pruned(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    update_window(journal, 1)
    update_message(journal, "a", lambda stored: Revision(stored.body, 0, 3))
    assert contents(journal) == ["b"]
    assert read(journal, include_pruned=True)[0].score == 3


def test_each_annotation_sees_the_one_before_it(journal: Journal) -> None:
    append(journal, draft("a"))
    for score in (1, 2, 3):
        update_message(journal, "a", scored(score, f"mark {score}"))
    (stored,) = read(journal)
    assert (stored.score, name_of(stored)) == (3, "mark 3")
    assert scanned(journal) == [stored]


def test_an_unknown_message_cannot_be_annotated(journal: Journal) -> None:
    with pytest.raises(NotFound):
        update_message(journal, "a", scored(1))
    append(journal, draft("a"), user_id="ann")
    with pytest.raises(NotFound):
        update_message(journal, "b", scored(1))
    with pytest.raises(SessionOwnerMismatch):
        update_message(journal, "a", scored(1), user_id="bob")


def test_a_revision_that_fails_changes_nothing(journal: Journal) -> None:
    append(journal, draft("long", tokens=90))
    update_window(journal, shortened=[shortened(read(journal)[0], "l", 2)])
    head = known_head(journal)

    def fails_for_the_short_one(stored: StoredMessage) -> Revision:
        raise ArithmeticError("for the test") if stored.tokens == 2 else NotFound("for the test")

    with pytest.raises((ArithmeticError, NotFound)):
        update_message(journal, "long", fails_for_the_short_one)
    assert known_head(journal) == head
    assert append(journal, draft("next")).results[0].sequence == 2


def test_a_clear_leaves_nothing_but_the_session(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"), user_id="ann")
    update_window(journal, 1)
    erased = erase(journal)
    assert erased.counts.messages == 3
    assert (contents(journal, include_pruned=True), scanned(journal)) == ([], [])
    head = known_head(journal)
    assert erased.head == head
    assert (head.message_count, head.total_tokens, head.pruned_count) == (0, 0, 0)
    assert (head.user_id, head.last_sequence) == ("ann", 3)


def test_a_delete_leaves_nothing(journal: Journal) -> None:
    append(journal, draft("a"))
    assert erase(journal, delete_session=True) == Erased(None, ErasureCounts(messages=1, sessions=1))
    assert (journal.head(KEY), contents(journal), scanned(journal)) == (None, [], [])


def test_erasing_one_session_leaves_the_others(journal: Journal) -> None:
    other = SessionKey("default", "s2")
    for number in range(300):
        append(journal, draft(f"m{number}"), key=other if number % 2 else KEY)
    erase(journal)
    assert contents(journal, other) == [f"m{number}" for number in range(1, 300, 2)]


def test_clearing_an_unknown_session_removes_nothing(journal: Journal) -> None:
    assert erase(journal) == Erased(None, ErasureCounts())


def test_deleting_an_unknown_session_is_refused(journal: Journal) -> None:
    with pytest.raises(NotFound):
        erase(journal, delete_session=True)


@pytest.mark.parametrize("delete_session", [True, False])
def test_another_user_cannot_erase(journal: Journal, delete_session: bool) -> None:
    append(journal, draft("a"), user_id="ann")
    with pytest.raises(SessionOwnerMismatch):
        erase(journal, delete_session=delete_session, user_id="bob")
    assert contents(journal) == ["a"]
