"""Middle-out truncation of a text: keep its head and its tail."""

from collections.abc import Callable

CHARACTERS_PER_TOKEN = 8
"""Upper estimate of characters in a token. It bounds the text that is counted, whatever the length of the whole."""

Counter = Callable[[str], int]


def _cut_marker(removed: int) -> str:
    return f"[... {removed} tokens cut by memsidecar ...]"


def truncate_middle(
    text: str, keep_tokens: int, count: Counter, marker: Callable[[int], str] = _cut_marker
) -> str | None:
    """Return head and tail of at most `keep_tokens` together, with a marker between them that is not counted in.

    `marker` gets the number of the removed tokens.

    Return None if the result would not be shorter. The whole text is counted once; all other counts are of slices whose
    size depends on `keep_tokens`.
    """
    total = count(text)
    if total <= keep_tokens:
        return None
    tail_tokens = keep_tokens // 2
    head = _head(text, keep_tokens - tail_tokens, count)
    tail = _tail(text[len(head) :], tail_tokens, count)
    removed = total - count(head) - count(tail)
    truncated = f"{head}\n{marker(removed)}\n{tail}"
    return truncated if removed > 0 and count(truncated) < total else None


def _head(text: str, budget: int, count: Counter) -> str:
    return _fitting(lambda length: _to_line_end(text, length), len(text), budget, count)


def _tail(text: str, budget: int, count: Counter) -> str:
    return _fitting(lambda length: _from_line_start(text, len(text) - length), len(text), budget, count)


def _fitting(slice_of: Callable[[int], str], max_length: int, budget: int, count: Counter) -> str:
    """Return a slice of at most `budget` tokens.

    Each try shrinks the slice in proportion to its excess, and by a sixteenth at least. So the sum of all counted
    slices is linear in the first one.
    """
    length = min(max_length, budget * CHARACTERS_PER_TOKEN)
    while length > 0:
        part = slice_of(length)
        tokens = count(part)
        if tokens <= budget:
            return part
        length = min(length * budget // tokens, length * 15 // 16)
    return ""


def _to_line_end(text: str, end: int) -> str:
    """Return the text up to `end`, or up to the end of a line or word in the last quarter before it."""
    ends = (text.rfind(mark, end - end // 4, end + 1) for mark in "\n ")
    return text[: next((found for found in ends if found > 0), end)]


def _from_line_start(text: str, start: int) -> str:
    """Return the text from `start`, or from the start of a line or word in the first quarter after it."""
    farthest = start + (len(text) - start) // 4
    starts = (text.find(mark, max(0, start - 1), farthest) + 1 for mark in "\n ")
    return text[next((found for found in starts if found > 0), start) :]
