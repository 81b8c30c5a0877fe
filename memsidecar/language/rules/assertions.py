"""What is asserted: no questions, hypotheses, fiction, quotes."""

import re
from collections.abc import Iterator
from itertools import islice

from memsidecar.language.rules.keywords import Vocabulary
from memsidecar.language.rules.normalization import (
    WRITTEN,
    as_spelled,
    bare,
    corrected,
    is_a_correction,
    may_be_a_correction,
    with_subject,
)
from memsidecar.language.rules.user_text import Clause, Sentence, clauses, own_words, sentences

_POLITE = (
    r"\W*(?:(?:please|pls|hey|hi|ok|okay|now|then|so|and|just|could|can|would|will|you|kindly|help me(?: to)?"
    r"|i need you to|i want you to|i'd like you to|your task is to|let's)\W+){0,6}"
)
_ON_TEXT = (
    r"(?:translate|rewrite|re-write|rephrase|reword|paraphrase|proofread|proof-read|correct(?![,.!])|edit|polish"
    r"|improve|revise|summari[sz]e"
    r"|shorten|transcribe|parse|classify|analy[sz]e|annotate|label|extract|fix (?:the |my |this |up )?"
    r"(?:grammar|spelling|typos|sentence|text)"
    r"|check (?:the |my |this )?(?:grammar|spelling|text|sentence|email)|spell-?check|repeat|continue|complete"
    r"|finish|convert|turn this|reply to|respond to|answer (?:this|him|her|them)"
    r"|make this|rate|evaluate|judge|review|critique|grade|explain (?:this|the)|what does)"
)
_WRITES = (
    r"(?:write|draft|compose|generate|create|make up|come up with|produce|give me|tell me a|sing|say|how (?:do"
    r"|would|can|to) (?:you|i|we|one)? ?(?:say|write|spell|translate)|repeat|prepare (?:a|an))"
)
_ABOUT_TEXT = re.compile(rf"{_POLITE}(?:{_ON_TEXT}|{_WRITES})\b", re.IGNORECASE)
_POINTS_AHEAD = re.compile(
    r"\b(?:this|these|following|below|next|text|paragraphs?|passage|sentences?|e-?mail|letter|essay|bio"
    r"|message|story|poem|review|intro|introduction|pitch|profile|statement|resume|cv|draft|speech|caption)\b"
    r"|:",
    re.IGNORECASE,
)
_PRESENTS = re.compile(
    r"\W*(?:\w+\W+){0,3}?(?:here(?:'s| is| are| comes)|this is|below is) (?:the|my|a|an|this|what"
    r"|some|our|his|her|their)\b.{0,60}?"
    r"\b(?:e-?mail|texts?|bio|letter|essay|draft|transcript|conversation|chat|logs?|messages?|prompt|story|cv"
    r"|resume|paragraph|sentences?|poem|lyrics|quote|example|"
    r"dialog(?:ue)?|monologue|script|passage|excerpt|snippet|reply|review|post|tweet|comment|statement|speech"
    r"|he|she|they)\b",
    re.IGNORECASE,
)
_ROLEPLAY = re.compile(
    rf"{_POLITE}(?:pretend|imagine|act (?:as|like)|role-?play|suppose|supposing|assume|assuming|let's (?:say"
    rf"|pretend|assume|imagine|role-?play|suppose)|say (?:i'm|i|my)"
    r"|picture|simulate|play the (?:role|part)|hypothetically|you(?:'re| are) now|you(?:'re| are) (?:a"
    r"|an) .{0,40}(?:assistant|bot|expert|model|character|ai)\b"
    r"|dear (?:sir|madam|mr|mrs|ms|dr|hiring|team|all|customer|(?-i:[A-Z]))|you are an? [\w -]{2,40}$|ignore "
    r"(?:all|any|the|your|previous)|disregard|in this (?:story|scenario|game|novel|role-?play)|in (?:my|the) "
    r"(?:novel|story|dream|game)|my character|speak as|talk as|the user(?:'s| is)|for (?:example|instance)\b"
    r"|e\.g\.)",
    re.IGNORECASE,
)
# A question by its form only.
_ORDER = re.compile(
    r"(?:(?:hey|hi|ok|and|also|please)\W+){0,2}(?:can|could|would|will) you (?:please )?(?=remind me (?:to|on"
    r"|at|in|about|tomorrow)\b|always\b|call me\b|keep your\b|never\b)",
    re.IGNORECASE,
)
_COLON = re.compile(r":(?=\s|$)")
_OWN_COLON = re.compile(
    r"(?:my|i|i'm|remind me|in my|to-?do|open question|question|favorite|reminder|note to self|action item)\b"
    r"|[^:]{0,40}\b(?:about me|background|context|update|note|fyi|situation|thing|things|facts|btw|way|intro|info"
    r"|clear|clarify|correction|edit|ps)\W*$",
    re.IGNORECASE,
)
_TOLD_BY_OTHERS = re.compile(
    r"\b(?:according to|said|says|saying|thinks?|thought|told|tells|claims?|claimed|believes?|asked|heard"
    r"|wrote|writes|sings?|rumou?r|lied?|joked?|jokes|accused|called|reckons|insists|texted|messaged|emailed|replied|answered|goes)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"(?:if|even if|only if|unless|in case|what if|suppose|supposing|imagine|assuming|assume|provided|pretend"
    r"|whether|say|wish|i wish|we wish|i hope|hopefully|i dreamt|i dreamed|i had a dream|last night i dream"
    r"|maybe|perhaps|possibly|theoretically|i pretend|i'd(?! (?:prefer|rather|like to (?:know|come back"
    r"|get back|return|revisit|circle back)|appreciate))|in theory|had i|were i|should i)\b",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(r"(?=[iuaw])\b(?:if|unless|in case|as if|would've|were to)\b", re.IGNORECASE)
_TAG = re.compile(
    r"(?:right|correct|yes|no|yeah|huh|eh|remember|am i|aren't i|ain't i|don't i|do i|isn't (?:it|that)|is"
    r"(?: that|n't) .{0,10}|or not|or what|or am i .{0,20})\W*$",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:what|what's|how|how's|where|where's|which|who|who's|whom|whose|why|when|can|could|would|will|do|does"
    r"|did|is|are|am|was|were|have|has|had|should|may|might|shall|isn't|aren't|don't|doesn't|won't|any|got any"
    r"|know any|is there|wanna|want to|you|and you|mind|ok if|possible)\b",
    re.IGNORECASE,
)
_FICTION = re.compile(
    r"\b(?:in|for) (?:this|the|my|our|a) (?:scenario|story|game|novel|book|campaign|role-?play|simulation"
    r"|dream|example|play|fanfic|film|movie|screenplay)\b|\bmy character\b",
    re.IGNORECASE,
)
_JOKES = re.compile(r"\b(?:(?:just|only|i'm) (?:kidding|joking)|jk|j/k)\b|\s/s$", re.IGNORECASE)

SENTENCES_PER_MESSAGE = 400
"Nobody says more at once; who seems to, pasted it."


def hands_over(sentence: Sentence) -> bool:
    """Whether what follows in the message is material or play, and not the user speaking of themselves."""
    text = sentence.text
    if _ROLEPLAY.match(text) or _PRESENTS.match(text):
        return True
    if _ABOUT_TEXT.match(text):
        return _POINTS_AHEAD.search(text) is not None
    return text.endswith(":") and not _OWN_COLON.match(text)


def takes_back(sentence: Sentence) -> bool:
    """Whether all that was said before was a joke."""
    return len(sentence.text) < 60 and _JOKES.search(sentence.text) is not None


def assertions(sentence: Sentence) -> list[str]:
    """The clauses that plainly state something, without what leads up to them."""
    if _ABOUT_TEXT.match(sentence.text) or _FICTION.search(sentence.text):
        return []
    order = _ORDER.match(sentence.text)
    found = clauses(_up_to_a_foreign_colon(sentence.text[order.end() if order else 0 :]))
    heard = [Clause(bare(clause.text), clause.joint) for clause in found]
    stated = _undoubted(heard[: _first_asked(heard)] if sentence.asked and not order else heard)
    return [with_subject(clause.text) if clause is heard[0] else clause.text for clause in stated]


def _up_to_a_foreign_colon(text: str) -> str:
    """What follows a colon is the user's only where they announced themselves."""
    colon = _COLON.search(text)
    announced = text[: colon.start()] if colon else text
    is_own = colon is None or _OWN_COLON.match(announced) or _OWN_COLON.match(bare(announced))
    return text if is_own else announced


def _first_asked(found: list[Clause]) -> int:
    """Where a question begins that is one by its own words. A question without such words asks all of it."""
    asking = (at for at, clause in enumerate(found) if _ASKS.match(clause.text) and not _TAG.match(clause.text))
    return next(asking, 0)


def _undoubted(found: list[Clause]) -> list[Clause]:
    """Doubt lasts to the end of the sentence; others' words only until the user answers them with a but."""
    kept, reported = [], False
    for clause in found:
        if _SUPPOSES.match(clause.text):
            break
        reported = (reported and clause.joint not in {"but", "so", "because"}) or _is_told_by_others(clause.text)
        if not reported and not _CONDITIONAL.search(clause.text):
            kept.append(clause)
    return kept


def _is_told_by_others(words: str) -> bool:
    return not words[:2].lower().startswith(("i ", "i'", "my")) and _TOLD_BY_OTHERS.search(words) is not None


class Heard:
    """A sentence of the user's. As it was meant it is made out once somebody asks: for most, the marks are enough."""

    __slots__ = ("_is_spelled", "_meant", "_said", "marks")

    def __init__(self, said: Sentence, marks: int, *, is_spelled: bool) -> None:
        self.marks = marks
        self._said = said
        self._is_spelled = is_spelled
        self._meant: Sentence | None = None

    def meant(self) -> Sentence:
        if self._meant is None:
            self._meant = Sentence(corrected(self._spelled()), self._said.asked)
        return self._meant

    def is_a_correction(self) -> bool:
        return may_be_a_correction(self._said.text) and is_a_correction(self._spelled())

    def correct(self, by: "Heard") -> None:
        meant = self.meant()
        self._meant = Sentence(corrected(f"{meant.text}, {by._spelled()}"), meant.asked)
        self.marks |= by.marks

    def _spelled(self) -> str:
        return self._said.text if self._is_spelled else as_spelled(self._said.text)


class Listener:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._marks = vocabulary.marks
        self._misspelled = vocabulary.mark(WRITTEN)

    def hear(self, text: str) -> Iterator[Heard]:
        """In order; a sentence that only corrects the one before it is none of its own."""
        every = (sentence for line in own_words(text) for sentence in sentences(line))
        held: Heard | None = None
        for said in islice(every, SENTENCES_PER_MESSAGE):
            marks = self._marks(said.text)
            heard = Heard(said, marks, is_spelled=not marks & self._misspelled)
            if held is None:
                held = heard
            elif heard.is_a_correction():
                held.correct(heard)
            else:
                yield held
                held = heard
        if held is not None:
            yield held
