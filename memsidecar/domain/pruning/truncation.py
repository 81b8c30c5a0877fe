"""Middle-out truncation."""

from collections.abc import Callable

CHARACTERS_PER_TOKEN = 8
"""How far to look for a token's worth of text: more than prose needs, so that the budget is used, and a bound on
what is counted whatever the text's length."""

Counter = Callable[[str], int]


def truncate_middle(text: str, keep_tokens: int, count: Counter) -> str | None:
    """Keep head and tail, together at most `keep_tokens`, and mark the cut between them (the mark comes on top).

    None where that would not make it shorter. The text is counted whole once; all else is counted in slices of a
    size that follows `keep_tokens`.
    """
    total = count(text)
    if total <= keep_tokens:
        return None
    tail_tokens = keep_tokens // 2
    head = _head(text, keep_tokens - tail_tokens, count)
    tail = _tail(text[len(head) :], tail_tokens, count)
    cut = total - count(head) - count(tail)
    shortened = f"{head}\n[... {cut} tokens cut by memsidecar ...]\n{tail}"
    return shortened if cut > 0 and count(shortened) < total else None


def _head(text: str, budget: int, count: Counter) -> str:
    return _fitting(lambda length: _to_line_end(text, length), len(text), budget, count)


def _tail(text: str, budget: int, count: Counter) -> str:
    return _fitting(lambda length: _from_line_start(text, len(text) - length), len(text), budget, count)


def _fitting(piece_of: Callable[[int], str], longest: int, budget: int, count: Counter) -> str:
    """The piece shrinks by what it is over, and by a sixteenth at least: the slices' sum stays linear in the first."""
    length = min(longest, budget * CHARACTERS_PER_TOKEN)
    while length > 0:
        piece = piece_of(length)
        tokens = count(piece)
        if tokens <= budget:
            return piece
        length = min(length * budget // tokens, length * 15 // 16)
    return ""


def _to_line_end(text: str, end: int) -> str:
    """Up to `end`, or to a line's or a word's end within the last quarter before it."""
    ends = (text.rfind(mark, end - end // 4, end + 1) for mark in "\n ")
    return text[: next((found for found in ends if found > 0), end)]


def _from_line_start(text: str, start: int) -> str:
    """From `start`, or from a line's or a word's start within the first quarter after it."""
    farthest = start + (len(text) - start) // 4
    starts = (text.find(mark, max(0, start - 1), farthest) + 1 for mark in "\n ")
    return text[next((found for found in starts if found > 0), start) :]
