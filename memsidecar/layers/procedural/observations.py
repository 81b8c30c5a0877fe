"""Observations: the features of one message that the counters count."""

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
MAX_WORDING_BYTES = 96
MAX_TERM_BYTES = 40
_MAX_QUESTIONS = 4  # of one message
_MAX_TERMS = 40  # of one message
_MAX_QUESTION_WORDS = 40  # a longer question is a story, and does not recur in the same words
_MIN_CONTENT_WORDS = 2  # "what do you think?" can be about anything
_MAX_CACHED_TERMS = 16_384
_MIN_MEDIUM_WORDS, _MAX_MEDIUM_WORDS = 80, 200

# The first match counts: the subject of a question goes before its grammar.
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
# Scripts without spaces: the key of a question is its whole text.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]{6}")
_QUESTION_MARK = regex.compile(r"[?\u061f]\s*\Z")
_QUESTION_START = regex.compile(
    r"^(?:how (?:do|can|to|does|should)|what(?:'s| is| are| does)|why (?:is|does|do|are)|where|who)\b"
)

_ADDRESSED = regex.compile(
    r"(\b(?i:hey|hi|hello|thanks|thank you|dear|ok|okay|yeah|yes|wow|bye)\b,? |, )"
    r"\p{Lu}[\p{Ll}\p{M}]+(?=\s*(?:[,!?.]|$))",
    regex.MULTILINE,
)


class Question(NamedTuple):
    """`wording` can be shown: words only, of bounded length."""

    kind: str
    wording: str


class Length(IntEnum):
    """Length of an answer. A medium one says nothing about the preferred length."""

    NONE = 0
    SHORT = 1
    MEDIUM = 2
    LONG = 3


class ObservedMessage(NamedTuple):
    """Input of `observe`. Within a session, sequences only rise."""

    session: int
    sequence: int
    role: int
    time_us: int
    text: str


class Observation(NamedTuple):
    """Features of one message: of an answer its length, of a user's message all others."""

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
    """Return the features of a message; None if it is neither from the user nor an answer, or empty."""
    if not message.text.strip():
        return None
    if message.role == Role.ASSISTANT:
        return Observation(message.session, message.sequence, message.time_us, False, _length(message.text))
    return _observe_user(message) if message.role == Role.USER else None


def _observe_user(message: ObservedMessage) -> Observation:
    prose = extract_prose(message.text)
    technical = is_technical(message.text, prose)
    return Observation(
        message.session,
        message.sequence,
        message.time_us,
        by_user=True,
        engages=technical or any(map(is_content_word, prose_words(prose))),
        questions=tuple(questions_of(prose)),
        terms=tuple(islice(dict.fromkeys(_terms(prose)), _MAX_TERMS)),
        length_preference=find_length_preference(prose),
        technical=technical,
    )


def _length(text: str) -> Length:
    words = len(text.split())
    if words < _MIN_MEDIUM_WORDS:
        return Length.SHORT
    return Length.LONG if words > _MAX_MEDIUM_WORDS else Length.MEDIUM


def questions_of(prose: str) -> Iterator[Question]:
    lines = map(str.lower, prose_sentences(prose))
    return islice((Question(kind_of(line), _wording(line)) for line in lines if _is_question(line)), _MAX_QUESTIONS)


def question_key(wording: str) -> str:
    """Return a key that is equal for questions with the same content words; empty for too few content words."""
    if _UNSPACED.search(wording):
        return wording
    stems = [stem(word) for word in prose_words(wording) if is_content_word(word)]
    return f"{kind_of(wording)} {' '.join(stems)}" if len(set(stems)) >= _MIN_CONTENT_WORDS else ""


def kind_of(line: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.search(line)), OTHER)


def _is_question(line: str) -> bool:
    is_asked = bool(_QUESTION_MARK.search(line) or _QUESTION_START.match(line))
    return is_asked and len(line.split()) <= _MAX_QUESTION_WORDS


def _wording(line: str) -> str:
    return truncate_to_bytes(" ".join(prose_words(line)), MAX_WORDING_BYTES)


@lru_cache(_MAX_CACHED_TERMS)
def term_key(term: str) -> str:
    return " ".join(stem(word) for word in term.split())


def _terms(prose: str) -> Iterator[str]:
    """Yield content words, and pairs of adjacent ones. Names of addressed persons are left out."""
    for sentence in prose_sentences(_ADDRESSED.sub(r"\1", prose)):
        words = [(word, is_content_word(word)) for word in prose_words(sentence)]
        for word, is_content in words:
            if is_content:
                yield truncate_to_bytes(word, MAX_TERM_BYTES)
        for (first, first_is_content), (second, second_is_content) in pairwise(words):
            if first_is_content and second_is_content and first != second:
                yield truncate_to_bytes(f"{first} {second}", MAX_TERM_BYTES)
