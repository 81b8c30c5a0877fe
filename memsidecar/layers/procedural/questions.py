"""Questions: of which kind one is, and when two are the same."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import regex

from memsidecar.layers.episodic.words import stem
from memsidecar.layers.procedural.wording import sentences_of, shortened, tells, words_of

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


class Question(NamedTuple):
    """`wording` is what can be shown: words alone, of bounded length."""

    kind: str
    wording: str


def questions_of(prose: str) -> Iterator[Question]:
    found = (Question(kind_of(line), _wording(line)) for line in map(str.lower, sentences_of(prose)) if _is_asked(line))
    return islice(found, _MOST_IN_A_MESSAGE)


def key_of(wording: str) -> str:
    """The same for two questions that differ in filling words and inflection alone; empty for what can be about all."""
    if _UNSPACED.search(wording):
        return wording
    roots = [stem(word) for word in words_of(wording) if tells(word)]
    return f"{kind_of(wording)} {' '.join(roots)}" if len(set(roots)) >= _FEWEST_TELLING_WORDS else ""


def kind_of(line: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.search(line)), OTHER)


def _is_asked(line: str) -> bool:
    return bool(_ASKED.search(line) or _BEGINS.match(line)) and len(line.split()) <= _LONGEST_QUESTION_WORDS


def _wording(line: str) -> str:
    return shortened(" ".join(words_of(line)), LONGEST_WORDING_BYTES)
