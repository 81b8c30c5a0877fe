"""Rules for orders about answers: language, length, tone, format, emojis. Each aspect has a key of its own."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import LANGUAGES
from memsidecar.language.rules.rule import FactClaim, pattern_rules, reading, with_keywords
from memsidecar.language.rules.values import trim, whole_phrase

PREFERENCE = FactType.PREFERENCE

MAX_ORDER_WORDS, MAX_UNWANTED_WORDS = 20, 8

_LANGUAGE = rf"(?:{'|'.join(sorted(LANGUAGES, key=len, reverse=True))})"
_ASPECTS = {
    "answer language": rf"(?:in|into|to|speak|use|using) (?:(?:british|american|simple|plain) )?{_LANGUAGE}"
    rf"|{_LANGUAGE} (?:only|answers?|replies|responses?)",
    "spelling": r"(?:british|american|uk|us|australian|canadian) (?:english|spellings?)",
    "emojis": r"emojis?|emoticons?|smileys?",
    "bullet points": r"bullets?|bullet(?:ed)?[- ](?:points?|lists?)|full sentences|complete sentences|prose"
    r"|paragraphs?",
    "tables": r"tables?",
    "markdown": r"markdown|plain text|headings?|headers?|bold(?: text)?",
    "code language": r"code (?:examples?|samples?|snippets?)? ?(?:is |are )?in [\w+#.]+",
    "answer format": r"json|xml|yaml|csv|latex|code ?blocks?",
    "code first": r"(?:the )?code first",
    "comments": r"(?:code )?comments?|docstrings?",
    "date format": r"dates?|iso (?:format|8601)|24[- ]hour|12[- ]hour",
    "steps": r"step[- ]by[- ]step|one step at a time|numbered (?:lists?|steps)",
    "apologies": r"apologi[sz](?:e|es|ing)|apolog(?:y|ies)|saying sorry|say sorry",
    "questions": r"(?:follow-?up|clarifying) questions?|ask (?:me )?(?:first|before)",
    "sources": r"sources?|citations?|references|links?",
    "examples": r"examples?|analog(?:y|ies)",
    "small talk": r"small ?talk|pleasantries|chit-?chat|intro(?:duction)?s?|preambles?|disclaimers?|fluff|filler"
    r"|flattery"
    r"|compliments?|praise",
    "wording": r"jargon|(?:plain|simple|simpler|easy) (?:words|terms|language|wording)|slang|abbreviations|acronyms"
    r"|buzzwords|technical terms|layman'?s terms|exclamation (?:marks|points)|em[- ]dash(?:es)?|(?:passive"
    r"|active) voice|like i'm (?:five|5|an? \w+)",
    "address": r"(?:first|last|given) name|sir|madam|ma'am",
    "answer tone": r"tone|formal(?:ly)?|informal(?:ly)?|casual(?:ly)?|friendl(?:y|ier)|polite(?:ly)?"
    r"|professional(?:ly)?"
    r"|blunt(?:ly)?|direct(?:ly)?|honest(?:ly)?|critical|sarcas\w+|humou?r|humorous|jokes?|funny|playful|serious"
    r"|sugar-?coat(?:ing)?|encouraging|warm(?:er|ly)?|cheerful|chatty|robotic|enthusiastic|condescending"
    r"|patroni[sz]ing",
    "answer length": r"short(?:er|ly)?|brief(?:ly|er)?|concise(?:ly)?|succinct(?:ly)?|terse(?:ly)?|compact|long(?:er)?"
    r"|length(?:y)?|detail(?:s|ed)?|in[- ]depth|thorough(?:ly)?|verbose|wordy|ramble|rambling|elaborate|crisp"
    r"|to the point|tl;?dr|(?:under|below|at most|max(?:imum)?|no more than|within|fewer than|less than) [\w-]+"
    r" (?:words|sentences|lines|paragraphs|characters)|(?:one|two|three|1|2|3)(?: or (?:two|three|2|3))? (?:sentences?"
    r"|lines?)|one-liners?",
    "answer style": r"answers?|repl(?:y|ies)|responses?|explanations?|simple|technical|summar(?:y|ies)",
}
_ASPECT = {key: re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE) for key, pattern in _ASPECTS.items()}
_BETWEEN_ORDERS = re.compile(r",\s*(?:(?:and|but) )?|;\s*|\s+(?:and|but)\s+(?:also )?", re.IGNORECASE)

_SUBJECTS = {
    "theme": r"(?:dark|light) (?:mode|themes?)",
    "seat": r"(?:window|aisle|middle) seats?",
    "units": r"metric|imperial|celsius|fahrenheit|kilomet\w+|miles",
    "indentation": r"tabs|spaces",
    "editor": r"neovim|vim|emacs|vs ?code|intellij|pycharm|sublime|nano",
    "contact": r"e-?mail|phone calls?|text(?:ing)?|slack|whatsapp|calls",
}
_SUBJECT = {key: re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE) for key, pattern in _SUBJECTS.items()}
# Their words are about answers in any preference. Others need the word: "short stories" is no length of answers.
_CLEAR_ASPECTS = frozenset(
    (
        "answer language",
        "spelling",
        "emojis",
        "bullet points",
        "markdown",
        "code language",
        "steps",
        "apologies",
        "wording",
    )
)
_USED = _CLEAR_ASPECTS - {"code language", "apologies"} | {"address", "answer format"}
_LEFT_OUT = _CLEAR_ASPECTS - {"answer language", "spelling", "code language", "steps"} | {
    *("tables", "small talk", "answer tone", "answer length", "sources", "examples", "questions"),
}

_POLITE_END = re.compile(r",? (?:please|pls|plz|thanks|thank you|ok|okay)\W*$", re.IGNORECASE)
_ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|explanations?|code (?:examples|samples|snippets))"
_SAYS_ANSWERS = re.compile(rf"\b(?:{_ANSWERS}|tone)\b", re.IGNORECASE)
_PLEASE = r"(?:(?:please|just|kindly|always|only|try to|you can|feel free to) ){0,2}"
_YOUR = r"(?:your |the |all |all your |all the |any |my )?"
# An order for one text: "use a table for this", "keep the summary short".
_ONE_OFF = re.compile(
    r"\b(?:this|that|these|those|it's|its|following|below|above|here|config|file|function|page|button|class|test|tests"
    r"|image|picture|story|poem|essay|script|commit|branch|repo|email|letter|readme)\b",
    re.IGNORECASE,
)
_FROM_NOW_ON = (
    r"(?:from now on(?:wards)?|going forward|in (?:the )?future|for all future (?:answers|replies)|in general)"
)
_STANDING = re.compile(
    rf"(?:please )?{_FROM_NOW_ON}(?:,? please)?,? (?:please )?(?:you (?:should|must|can) )?"
    r"(?P<rule>(?:always |never |don't |only |use |answer |reply |respond |write |keep |stop |give |include |avoid "
    r"|skip |show |be |format |explain |speak |talk |call |ask |add |make |leave |assume |treat |start |end ).+)$"
    rf"|(?:please )?(?P<after>(?:use|answer|reply|respond|write|keep|don't|stop|give me|include|avoid|be|speak|talk"
    rf"|skip|show me|ask me|explain) .{{3,100}}?),? {_FROM_NOW_ON}$"
    r"|(?:please )?(?P<always>(?:always|never|don't ever|do not ever) (?:use|answer|reply|respond|include|write|format"
    r"|suggest|apologi[sz]e|explain|show|ask|give me|add|start|end|put|assume|check|tell|speak|talk|keep|run|commit"
    r"|push|deploy|merge|touch|modify|rename|remove|refer|make|recommend|mention|call me|send|cite|provide|translate"
    r"|generate|create|change|edit|delete|install|skip|return|be)\b.+)$"
    r"|(?:please )?(?:you (?:can|may) )?(?P<stop>stop (?:using|answering|replying|including|writing|suggesting"
    r"|apologi[sz]ing|explaining|adding|saying|asking|calling me|being|repeating|giving|starting|ending)\b.*)$",
    re.IGNORECASE,
)
# Orders about work and not about answers: "never push directly to main" is no tone.
_ACTION = re.compile(
    r"(?:always|never|don't ever|stop) (?:commit|push|run|deploy|merge|touch|modify|rename|remove|delete|install"
    r"|change|edit"
    r"|create|check|make|send|put|assume|generate)",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"(?:please )?(?P<order>(?:(?:don't (?:use|add|include|give me|send|write|put|repeat|ask|apologi[sz]e|sugar-?coat"
    r"|be)|avoid|skip|leave out|drop|cut|spare me|stop with|no need for|no)(?: more)?"
    r"|without|i (?:don't (?:want|need|like)|hate|dislike)|you don't (?:have|need) to) .+)$",
    re.IGNORECASE,
)
_ABOUT_TASTE = re.compile(r"i (?:don't (?:need|like)|hate|dislike)\b", re.IGNORECASE)
_TITLES = r"(?:sir|madam|ma'am|miss|dude|bro|buddy|mate|boss|man|honey|dear)"


def aspect(words: str) -> str:
    """Return the aspect of an answer that the words are about; an empty text if they are about none."""
    return next((key for key, pattern in _ASPECT.items() if pattern.search(words)), "")


def order_key(value: str) -> str:
    """Return the key of an order to the assistant: its aspect or subject, else the order itself.

    A key has one current value, so a key that is too general would replace unrelated preferences.
    """
    return ("" if _ACTION.match(value) else aspect(value)) or _subject(value) or f"prefers:{value.lower()[:60]}"


def preference_key(value: str) -> str:
    """Return the key of a preference: an aspect only if it is about answers, else its subject, else the value."""
    key = aspect(value)
    if key in _CLEAR_ASPECTS or (key and _SAYS_ANSWERS.search(value)):
        return key
    return _subject(value) or f"prefers:{value.lower()[:60]}"


def is_about_answers(value: str) -> bool:
    return _SAYS_ANSWERS.search(value) is not None and bool(aspect(value))


def _subject(words: str) -> str:
    return next((key for key, pattern in _SUBJECT.items() if pattern.search(words)), "")


def orders(rest: str) -> Iterator[str]:
    """Yield the orders of a phrase, one for each aspect: "short and in German" has two."""
    for phrase in whole_phrase(rest):
        if len(phrase.split()) <= MAX_ORDER_WORDS:
            yield from filter(None, (trim(_POLITE_END.sub("", order)) for order in _by_aspect(phrase)))


def _by_aspect(phrase: str) -> Iterator[str]:
    start = 0
    for cut in _BETWEEN_ORDERS.finditer(phrase):
        following = _BETWEEN_ORDERS.search(phrase, cut.end())
        after = aspect(phrase[cut.end() : following.start() if following else len(phrase)])
        before = aspect(phrase[start : cut.start()])
        if before and after and before != after:
            yield phrase[start : cut.start()]
            start = cut.end()
    yield phrase[start:]


def _aspects(rest: str) -> Iterator[str]:
    """Yield orders about an aspect of answers. Other orders are mostly for one occasion."""
    if not _ONE_OFF.search(rest):
        yield from (order for order in orders(rest) if aspect(order))


def _used(rest: str) -> Iterator[str]:
    """Yield what answers should use; with the verb if it is one word, which alone would say nothing."""
    wanted = (order for order in _aspects(rest) if aspect(order) in _USED or "tone" in order.lower())
    yield from (order if " " in order else f"use {order}" for order in wanted)


def _subjects(rest: str) -> Iterator[str]:
    if not _ONE_OFF.search(rest):
        yield from (order for order in orders(rest) if _subject(order) in {"units", "indentation"})


def _about_answers(rest: str) -> Iterator[str]:
    if _SAYS_ANSWERS.search(rest):
        yield from _aspects(rest)


RULES = [
    *pattern_rules(
        PREFERENCE,
        "answer language",
        (r"my preferred (?:answer |response |reply )?language is ", "language", reading(_LANGUAGE), 0.85),
    ),
    *pattern_rules(
        PREFERENCE,
        order_key,
        (rf"{_PLEASE}keep (?:it|things|{_YOUR}{_ANSWERS}) (?!up\b)", "keep", _aspects, 0.75),
        (rf"{_PLEASE}make {_YOUR}{_ANSWERS} ", "make", _aspects, 0.8),
        (
            rf"{_PLEASE}(?:answer|reply|respond|write|talk|speak|explain)(?: things| everything)?(?: to me| with me"
            rf"| me)? "
            r"(?=(?:in|with|without|using|more|less|as|like|briefly|concisely|succinctly|formally|informally|casually"
            r"|directly"
            rf"|bluntly|shortly|short|step|to the point|only|full|{_LANGUAGE})\b)",
            "answer explain reply respond speak talk write",
            _aspects,
            0.75,
        ),
        (rf"{_PLEASE}be (?:a (?:bit|little) )?", "be", _aspects, 0.75),
        (rf"{_PLEASE}use (?!an? |the |this |that |my |it )", "use", _used, 0.75),
        (rf"{_PLEASE}use (?!an? |the |this |that |my |it )", "use", _subjects, 0.75),
        (
            r"(?:please )?(?:write|give me|show me|format) (?=(?:all )?(?:dates|times)\b)",
            "dates times",
            _aspects,
            0.75,
        ),
        (rf"{_PLEASE}give me (?=(?:\w+ ){{1,2}}(?:answers|replies|responses)\b)", "give", _aspects, 0.75),
        (
            r"i(?:'d)? (?:want|like|love|enjoy|appreciate) (?:to (?:get|have|see) )?(?!your\b)",
            "answer answers code explanation explanations replies reply response responses",
            _about_answers,
            0.75,
        ),
        (
            r"i(?:'d)? (?:want|need|like|love|prefer)(?: for)? you to (?=(?:be|answer|reply|respond|speak|talk|keep"
            r"|use|avoid"
            r"|stop|not|address|explain|ask|always|never)\b)",
            "you",
            _aspects,
            0.75,
        ),
        (
            r"i(?:'d (?:prefer|appreciate) that| (?:prefer|appreciate|like|love)(?: it)? when) you ",
            "you",
            orders,
            0.75,
        ),
        (r"(?:please )?(?=don't call me )", "call", reading(rf"don't call me {_TITLES}\b"), 0.8),
        (r"(?:please )?(?=(?:call|address) me by my )", "call address", orders, 0.8),
    ),
]


@with_keywords("now forward future general always never stop ever")
def standing_order(clause: str) -> Iterator[FactClaim]:
    """Find instructions that hold from now on; an instruction for once is no preference."""
    match = _STANDING.match(clause)
    if match:
        order = match["rule"] or match["after"] or match["always"] or match["stop"]
        yield from (FactClaim(PREFERENCE, order_key(value), value, 0.8) for value in orders(order))


@with_keywords("no use avoid skip leave drop cut spare stop without want need like have hate dislike")
def unwanted(clause: str) -> Iterator[FactClaim]:
    """Find what answers must not have: "no emojis", "skip the small talk"."""
    match = _UNWANTED.match(clause)
    if match is None or _ONE_OFF.search(clause):
        return
    first, *rest = (*orders(re.sub("^you ", "", match["order"], flags=re.IGNORECASE)), "")
    if _is_unwanted(first) and len(first.split()) <= MAX_UNWANTED_WORDS:
        yield from (FactClaim(PREFERENCE, aspect(order), order, 0.8) for order in (first, *rest) if aspect(order))


def _is_unwanted(order: str) -> bool:
    """Whether the order is about an aspect that an answer can go without."""
    key = aspect(order)
    return key in _LEFT_OUT and (not _ABOUT_TASTE.match(order) or key in _CLEAR_ASPECTS or is_about_answers(order))
