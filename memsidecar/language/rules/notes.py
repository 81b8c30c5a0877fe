"""Rules for what the user asks to remember: "remember that ...", "don't forget: ...". It is learned in any wording."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.rule import FactClaim
from memsidecar.language.rules.tasks import is_errand
from memsidecar.language.rules.user_text import Sentence
from memsidecar.language.rules.values import MAX_VALUE_CHARS
from memsidecar.language.rules.wishes import aspect, order_key

CONFIDENCE = 0.95
"Confidence of what the user asks to remember."
MAX_LISTED_NOTES = 10
MIN_NOTE_WORDS = 3

_BEFORE = (
    r"\W*(?:(?:please|pls|plz|also|and|but|so|just|hey|hi|ok|okay|btw|by the way|now|oh|well|actually|kindly|thanks"
    r"|can you|could you|will you|would you|you (?:should|must|need to|have to)|i (?:want|need) you to|i'd like you to"
    r"|try to|make sure (?:to|you)|always|one more thing|important)\W+){0,5}"
)
_THIS = r"(?: (?:this|the following|these(?: (?:things|facts))?|it|for (?:later|the future|next time)|somewhere)){0,2}"
_STRONG = re.compile(
    rf"{_BEFORE}(?:(?:remember|memori[sz]e|don't (?:ever )?forget|never forget|for (?:your|future) (?:reference"
    rf"|records))|(?:save|store|write down|note down|make a note|take a note)(?= this\b| that\b| of\b|:|$)){_THIS}"
    r"(?:\s*[:\u2013\u2014-]+\s*(?:that\b\s*)?|,?\s+(?:that\b|of the fact that\b)\s*|\s+of\s+(?=my|our|the)"
    r"|\s+(?=(?:i|i'm|i've|i'd"
    r"|i'll|my|we|we're|we've|our|the|there|he|she|they|it's)\b)|\s*$)(?P<what>.*)",
    re.IGNORECASE | re.DOTALL,
)
_WEAK = re.compile(
    rf"{_BEFORE}(?:(?:please )?note|take note|keep in mind|bear in mind|be aware|remember(?=,)"
    rf"|don't forget(?=,)){_THIS}"
    r"(?:\s*[:,\u2013\u2014-]+\s*(?:that\b\s*)?|\s+that\b\s*|\s*$)(?P<what>.*)",
    re.IGNORECASE | re.DOTALL,
)
_TO_DO = re.compile(
    rf"{_BEFORE}(?:remember|don't (?:ever )?forget) to (?!remind me\b)(?P<what>.+)", re.IGNORECASE | re.DOTALL
)
# "Remember when we met", "don't forget who pays", "remember the time in Rome" are memories; "you are X" is a role.
_REMINISCENCE = re.compile(
    r"(?:when|how|what|why|where|who|who's|which|time|day|one|guy|movie|song|me|him|her|them|us|it|to|you(?:'re| are)"
    r"|the (?:time|day|good old|days|first time|last time))\b(?!')",
    re.IGNORECASE,
)
_DEICTIC = re.compile(r"(?:this|that|it|it's|these|those|you|\w)\b(?<!\bi)", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|me|we|we're|we've|our|us)\b", re.IGNORECASE)
_STATEMENT = re.compile(r"(?:i|i'm|i've|my|we|we're|our|the|he|she|they) ", re.IGNORECASE)
_KEYED = re.compile(
    r"(?:my|our|the) (?P<key>[\w'-]+(?: [\w'-]+){0,3}?) (?:is|are) (?P<value>\S+(?: \S+){0,2})$", re.IGNORECASE
)
_CHANGED = re.compile(
    r"(?:my|our|the) (?P<key>[\w'-]+(?: [\w'-]+){1,3}?) (?:(?:is|are) now|now (?:is|are)"
    r"|(?:has |have )?(?:changed|moved) to|(?:is|are)(?= [^.]{1,80}\bnow\W*$))"
    r" (?!(?:not|no longer|still|also|only|probably|maybe|perhaps|likely|about to|going to)\b)"
    r"(?P<value>\S+(?: \S+){0,2}?)(?:,? now)?[\s.!]*$",
    re.IGNORECASE,
)
_HAS_DIGIT_OR_CAPITAL = re.compile(r"[\dA-Z]")
_NOTE_END = re.compile(
    r"[\s,]*(?:please|pls|ok|okay|thanks|thank you|for (?:later|next time|the future|future reference)"
    r"|in mind)?[\s.!,]*$",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:always|never|not|only|use|answer|reply|respond|write|add|include|format|keep|avoid|be|ask|cite|explain"
    r"|commit|push"
    r"|put|start|end|call me|speak)\b",
    re.IGNORECASE,
)


def told_to_remember(sentence: Sentence, *, is_alone: bool) -> str | None:
    """Return what the user asks to remember, or None. The text is empty if it follows in the next sentences.

    "Note that" and "keep in mind" often explain a task. They count if the text is about the user or the only sentence.
    """
    match = _STRONG.match(sentence.text)
    if match is None:
        match = _WEAK.match(sentence.text)
        if match and (_DEICTIC.match(match["what"]) or not (is_alone or _FIRST_PERSON.search(match["what"]))):
            return None
    if match is None or _REMINISCENCE.match(match["what"]) or (sentence.is_question and not _asks_to(sentence.text)):
        return None
    if sentence.is_question and not match["what"]:
        return None
    return match["what"].strip()


def _asks_to(text: str) -> bool:
    return re.match(r"\W*(?:\w+\W+){0,3}?(?:can|could|will|would) you\b", text, re.IGNORECASE) is not None


def notes(text: str) -> Iterator[FactClaim]:
    """Yield the text as a fact; "my locker code is 4471" has the key "locker code"."""
    note = shortened(_NOTE_END.sub("", text, count=1))
    keyed = _KEYED.match(note)
    if keyed and _HAS_DIGIT_OR_CAPITAL.search(keyed["value"]):
        yield FactClaim(FactType.USER_PROFILE, keyed["key"].lower(), keyed["value"].rstrip(".,!"), CONFIDENCE)
    elif len(note.split()) >= MIN_NOTE_WORDS:
        yield FactClaim(FactType.USER_PROFILE, f"note:{note.lower()[:60].strip()}", note, CONFIDENCE)


def changes(sentence: Sentence) -> Iterator[FactClaim]:
    """Find the new value of what the user asked to remember: "the locker code is 8812 now".

    Names of one word are left to other rules: "the company is now SOC2 compliant" says nothing of the employer.
    """
    match = None if sentence.is_question else _CHANGED.match(sentence.text)
    if match and _HAS_DIGIT_OR_CAPITAL.search(match["value"]):
        value = match["value"].rstrip(".,!")
        yield FactClaim(FactType.USER_PROFILE, match["key"].lower(), value, CONFIDENCE, updates=True)


def is_statement(clause: str) -> bool:
    return _STATEMENT.match(clause) is not None


def shortened(text: str) -> str:
    """Return the text, cut at a word if it is too long for a value."""
    text = " ".join(text.split())
    return text if len(text) <= MAX_VALUE_CHARS else text[: MAX_VALUE_CHARS - 1].rsplit(" ", maxsplit=1)[0] + "…"


def things_to_do(sentence: Sentence, *, is_alone: bool) -> Iterator[FactClaim]:
    """Find orders and tasks: "remember to always use tabs", "don't forget to water the plants"."""
    match = None if sentence.is_question else _TO_DO.match(sentence.text)
    if match is None:
        return
    what = shortened(_NOTE_END.sub("", match["what"], count=1))
    if (_ORDER.match(what) and is_alone) or re.match(r"(?:always|never)\b", what, re.IGNORECASE) or aspect(what):
        yield FactClaim(FactType.PREFERENCE, order_key(what), what, CONFIDENCE)
    elif what and (is_alone or is_errand(what)):
        yield FactClaim(FactType.ACTION_ITEM, "todo", what, CONFIDENCE)
