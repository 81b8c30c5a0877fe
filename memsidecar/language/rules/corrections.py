"""Somebody who corrects themselves within a breath: "I live in Rome, no wait, in Milan"."""

import re

FRAGMENT_WORDS = 4

_PLAINLY = r"no,? wait|wait,? no|scratch that|correction|or rather|i mean|i meant(?: to say)?|make that"
# These are said for other reasons as well ("no problem"): what corrects stands between commas, before a name.
_PERHAPS = r"sorry|no|nope|oops|wait|er+|uh"
_WORDS = rf"(?:(?:(?:{_PERHAPS}),?\s+)?(?P<plainly>{_PLAINLY})[,:.]?|(?:{_PERHAPS}),)\s+(?:it's\s+)?"
_BEGINS = re.compile(_WORDS, re.IGNORECASE)
# What it may begin with is asked for first: at most places that is all there is to do.
_CORRECTS = re.compile(
    rf"(?=[,;(.\u2013\u2014\s])(?:[,;(.\u2013\u2014]|\s-+|\.\.+)\s*{_WORDS}",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"(in|at|for|near|to|on|from|by)\s+", re.IGNORECASE)
_A_CLAUSE = re.compile(
    r"(?:i|i'm|i've|i'd|i'll|my|we|you|he|she|they|it|it's|that|that's|this|there|what|how|who|thanks|please|can|could"
    r"|do|is|not)\b",
    re.IGNORECASE,
)


def corrected(sentence: str) -> str:
    """The sentence as it was meant; as it stands, where what follows is no mere fragment."""
    match = _CORRECTS.search(sentence)
    if match is None:
        return sentence
    said, meant = sentence[: match.start()].split(), sentence[match.end() :].strip()
    if not said or not _is_a_fragment(meant, plainly=bool(match["plainly"])):
        return sentence
    kept = said[: -_replaced_words(said, meant)]
    return " ".join([*kept, _PREPOSITION.sub("", meant, count=1) if _ends_with_preposition(kept) else meant])


def is_a_correction(sentence: str) -> bool:
    """Whether a sentence corrects the one before it: "Sorry, I mean Alphabet.\"."""
    match = _BEGINS.match(sentence)
    return match is not None and _is_a_fragment(sentence[match.end() :], plainly=bool(match["plainly"]))


def may_be_a_correction(sentence: str) -> bool:
    """Before it is spelled; no spelling makes or unmakes the words that correct."""
    return _BEGINS.match(sentence) is not None


def _is_a_fragment(meant: str, *, plainly: bool) -> bool:
    name = _PREPOSITION.sub("", meant, count=1)[:1]
    short = 0 < len(meant.split()) <= FRAGMENT_WORDS
    return short and (plainly or name.isupper()) and not _A_CLAUSE.match(meant)


def _replaced_words(said: list[str], meant: str) -> int:
    """From the same preposition on, where the fragment has one; else the capitalised words, at least one."""
    preposition = _PREPOSITION.match(meant)
    lower = [word.lower() for word in said]
    if preposition and preposition[1].lower() in lower:
        return lower[::-1].index(preposition[1].lower()) + 1
    count = 1
    while count < len(said) - 1 and said[-count - 1][0].isupper() and lower[-count - 1] not in {"i", "i'm"}:
        count += 1
    return count


def _ends_with_preposition(words: list[str]) -> bool:
    return bool(words) and _PREPOSITION.match(words[-1] + " ") is not None
