"""A tool call and its results form an exchange, even with reused ids and after pruning."""

from memsidecar.stores.contract import Journal
from tests.conformance.builders import (
    KEY,
    answer,
    append,
    call,
    contents,
    draft,
    erase,
    known_head,
    read,
    update_window,
)


def exchanges(journal: Journal) -> list[int]:
    return [stored.exchange for stored in read(journal, include_pruned=True)]


def test_a_call_is_an_exchange_and_its_answers_belong_to_it(journal: Journal) -> None:
    append(journal, draft("u"), call("c", "x", "y"))
    append(journal, answer("ax", "x"), draft("v"), answer("ay", "y"))
    assert exchanges(journal) == [0, 2, 2, 0, 2]


def test_a_reused_id_belongs_to_the_nearest_open_call(journal: Journal) -> None:
    append(journal, call("c1", "x"), call("c2", "x"), answer("a2", "x"), answer("a1", "x"))
    assert exchanges(journal) == [1, 2, 2, 1]


def test_a_reused_id_after_its_answer_is_a_call_of_its_own(journal: Journal) -> None:
    for turn in range(3):
        append(journal, call(f"c{turn}", "x"))
        append(journal, answer(f"a{turn}", "x"))
    assert exchanges(journal) == [1, 1, 3, 3, 5, 5]


def test_an_answer_without_a_call_belongs_to_no_exchange(journal: Journal) -> None:
    append(journal, answer("a", "x"), call("c", "x"), answer("b", "x"), answer("late", "x"))
    assert exchanges(journal) == [0, 2, 2, 0]


def test_the_head_has_the_open_calls(journal: Journal) -> None:
    append(journal, call("c", "x", "y"), call("d", "x"))
    assert known_head(journal).open_calls == {"x": (1, 2), "y": (1,)}
    assert append(journal, answer("a", "x")).head.open_calls == {"x": (1,), "y": (1,)}
    append(journal, answer("b", "x"), answer("e", "y"))
    assert known_head(journal).open_calls == {}


def test_a_duplicate_answer_closes_nothing_twice(journal: Journal) -> None:
    append(journal, call("c", "x"), call("d", "x"), answer("a", "x"))
    append(journal, answer("a", "x"))
    assert known_head(journal).open_calls == {"x": (1,)}


def test_a_clear_removes_the_open_calls(journal: Journal) -> None:
    append(journal, call("c", "x"))
    erase(journal)
    append(journal, answer("a", "x"))
    assert exchanges(journal) == [0]


def test_a_late_answer_restores_its_pruned_call(journal: Journal) -> None:
    append(journal, draft("u1"), call("c", "x", "y", tokens=5), answer("ax", "x", tokens=7), draft("u2"))
    update_window(journal, 1, 2, 3)
    head = append(journal, answer("ay", "y", tokens=9)).head
    assert contents(journal) == ["c", "ax", "u2", "ay"]
    assert (head.counts, head.tokens, head.pruned_count) == ([0, 1, 1, 2], [0, 10, 5, 16], 1)
    assert head.window_start <= 2
    assert known_head(journal) == head


def test_two_late_answers_restore_their_call_once(journal: Journal) -> None:
    append(journal, draft("u1"), call("c", "x", "y"), draft("u2"))
    update_window(journal, 1, 2)
    append(journal, answer("ax", "x"), answer("ay", "y"))
    assert contents(journal) == ["c", "u2", "ax", "ay"]
    assert known_head(journal).counts == [0, 1, 1, 2]


def test_an_orphaned_answer_restores_nothing(journal: Journal) -> None:
    append(journal, draft("u1"), answer("orphan", "x"), draft("u2"))
    update_window(journal, 1, 2)
    append(journal, answer("another", "x"))
    assert contents(journal) == ["u2", "another"]


def test_an_exchange_ends_with_its_last_message_in_the_window(journal: Journal) -> None:
    append(journal, call("c", "x", "y"), answer("ax", "x"), draft("u"), answer("ay", "y"), draft("v"))
    assert journal.exchange_end(KEY, 1) == 4
    assert journal.exchange_end(KEY, 3) == 0
    assert journal.exchange_end(KEY, 0) == 0
    update_window(journal, 1, 2, 4)
    assert journal.exchange_end(KEY, 1) == 0
