"""Boundaries of chunks in realistic texts."""

from itertools import pairwise

from memsidecar.layers.documents.chunker import Chunker, ChunkSpan
from memsidecar.tokens.registry import CounterRegistry

COUNTER = CounterRegistry("o200k_base").default
DEFAULT = Chunker(COUNTER, 300, 50)
SMALL = Chunker(COUNTER, 60, 15)
APART = Chunker(COUNTER, 60, 0)

SENTENCE = "The quick brown fox number {} jumps over the lazy dog."
CODE = "def compute(first, second):\n    total = first + second\n\n    return total"


def sentences(count: int) -> list[str]:
    return [SENTENCE.format(number) for number in range(count)]


def chunks(text: str, chunking: Chunker = SMALL) -> list[ChunkSpan]:
    return list(chunking(text))


def test_a_short_text_is_one_chunk_without_the_white_space_around_it() -> None:
    (chunk,) = chunks(" \n\nHello, world. \n\n", DEFAULT)
    assert chunk.text == "Hello, world."
    assert (chunk.start, chunk.end) == (3, 16)


def test_a_chunk_that_begins_with_a_line_keeps_its_indent() -> None:
    (chunk,) = chunks("\n\n  - one\n  - two\n", DEFAULT)
    assert chunk.text == "  - one\n  - two"


def test_a_chunk_ends_at_a_paragraph_where_there_is_one() -> None:
    paragraphs = [" ".join(sentences(3)) for _ in range(6)]
    assert [chunk.text for chunk in chunks("\n\n".join(paragraphs), APART)] == paragraphs


def test_a_chunk_ends_at_a_line_where_there_is_no_paragraph() -> None:
    lines = sentences(12)
    for chunk in chunks("\n".join(lines), APART):
        assert set(chunk.text.split("\n")) <= set(lines)


def test_a_chunk_ends_at_a_sentence_where_there_is_no_line() -> None:
    for chunk in chunks(" ".join(sentences(30))):
        assert chunk.text.startswith("The quick") and chunk.text.endswith("lazy dog.")


def test_an_abbreviation_before_a_small_letter_ends_no_sentence() -> None:
    text = "Many animals, e.g. foxes, i.e. quick ones, are brown vs. grey. " * 20
    for chunk in chunks(text, APART):
        assert chunk.text.startswith("Many") and chunk.text.endswith("grey.")


def test_a_chunk_ends_at_a_word_where_there_is_no_sentence() -> None:
    words = [f"word{number}" for number in range(200)]
    for chunk in chunks(" ".join(words)):
        assert set(chunk.text.split(" ")) <= set(words)


def test_chinese_ends_at_a_sentence_and_no_chunk_begins_with_its_full_stop() -> None:
    text = "我们今天去公园玩。人工智能很有意思！你同意吗？" * 30
    for chunk in chunks(text):
        assert chunk.text[-1] in "。！？" and chunk.text[0] not in "。！？"


def test_the_overlap_is_whole_sentences() -> None:
    found = chunks(" ".join(sentences(30)))
    for before, after in pairwise(found):
        assert after.start < before.end
        shared = before.text[after.start - before.start :]
        assert shared.startswith("The quick") and shared.endswith("lazy dog.")


def test_the_overlap_is_as_many_whole_sentences_as_fit() -> None:
    text = " ".join(sentences(60))
    for before, after in pairwise(chunks(text, DEFAULT)):
        shared = text[after.start : before.end]
        longer = text[text.rfind("The quick", 0, after.start) : before.end]
        assert COUNTER.count(shared) <= 50 < COUNTER.count(longer)


def test_the_overlap_is_words_where_a_sentence_is_too_long_for_it() -> None:
    words = [f"word{number}" for number in range(200)]
    text = " ".join(words)
    for before, after in pairwise(chunks(text)):
        shared = text[after.start : before.end]
        assert shared and set(shared.split(" ")) <= set(words)


def test_a_word_that_is_too_long_for_a_chunk_is_cut_and_still_overlaps() -> None:
    text = "abcdefghij" * 300
    found = chunks(text)
    assert len(found) > 5
    assert all(after.start < before.end for before, after in pairwise(found))


def test_code_that_fits_is_in_one_chunk_whatever_stands_before_it() -> None:
    block = f"```python\n{CODE}\n```"
    for count in range(8):
        text = "\n\n".join([*sentences(count), block, *sentences(3)])
        assert any(block in chunk.text for chunk in chunks(text)), count


def test_indented_code_that_fits_is_in_one_chunk_with_its_indent() -> None:
    block = "\n".join(f"    {line}" if line else "" for line in CODE.split("\n"))
    for count in range(8):
        text = "\n\n".join([*sentences(count), block, *sentences(3)])
        assert any(block in chunk.text for chunk in chunks(text)), count


def test_code_that_does_not_fit_is_cut_at_lines_and_keeps_its_indent() -> None:
    lines = [f"    total_{number} = first_{number} + second_{number}" for number in range(40)]
    found = chunks("\n".join(["```python", *lines, "```"]), Chunker(COUNTER, 80, 25))
    assert len(found) > 3
    for chunk in found:
        assert set(chunk.text.split("\n")) <= {"```python", "```", *lines}


def test_an_unclosed_fence_is_code_to_the_end() -> None:
    text = "\n\n".join([*sentences(4), f"```\n{CODE}"])
    assert any(CODE in chunk.text for chunk in chunks(text))


def test_a_heading_is_never_the_end_of_a_chunk() -> None:
    parts = [f"## Part {number}\n\n{' '.join(sentences(2))}" for number in range(12)]
    for count in range(5):
        text = "\n\n".join([*sentences(count), *parts])
        for chunk in chunks(text):
            assert chunk.text.endswith("dog.")


def test_an_underlined_heading_stays_with_what_follows_it() -> None:
    parts = [f"Part {number}\n======\n\n{' '.join(sentences(2))}" for number in range(12)]
    for chunk in chunks("\n\n".join(parts)):
        assert chunk.text.endswith("dog.")


def test_line_breaks_of_windows_are_line_breaks() -> None:
    paragraphs = [" ".join(sentences(3)) for _ in range(6)]
    assert [chunk.text for chunk in chunks("\r\n\r\n".join(paragraphs), APART)] == paragraphs


def test_the_name_has_the_parameters_of_the_chunks() -> None:
    assert DEFAULT.name == "300/50/o200k_base/1"
