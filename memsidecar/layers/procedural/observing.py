"""What of a message is counted: nothing of it is kept but words, and few of them."""

from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

import regex

from memsidecar.domain.message import Role
from memsidecar.layers.episodic.words import stem
from memsidecar.layers.procedural.manner import Wish, is_technical, wish_of
from memsidecar.layers.procedural.questions import Question, questions_of
from memsidecar.layers.procedural.wording import prose_of, sentences_of, shortened, tells, words_of

LONGEST_TERM_BYTES = 40
_MOST_TERMS_IN_A_MESSAGE = 40
_TERMS_KEPT = 16_384
_ADDRESSED = regex.compile(
    r"(\b(?i:hey|hi|hello|thanks|thank you|dear|ok|okay|yeah|yes|wow|bye)\b,? |, )"
    r"\p{Lu}[\p{Ll}\p{M}]+(?=\s*(?:[,!?.]|$))",
    regex.MULTILINE,
)
_SHORT_WORDS, _LONG_WORDS = 80, 200


class Length(IntEnum):
    """Of an answer. What lies between short and long says nothing about which is liked."""

    NONE = 0
    SHORT = 1
    MEDIUM = 2
    LONG = 3


class Heard(NamedTuple):
    """A message as habits know it. Within a session, sequences only rise."""

    session: int
    sequence: int
    role: int
    time_us: int
    text: str


class Observation(NamedTuple):
    """What one message shows. Of answers, only how long they are; of the user's messages, all but that."""

    session: int
    sequence: int
    time_us: int
    by_user: bool
    answer: Length = Length.NONE
    engages: bool = False
    questions: tuple[Question, ...] = ()
    terms: tuple[str, ...] = ()
    wish: Wish = Wish.NONE
    technical: bool = False


def observe(message: Heard) -> Observation | None:
    """None for what is neither said by the user nor an answer to them."""
    if not message.text.strip():
        return None
    if message.role == Role.ASSISTANT:
        return Observation(message.session, message.sequence, message.time_us, False, _length(message.text))
    return _of_user(message) if message.role == Role.USER else None


@lru_cache(_TERMS_KEPT)
def term_key(term: str) -> str:
    return " ".join(stem(word) for word in term.split())


def _length(text: str) -> Length:
    words = len(text.split())
    return Length.SHORT if words < _SHORT_WORDS else Length.LONG if words > _LONG_WORDS else Length.MEDIUM


def _of_user(message: Heard) -> Observation:
    prose = prose_of(message.text)
    technical = is_technical(message.text, prose)
    return Observation(
        message.session,
        message.sequence,
        message.time_us,
        by_user=True,
        engages=technical or any(map(tells, words_of(prose))),
        questions=tuple(questions_of(prose)),
        terms=tuple(islice(dict.fromkeys(_terms(prose)), _MOST_TERMS_IN_A_MESSAGE)),
        wish=wish_of(prose),
        technical=technical,
    )


def _terms(prose: str) -> Iterator[str]:
    """Words, and pairs of words that stand side by side. Whoever is spoken to is not what is spoken about."""
    for sentence in sentences_of(_ADDRESSED.sub(r"\1", prose)):
        words = [(word, tells(word)) for word in words_of(sentence)]
        for word, telling in words:
            if telling:
                yield shortened(word, LONGEST_TERM_BYTES)
        for (first, one), (second, other) in pairwise(words):
            if one and other and first != second:
                yield shortened(f"{first} {second}", LONGEST_TERM_BYTES)
