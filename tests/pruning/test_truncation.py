"""Truncation removes the middle of a long text, and marks the cut."""

import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.domain.pruning import truncate_middle

MARK = re.compile(r"\n\[\.\.\. (\d+) tokens cut by memsidecar \.\.\.\]\n")


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


def words(text: str) -> int:
    return len(text.split())


counters = st.sampled_from([len, quarter, words, lambda text: len(text.encode())])


def parts(shortened: str | None) -> tuple[str, int, str]:
    assert shortened is not None
    head, cut, tail = MARK.split(shortened)
    return head, int(cut), tail


def test_head_and_tail_stay_and_the_cut_is_counted() -> None:
    text = " ".join(f"word{at}" for at in range(1_000))
    head, cut, tail = parts(truncate_middle(text, 20, words))
    assert head.startswith("word0 ") and tail.endswith(" word999")
    assert cut == 1_000 - words(head) - words(tail)
    assert 10 <= words(head) + words(tail) <= 20


def test_the_cut_falls_between_lines_where_there_are_any() -> None:
    text = "\n".join(f"line {at} of the log" for at in range(500))
    head, _, tail = parts(truncate_middle(text, 100, quarter))
    assert set(head.split("\n")) | set(tail.split("\n")) <= set(text.split("\n"))


def test_the_cut_falls_between_words_where_there_are_no_lines() -> None:
    text = " ".join(f"word{at}" for at in range(1_000))
    head, _, tail = parts(truncate_middle(text, 100, quarter))
    assert set(head.split()) | set(tail.split()) <= set(text.split())


def test_a_cut_that_falls_on_a_word_end_anyway_loses_nothing() -> None:
    # Eight characters for each of the four tokens: both cuts fall right beside a space.
    text = f"{'a' * 26} bbbbb {'c' * 200} ddddd {'e' * 26}"
    head, _, tail = parts(truncate_middle(text, 8, lambda piece: len(piece) // 8))
    assert (head, tail) == (f"{'a' * 26} bbbbb", f"ddddd {'e' * 26}")


def test_a_text_without_any_break_is_cut_all_the_same() -> None:
    head, cut, tail = parts(truncate_middle("x" * 4_000, 100, quarter))
    assert set(head) == set(tail) == {"x"}
    assert quarter(head) + quarter(tail) + cut == 1_000


def test_a_text_within_the_limit_is_unchanged() -> None:
    assert truncate_middle("a b c", 3, words) is None
    assert truncate_middle("", 0, words) is None
    assert truncate_middle("uncommonly-long-words-that-look-like-many-tokens " * 100, 100, words) is None


def test_a_text_that_the_mark_would_make_longer_is_unchanged() -> None:
    assert truncate_middle("a b c d e", 4, words) is None


def test_nothing_but_the_mark_is_left_where_nothing_may_be_kept() -> None:
    assert parts(truncate_middle("x " * 1_000, 0, words)) == ("", 1_000, "")


def test_dense_text_at_the_head_does_not_break_the_limit() -> None:
    text = "🙂" * 2_000 + "a" * 100_000
    head, _, tail = parts(truncate_middle(text, 50, lambda piece: len(piece.encode()) // 2))
    assert len(head.encode()) // 2 <= 25 and len(tail.encode()) // 2 <= 25


def test_a_long_text_is_counted_whole_once_and_otherwise_in_small_slices() -> None:
    counted: list[int] = []

    def counting(text: str) -> int:
        counted.append(len(text))
        return quarter(text)

    assert truncate_middle("some words " * 100_000, 500, counting) is not None
    assert counted[0] == 1_100_000
    assert sum(counted[1:]) < 500 * 8 * 20


def test_text_that_is_dense_at_its_ends_is_truncated_in_few_steps() -> None:
    counted: list[int] = []

    def dense_in_x(text: str) -> int:
        counted.append(len(text))
        return text.count("x") + len(text) // 1_000

    assert truncate_middle("x" * 501 + "-" * 1_000_000 + "x" * 501, 1_000, dense_in_x) is not None
    assert len(counted) < 100


@given(st.text(max_size=400), st.integers(0, 60), counters)
def test_the_result_is_shorter_and_consists_of_head_and_tail(
    text: str, keep_tokens: int, count: Callable[[str], int]
) -> None:
    shortened = truncate_middle(text * 5, keep_tokens, count)
    if shortened is None:
        return
    assert count(shortened) < count(text * 5)
    head, _, tail = parts(shortened)
    assert (text * 5).startswith(head) and (text * 5).endswith(tail)
    assert count(head) + count(tail) <= keep_tokens
    assert len(head) + len(tail) < len(text * 5)
    shortened.encode()
