"""Features of one message."""

from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

import regex

from memsidecar.domain.message import Role
from memsidecar.layers.procedural.style import (
    LengthPreference,
    extract_prose,
    find_length_preference,
    is_content_word,
    is_technical,
    prose_sentences,
    prose_words,
    truncate_to_bytes,
)
from memsidecar.layers.text_analysis import stem

OTHER = "other"
LONGEST_WORDING_BYTES = 96
_MOST_IN_A_MESSAGE = 4
_LONGEST_QUESTION_WORDS = 40  # a longer one is a story, and nobody tells it twice in the same words
_FEWEST_TELLING_WORDS = 2  # "what do you think?" is the same question about everything

# The first that fits: what is asked for goes before how it is asked.
_KINDS = [
    (kind, regex.compile(pattern))
    for kind, pattern in (
        (
            "debugging",
            r"\b(?:error|exception|traceback|stack ?trace|crash\w*|fail(?:s|ed|ing|ure)?|bugs?|broken"
            r"|(?:does not|doesn't|do not|don't|not|won't|isn't) work(?:ing)?|wrong with)\b",
        ),
        (
            "comparison",
            r"\bvs\b|\bversus\b|\bdifferences? between\b|\bcompared?\b|\b(?:better|faster|cheaper|worse) than\b"
            r"|\bpros and cons\b|\bwhich (?:one )?is (?:better|best|faster)\b",
        ),
        ("how-to", r"^(?:\w+ ){0,4}?how (?:do|does|can|could|should|would|to|might)\b|\bway to\b"),
        ("why", r"^(?:\w+ ){0,2}?why\b|\bhow come\b|\bwhat(?:'s| is) the reason\b"),
        ("recommendation", r"\brecommend\w*\b|\bsuggest\w*\b|\bshould (?:i|we)\b|\bany (?:good|ideas?|tips)\b"),
        (
            "fact",
            r"^(?:\w+ ){0,2}?(?:who|when|where)\b|\bhow (?:many|much|long|old|far|often|big)\b"
            r"|\bwhat (?:time|year|day)\b",
        ),
        ("what-is", r"^(?:\w+ ){0,3}?what(?:'s| is| are| was| does| do)?\b|\bmean(?:s|ing)? of\b"),
        ("yes-no", r"^(?:is|are|was|were|do|does|did|can|could|will|would|has|have|may|am)\b"),
    )
]
# Scripts without spaces: the whole is taken as it is.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]{6}")
_ASKED = regex.compile(r"[?\u061f]\s*\Z")
_BEGINS = regex.compile(
    r"^(?:how (?:do|can|to|does|should)|what(?:'s| is| are| does)|why (?:is|does|do|are)|where|who)\b"
)

LONGEST_TERM_BYTES = 40
_MOST_TERMS_IN_A_MESSAGE = 40
_TERMS_KEPT = 16_384
_ADDRESSED = regex.compile(
    r"(\b(?i:hey|hi|hello|thanks|thank you|dear|ok|okay|yeah|yes|wow|bye)\b,? |, )"
    r"\p{Lu}[\p{Ll}\p{M}]+(?=\s*(?:[,!?.]|$))",
    regex.MULTILINE,
)
_SHORT_WORDS, _LONG_WORDS = 80, 200


class Question(NamedTuple):
    """`wording` is what can be shown: words alone, of bounded length."""

    kind: str
    wording: str


def questions_of(prose: str) -> Iterator[Question]:
    found = (
        Question(kind_of(line), _wording(line)) for line in map(str.lower, prose_sentences(prose)) if _is_asked(line)
    )
    return islice(found, _MOST_IN_A_MESSAGE)


def question_key(wording: str) -> str:
    """The same for two questions that differ in filling words and inflection alone; empty for what can be about all."""
    if _UNSPACED.search(wording):
        return wording
    roots = [stem(word) for word in prose_words(wording) if is_content_word(word)]
    return f"{kind_of(wording)} {' '.join(roots)}" if len(set(roots)) >= _FEWEST_TELLING_WORDS else ""


def kind_of(line: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.search(line)), OTHER)


def _is_asked(line: str) -> bool:
    return bool(_ASKED.search(line) or _BEGINS.match(line)) and len(line.split()) <= _LONGEST_QUESTION_WORDS


def _wording(line: str) -> str:
    return truncate_to_bytes(" ".join(prose_words(line)), LONGEST_WORDING_BYTES)


class Length(IntEnum):
    """Of an answer. What lies between short and long says nothing about which is liked."""

    NONE = 0
    SHORT = 1
    MEDIUM = 2
    LONG = 3


class ObservedMessage(NamedTuple):
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
    length_preference: LengthPreference = LengthPreference.NONE
    technical: bool = False


def observe(message: ObservedMessage) -> Observation | None:
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


def _of_user(message: ObservedMessage) -> Observation:
    prose = extract_prose(message.text)
    technical = is_technical(message.text, prose)
    return Observation(
        message.session,
        message.sequence,
        message.time_us,
        by_user=True,
        engages=technical or any(map(is_content_word, prose_words(prose))),
        questions=tuple(questions_of(prose)),
        terms=tuple(islice(dict.fromkeys(_terms(prose)), _MOST_TERMS_IN_A_MESSAGE)),
        length_preference=find_length_preference(prose),
        technical=technical,
    )


def _terms(prose: str) -> Iterator[str]:
    """Words, and pairs of words that stand side by side. Whoever is spoken to is not what is spoken about."""
    for sentence in prose_sentences(_ADDRESSED.sub(r"\1", prose)):
        words = [(word, is_content_word(word)) for word in prose_words(sentence)]
        for word, telling in words:
            if telling:
                yield truncate_to_bytes(word, LONGEST_TERM_BYTES)
        for (first, one), (second, other) in pairwise(words):
            if one and other and first != second:
                yield truncate_to_bytes(f"{first} {second}", LONGEST_TERM_BYTES)
