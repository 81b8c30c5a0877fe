"""From a line to sentences, and from a sentence to clauses that begin with what they are about.

Rules only look at the beginning of a clause. That is what keeps out most of what others are or said: "my brother told
me I live in the past" begins with the brother.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memsidecar.language.rules.words import listed

SENTENCE_CHARS = 600
"What is said of oneself is said early; the rest of an endless sentence is not read."

_PICTURES = r"\U0001F000-\U0001FAFF\u2600-\u27BF\ufffc"
# The first letters are asked for first: at most places that is all there is to do.
_END = re.compile(
    rf"(?=[.!?…{_PICTURES}lhx:;])(?:[.!?…]+(?=[\s)\]]|$)|[{_PICTURES}]+|(?<=\s)(?:lol|haha+|xd|:\)|:D|;\))(?=\s|$))"
)
_NEVER_LAST = listed("mr mrs ms dr st prof vs e.g i.e approx mt ft gen no")
_SELDOM_LAST = listed(
    "inc ltd corp co jr sr u.s u.k u.s.a etc a.m p.m llc jan feb mar apr jun jul aug sep sept oct nov dec"
)

_BEGINS = (
    r"i|i'm|i've|i'd|i'll|my|we|we're|we've|our|please|remind|call|don't|can|could|would|will|what|what's|how"
    r"|where|which|who|why"
    r"|do|does|did|is|are|any|should|he|he's|she|she's|they|they're|you|you're|it|it's|that's|there|there's"
    r"|this|if|unless"
    r"|let's|later|according|got|know|anyone|home|these days|nowadays|from|based|living|working|originally"
    r"|currently|not|in my|when|thanks|name"
)
_JOINTS = r"and|but|so|because|since|although|though|while|whereas|plus|cause|cuz|bc|yet|or|as|&"
_BREAK = re.compile(
    rf"(?=[,;(\u2014\s])(?:(?:[,;(]|\s[-\u2013\u2014]+\s|\u2014|\s\.\.+)\s*(?:(?P<joint>{_JOINTS})\s+)?(?=(?:{_BEGINS})\b)"
    rf"|\s+(?P<bare>{_JOINTS})\s+(?=(?:i|i'm|i've|i'd|i'll|my|we|we're|our|please|remind|keep|he|she|they|it|it's"
    rf"|call me|can you|don't|if)\b))",
    re.IGNORECASE,
)
_NO_BREAK = re.compile(r"(?:from|based|living|working|originally|currently|in my|not|this|there)\b", re.IGNORECASE)

_ELIDED = re.compile(
    r",?\s(?:and|but)\s+(?:also\s+)?(?=(?:work|live|love|like|enjoy|hate|prefer|study|teach|need to|have to"
    r"|can't stand|adore|dislike|grew up|am)\b)",
    re.IGNORECASE,
)
_NOT_ELIDED_AFTER = re.compile(
    r"\b(?:to|will|can|could|would|let|help|make|used|must|should|may|might|not)\b|'d\b|'ll\b|n't\b", re.IGNORECASE
)
OF_SELF = re.compile(r"(?:hi|hello|hey|hiya)\b|i'm |my name is ", re.IGNORECASE)
_IM_ELIDED = re.compile(r"(?:based|living|working|originally|currently|from)\b", re.IGNORECASE)

_APPOSED = re.compile(r"\W*(?:\w+\W+){0,2}(?:as|being) (?:an?|the) [^,]{3,60}$", re.IGNORECASE)
_OWNER = re.compile(r"(i|my)\b(?! (?:want|need|can|should|would|must|may|expect|will)\b)", re.IGNORECASE)


class Clause(NamedTuple):
    """`joint` is the word that ties it to the one before it, if any."""

    text: str
    joint: str


class Sentence(NamedTuple):
    text: str
    asked: bool


def sentences(line: str) -> Iterator[Sentence]:
    start = 0
    for end in _END.finditer(line):
        if _is_abbreviation(line, end):
            continue
        yield from _sentence(line[start : end.start()], end[0])
        start = end.end()
    yield from _sentence(line[start:], "")


def _is_abbreviation(line: str, end: re.Match[str]) -> bool:
    if end[0] != ".":
        return False
    words = line[max(0, end.start() - 12) : end.start()].split()
    last = words[-1].lower().lstrip("(") if words else ""
    if last in _NEVER_LAST or (len(last) == 1 and last.isalpha() and last != "i"):
        return True
    return last in _SELDOM_LAST and line[end.end() : end.end() + 2].strip()[:1].islower()


def _sentence(text: str, mark: str) -> Iterator[Sentence]:
    text = " ".join(text[:SENTENCE_CHARS].split())
    if text:
        yield Sentence(text, "?" in mark)


def clauses(sentence: str) -> list[Clause]:
    """In order; a clause that leaves its subject out gets it back ("I live in Rome and work at Eni")."""
    found: list[Clause] = []
    start, joint = 0, ""
    for cut in _BREAK.finditer(sentence):
        if _NO_BREAK.match(sentence, cut.end()) and not _continues_self(sentence, start, cut):
            continue
        found.extend(_with_elided(_with_owner(sentence, start, cut), joint))
        start, joint = cut.end(), (cut["joint"] or cut["bare"] or ",").lower()
    found.extend(_with_elided(sentence[start:], joint))
    return [_with_subject(found, at) for at in range(len(found))]


def _with_owner(sentence: str, start: int, cut: re.Match[str]) -> str:
    """After "as a nurse, ..." only the next word says who the nurse is."""
    clause = sentence[start : cut.start()]
    owner = _OWNER.match(sentence, cut.end()) if _APPOSED.match(clause) else None
    return f"{clause}, {owner[1]}" if owner else clause


def _continues_self(sentence: str, start: int, cut: re.Match[str]) -> bool:
    """Only what follows something that the user is goes on about them: "I'm Bob, based in Berlin"."""
    return OF_SELF.match(sentence, start) is not None and _IM_ELIDED.match(sentence, cut.end()) is not None


def _with_elided(text: str, joint: str) -> Iterator[Clause]:
    head, *rest = _ELIDED.split(text) if text[:2].lower() in {"i ", "i'"} else [text]
    if rest and (_NOT_ELIDED_AFTER.search(head) or _repeats_its_verb(head, rest)):
        head, rest = text, []
    yield Clause(head.strip(), joint)
    yield from (Clause(f"I {part.strip()}", "and") for part in rest)


def _repeats_its_verb(head: str, rest: list[str]) -> bool:
    """Then it is a noun: "I love the peace and love theme"."""
    return any(part.split()[0].lower() in head.lower().split() for part in rest)


def _with_subject(found: list[Clause], at: int) -> Clause:
    clause = found[at]
    return clause._replace(text=f"I'm {clause.text}") if at and _IM_ELIDED.match(clause.text) else clause
