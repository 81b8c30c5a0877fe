"""Answers that fit a model's window.

Measured in bytes of UTF-8, of which about four are a token in English, and about three in Chinese: so many bytes are
about as many tokens in any language, and never more tokens than bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

ANSWER_BYTES = 16_000
"All texts of an answer together: about 4,000 tokens."
TEXT_BYTES = 4_000
"One message or one piece of a document."
VALUE_BYTES = 1_000
"One value of a fact, one title."


def shortened(text: str, most_bytes: int = TEXT_BYTES) -> str:
    """The beginning, and how much is missing; the text itself where it is short enough."""
    raw = text.encode()
    if len(raw) <= most_bytes:
        return text
    kept = raw[:most_bytes].decode(errors="ignore")
    return f"{kept} [... {len(text) - len(kept)} more characters]"


def fitting(items: Iterable[T], text: Callable[[T], str], most_bytes: int = ANSWER_BYTES) -> list[T]:
    """The first ones, as many as fit together."""
    kept: list[T] = []
    used_bytes = 0
    for item in items:
        used_bytes += len(text(item).encode())
        if used_bytes > most_bytes:
            break
        kept.append(item)
    return kept
