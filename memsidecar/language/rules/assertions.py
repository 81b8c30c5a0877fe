"""Sentences and clauses that the user asserts: no questions, hypotheses, fiction, reported speech or quotes."""

import re
from collections.abc import Iterator
from itertools import islice

from memsidecar.language.rules.normalization import (
    apply_correction,
    is_correction,
    normalize_spelling,
    restore_subject,
    strip_lead_in,
)
from memsidecar.language.rules.user_text import Clause, Sentence, split_clauses, split_sentences, user_lines

_POLITE = (
    r"\W*(?:(?:please|pls|hey|hi|ok|okay|now|then|so|and|just|could|can|would|will|you|kindly|help me(?: to)?"
    r"|i need you to|i want you to|i'd like you to|your task is to|let's)\W+){0,6}"
)
_EDITING_VERBS = (
    r"(?:translate|rewrite|re-write|rephrase|reword|paraphrase|proofread|proof-read|correct(?![,.!])|edit|polish"
    r"|improve|revise|summari[sz]e"
    r"|shorten|transcribe|parse|classify|analy[sz]e|annotate|label|extract|fix (?:the |my |this |up )?"
    r"(?:grammar|spelling|typos|sentence|text)"
    r"|check (?:the |my |this )?(?:grammar|spelling|text|sentence|email)|spell-?check|repeat|continue|complete"
    r"|finish|convert|turn this|reply to(?! me\b)|respond to(?! me\b)|answer (?:this|him|her|them)"
    r"|make this|rate|evaluate|judge|review|critique|grade|explain (?:this|the)|what does)"
)
_WRITING_VERBS = (
    r"(?:write|draft|compose|generate|create|make up|come up with|produce|give me|tell me a|sing|say|how (?:do"
    r"|would|can|to) (?:you|i|we|one)? ?(?:say|write|spell|translate)|repeat|prepare (?:a|an))"
)
_STANDING_FORMAT = r"(?:write|give me) (?:\w+ ){0,2}(?:dates|times|answers|replies|responses)"
_TEXT_TASK = re.compile(rf"{_POLITE}(?!{_STANDING_FORMAT}\b)(?:{_EDITING_VERBS}|{_WRITING_VERBS})\b", re.IGNORECASE)
_NAMES_A_TEXT = re.compile(
    r"\b(?:this|these|following|below|next|text|paragraphs?|passage|sentences?|e-?mail|letter|essay|bio"
    r"|message|story|poem|review|intro|introduction|pitch|profile|statement|resume|cv|draft|speech|caption)\b"
    r"|:",
    re.IGNORECASE,
)
_PRESENTS_TEXT = re.compile(
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
# A request in the form of a question.
_POLITE_ORDER = re.compile(
    r"(?:(?:hey|hi|ok|and|also|please)\W+){0,2}(?:can|could|would|will) you (?:please )?(?=remind me (?:to|on"
    r"|at|in|about|tomorrow)\b|always\b|call me\b|keep your\b|never\b|stop\b|from now on\b|remember (?!when|how)"
    r"|make a note\b|(?:speak|talk|reply|answer|respond|be|keep|use)\b.{1,60}\b(?:from now on|going forward"
    r"|in (?:the )?future"
    r"|with me|to me|always)\b)",
    re.IGNORECASE,
)
_COLON = re.compile(r":(?=\s|$)")
_OWN_COLON = re.compile(
    r"(?:my|i|i'm|we|we're|our|remind me|in my|to-?do|open question|question|favorite|reminder|note to self"
    r"|action item)\b|[^:]{0,40}\b(?:remember|forget|memori[sz]e|mind|note|save|store|reference)(?: (?:this|that|these"
    r"|the following))?\W*$"
    r"|[^:]{0,40}\b(?:about me|background|context|update|note|fyi|situation|thing|things|facts|btw|way|intro|info"
    r"|clear|clarify|correction|edit|ps)\W*$",
    re.IGNORECASE,
)
_OWN_TEXT = re.compile(
    r"(?:my|our|the|this) (?:[\w-]+ ){0,3}?(?:letter|essay|bio|draft|story|poem|speech|caption|tweet|resume|cv|intro"
    r"|pitch"
    r"|statement|post|e-?mail|message|profile|headline|slogan|sentence|prompt)\b.{0,30}\b(?:starts?|begins?|reads?"
    r"|says?|goes"
    r"|like this|so far)\W*$",
    re.IGNORECASE,
)
_REPORTED_SPEECH = re.compile(
    r"\b(?:according to|said|says|saying|thinks?|thought|told|tells|claims?|claimed|believes?|asked|heard"
    r"|wrote|writes|sings?|rumou?r|lied?|joked?|jokes|accused|called(?= (?:me|my|him|her|us|them|it)\b)|reckons"
    r"|insists|texted|messaged|emailed|replied"
    r"|answered|goes)\b",
    re.IGNORECASE,
)
_HYPOTHESIS = re.compile(
    r"(?:if|even if|only if|unless|in case|what if|suppose|supposing|imagine|assuming|assume|provided|pretend"
    r"|whether|say|wish|i wish|we wish|i hope|hopefully|i dreamt|i dreamed|i had a dream|last night i dream"
    r"|maybe|perhaps|possibly|theoretically|i pretend|i'd(?! (?:prefer|rather|like (?:you to\b"
    r"|to (?:know|find out|understand|learn|come back|get back|return|revisit|circle back)|(?:\w+ ){0,3}(?:answers"
    r"|replies|responses|explanations)\b)"
    r"|appreciate|(?:take|choose|pick) .{2,40} over))|in theory|had i|were i|should i)\b",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(r"(?=[iuaw])\b(?:(?<!even )if|unless|in case|as if|would've|were to)\b", re.IGNORECASE)
_TAG_QUESTION = re.compile(
    r"(?:right|correct|yes|no|yeah|huh|eh|remember|am i|aren't i|ain't i|don't i|do i|isn't (?:it|that)|is"
    r"(?: that|n't) .{0,10}|or not|or what|or am i .{0,20})\W*$",
    re.IGNORECASE,
)
_QUESTION_START = re.compile(
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

MAX_SENTENCES = 400
"A message with more sentences is pasted text; the rest is not read."


def read_sentences(text: str) -> Iterator[Sentence]:
    """Yield the user's sentences with normalized spelling.

    A sentence that only corrects the one before it ("Sorry, I mean Rome.") is applied to that one, and not yielded.
    """
    split = (sentence for line in user_lines(text) for sentence in split_sentences(line))
    previous: Sentence | None = None
    for sentence in islice(split, MAX_SENTENCES):
        spelled = normalize_spelling(sentence.text)
        if previous is not None and is_correction(spelled):
            previous = Sentence(apply_correction(f"{previous.text}, {spelled}"), previous.is_question)
            continue
        if previous is not None:
            yield previous
        previous = Sentence(apply_correction(spelled), sentence.is_question)
    if previous is not None:
        yield previous


def introduces_quote(sentence: Sentence) -> bool:
    """Whether the rest of the message is a quoted text, a task on a text or a role play, and not about the user."""
    text = sentence.text
    if _ROLEPLAY.match(text) or _PRESENTS_TEXT.match(text):
        return True
    if _TEXT_TASK.match(text):
        return _NAMES_A_TEXT.search(text) is not None
    return text.endswith(":") and not _OWN_COLON.match(text)


def retracts_as_joke(sentence: Sentence) -> bool:
    """Whether the sentence declares the ones before it a joke."""
    return len(sentence.text) < 60 and _JOKES.search(sentence.text) is not None


def assertions(sentence: Sentence) -> list[str]:
    """Return the clauses that state something as a fact, without their lead-ins."""
    if _TEXT_TASK.match(sentence.text) or _FICTION.search(sentence.text):
        return []
    order = _POLITE_ORDER.match(sentence.text)
    text = _cut_at_quoting_colon(sentence.text[order.end() if order else 0 :])
    bare_clauses = [Clause(strip_lead_in(clause.text), clause.conjunction) for clause in split_clauses(text)]
    first = bare_clauses[0]
    if sentence.is_question and not order:
        bare_clauses = bare_clauses[: _first_question(bare_clauses)]
    asserted = _asserted(bare_clauses)
    return [restore_subject(clause.text) if clause is first else clause.text for clause in asserted]


def _cut_at_quoting_colon(text: str) -> str:
    """Return the text up to a colon, unless the words before it announce a statement of the user."""
    colon = _COLON.search(text)
    announced = text[: colon.start()] if colon else text
    if colon and _OWN_TEXT.match(announced):
        return announced
    is_own = colon is None or _OWN_COLON.match(announced) or _OWN_COLON.match(strip_lead_in(announced))
    return text if is_own else announced


def _first_question(clauses: list[Clause]) -> int:
    """Return the index of the first clause with the words of a question; 0 if none has them: then all of it asks."""
    asking = (
        at
        for at, clause in enumerate(clauses)
        if _QUESTION_START.match(clause.text) and not _TAG_QUESTION.match(clause.text)
    )
    return next(asking, 0)


def _asserted(clauses: list[Clause]) -> list[Clause]:
    """Return the clauses before a hypothesis, without reported speech, which "but", "so" or "because" ends."""
    asserted, reported = [], False
    for clause in clauses:
        if _HYPOTHESIS.match(clause.text):
            break
        reported = (reported and clause.conjunction not in {"but", "so", "because"}) or _is_reported(clause.text)
        if not reported and not _CONDITIONAL.search(clause.text):
            asserted.append(clause)
    return asserted


def _is_reported(words: str) -> bool:
    return not words[:2].lower().startswith(("i ", "i'", "my")) and _REPORTED_SPEECH.search(words) is not None
