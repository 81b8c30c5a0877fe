"""A query as the ranking sees it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.episodic.words import content_words, words_of

# Each word is looked up and weighed on its own: 10,000 of them took 0.75 s on 5,000 messages. A question has
# fewer than these; of a whole document that is pasted as a query, the beginning says what it is about.
WORDS_COUNTED = 64


@dataclass(frozen=True, slots=True)
class Query:
    """`words` are its first words, each once; `names` those of them that name somebody who spoke; `content` the rest
    that says what is asked for; `vector` its meaning, None where there is none to be had."""

    words: tuple[str, ...]
    names: frozenset[str] = frozenset()
    content: tuple[str, ...] = field(default=())
    vector: NDArray[np.float32] | None = None


def analysed(text: str, speaker_words: Iterable[frozenset[str]], vector: NDArray[np.float32] | None) -> Query:
    """Whoever is named as a speaker is looked for among the speakers, and not in the texts."""
    words = tuple(islice(dict.fromkeys(words_of(text)), WORDS_COUNTED))
    known = frozenset().union(*speaker_words)
    names = known.intersection(words)
    content = content_words([word for word in words if word not in names] or words)
    return Query(words, names, tuple(content), vector)


def without(text: str, names: Iterable[str]) -> str:
    """The text with these words taken out, for its meaning alone."""
    gone = set(names)
    left = [part for part in text.split() if not gone.intersection(words_of(part))]
    return " ".join(left) or text
