"""A query as the ranking sees it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.unspaced import characters_of, is_unspaced, without_characters
from memsidecar.layers.episodic.words import content_words, words_of

# Each word is looked up and weighed on its own: 10,000 of them took 0.75 s on 5,000 messages. A question has
# fewer than these; of a whole document that is pasted as a query, the beginning says what it is about.
WORDS_COUNTED = 64


@dataclass(frozen=True, slots=True)
class Query:
    """`words` are its first words, each once, and of characters without blanks the pairs; `names` those of them that
    name somebody who spoke; `content` the rest that says what is asked for, with the characters of its pairs, of which
    some are words; `vector` its meaning, None where there is none to be had."""

    words: tuple[str, ...]
    names: frozenset[str] = frozenset()
    content: tuple[str, ...] = field(default=())
    vector: NDArray[np.float32] | None = None


def analysed(text: str, speaker_words: Iterable[frozenset[str]], vector: NDArray[np.float32] | None) -> Query:
    """Whoever is named as a speaker is looked for among the speakers, and not in the texts."""
    words = tuple(_wanted(text)[:WORDS_COUNTED])
    known = frozenset().union(*speaker_words)
    names = known.intersection(words)
    left = [word for word in words if word not in names] or words
    content = content_words([*left, *characters_of(left)])
    return Query(words, names, tuple(content), vector)


def _wanted(text: str) -> list[str]:
    return without_characters(list(dict.fromkeys(words_of(text))))


def without(text: str, names: Iterable[str]) -> str:
    """The text with these words taken out, for its meaning alone."""
    gone = frozenset(names)
    left = [part for part in text.split() if not _names(part, gone)]
    return " ".join(left) or text


def _names(part: str, names: frozenset[str]) -> bool:
    """Whether it is somebody's name: where nothing is written apart, it may be a whole sentence with one in it."""
    words = frozenset(_wanted(part))
    return words <= names if any(map(is_unspaced, words)) else not names.isdisjoint(words)
