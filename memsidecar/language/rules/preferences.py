"""How the user wants to have it: choices, diet, and orders that shall hold from now on."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.interests import is_liked
from memsidecar.language.rules.rule import Claim, beginning, matching, table
from memsidecar.language.rules.values import is_telling, thing, things, trimmed, up_to_the_end, whole

PREFERENCE = FactType.PREFERENCE


_SUBJECTS = (
    (
        re.compile(
            r"\b(?:answers?|repl(?:y|ies)|responses?|explanations?|bullet|bullets|concise|verbose|brief|emojis?|jargon"
            r"|tone|examples|summar(?:y|ies)|short|step[- ]by[- ]step|formal|informal)\b",
            re.I,
        ),
        "answer style",
    ),
    (re.compile(r"\b(?:dark|light) (?:mode|theme|themes)\b", re.I), "theme"),
    (re.compile(r"\b(?:window|aisle|middle) seats?\b", re.I), "seat"),
    (re.compile(r"\b(?:metric|imperial|celsius|fahrenheit|kilomet\w+|miles)\b", re.I), "units"),
    (re.compile(r"\b(?:tabs|spaces)\b", re.I), "indentation"),
    (re.compile(r"\b(?:neovim|vim|emacs|vs ?code|intellij|pycharm|sublime|nano)\b", re.I), "editor"),
    (re.compile(r"\b(?:e-?mail|phone calls?|text(?:ing)?|slack|whatsapp|calls)\b", re.I), "contact"),
)
_OVER = re.compile(r"\s(?:over|to|rather than|instead of|than|more than)\s", re.IGNORECASE)


def subject(value: str) -> str:
    """One current value is kept under a key: a key says what the choice is about, as far as the words tell."""
    for pattern, key in _SUBJECTS:
        if pattern.search(value):
            return key
    return f"prefers:{value.lower()[:60]}"


def _preferred(rest: str) -> Iterator[str]:
    first = _OVER.split(rest, maxsplit=1)[0]
    if re.match(r"to \w+\W*$", first):
        return
    value = up_to_the_end(
        re.sub(
            r"^(?:to (?:use|have|get|see|be|keep|go with) |to |it when |if you |my |the |an? |having |using |when )",
            "",
            first,
            flags=re.IGNORECASE,
        )
    )
    if is_telling(value) and is_liked(value) and len(value.split()) <= 8:
        yield value


def _wished(rest: str) -> Iterator[str]:
    """Said for this once, as a rule; only of what comes again and again is it a preference."""
    yield from (value for value in _preferred(rest) if not subject(value).startswith("prefers:"))


def _instruction(rest: str) -> Iterator[str]:
    yield from (value for value in whole(rest) if len(value.split()) <= 20)


_diet = beginning(
    r"(?:an? )?(?:strict(?:ly)? |lifelong )?(vegan|vegetarian|pescatarian|pescetarian|lactose[- ]intolerant"
    r"|gluten[- ]free|gluten[- ]intolerant|coeliac|celiac|teetotal|keto)\b(?!\s+(?:food|restaurants?|options?"
    r"|cooking))",
    group=1,
)


def _avoided(value: str) -> str:
    return f"avoids:{value.lower()[:60]}"


def _eaten(rest: str) -> Iterator[str]:
    yield from (
        value
        for value in things(rest)
        if not re.match(
            r"(?:right|much|enough|well|out|before|after|until|breakfast|lunch|dinner|properly|without)\b",
            value,
            re.IGNORECASE,
        )
    )


_ANSWERS = r"(?:your |the |all |all your )?(?:answers?|repl(?:y|ies)|responses?|explanations?)"
FORMS = [
    *table(
        PREFERENCE,
        subject,
        (r"i (?:prefer|favor|favour) ", _preferred, 0.85),
        (r"i'd (?:prefer|appreciate) ", _wished, 0.75),
        (r"i'd rather (?:have|get|use|see|read|work with|you use|you give me) ", _preferred, 0.75),
        (r"my preference is (?:for )?", _preferred, 0.85),
    ),
    *table(
        PREFERENCE,
        "diet",
        (r"(?:i'm|i am) (?:a )?(?:strict )?", _diet, 0.85),
        (r"(?:i'm )?(?:a )?(?=(?:vegan|vegetarian|pescatarian) here\b)", _diet, 0.8),
    ),
    *table(
        PREFERENCE,
        _avoided,
        (r"i (?:can't|don't|never) (?:eat|drink) ", _eaten, 0.8),
    ),
    *table(
        PREFERENCE,
        "kind of person",
        (
            r"i'm (?:more of )?an? (?=(?:morning|night|cat|dog|tea|coffee|city|beach|mountain|visual|outdoor"
            r"|outdoorsy) (?:person|learner)\b)",
            thing,
            0.75,
        ),
    ),
    *table(
        PREFERENCE,
        "answer style",
        (
            r"(?:please )?(?:always )?keep (?:it|things) (?=(?:short|brief|concise|simple|to the point)\b)",
            _instruction,
            0.7,
        ),
        (
            rf"(?:please )?(?:always |just )?(?:keep|make) {_ANSWERS} (?=(?:short|brief|concise|simple|detailed|formal"
            rf"|casual|to the point|under|below|in|as short|less|more|very|super|technical|friendly)\b)",
            _instruction,
            0.8,
        ),
        (
            r"(?:please )?(?:always )?(?:be|answer|reply|respond|write|talk to me|speak to me)(?: me)? (?=(?:concise"
            r"(?:ly)?|brief(?:ly)?|in (?:bullet|short|plain|simple|full|a |English|German|French|Spanish|Italian|Dutch"
            r"|Portuguese|Japanese|British)|with (?:bullet|code|examples)|formally|informally|less verbose"
            r"|more concise|straight to)\b)",
            _instruction,
            0.75,
        ),
    ),
]


_STANDING = re.compile(
    r"(?:please )?(?:from now on|going forward|in (?:the )?future|in general|for all future (?:answers"
    r"|replies))(?:,? please)?,? (?:please )?(?P<rule>(?:always |never |don't |only |use |answer |reply "
    r"|respond |write |keep |stop |give |include |avoid |skip |show |be |format |explain ).+)$"
    r"|(?:please )?(?P<after>(?:use|answer|reply|respond|write|keep|don't|stop|give me|include|avoid"
    r"|be) .{3,100}?),? (?:from now on|going forward|in (?:the )?future)$"
    r"|(?:please )?(?P<always>(?:always|never|stop|don't ever) (?:use|using|answer|answering|reply|replying"
    r"|respond|include|including|write|writing|format|suggest|suggesting|apologi[sz]e|apologi[sz]ing|explain"
    r"|explaining) .+)$"
    r"|(?P<no>(?:please )?(?:(?:don't|do not) use|no) (?:more )?(?:emojis?|jargon|bullet points|abbreviations"
    r"|markdown|tables|slang|exclamation marks|em dashes).*)$",
    re.IGNORECASE,
)


@matching(_STANDING)
def standing_order(clause: str) -> Iterator[Claim]:
    """What shall hold from now on is a preference; what is asked once is none."""
    match = _STANDING.match(clause)
    if match:
        value = trimmed(
            match["rule"]
            or match["after"]
            or match["always"]
            or re.sub("^please ", "", match["no"], flags=re.IGNORECASE)
        )
        if value and len(value.split()) <= 20:
            yield Claim(PREFERENCE, subject(value), value, 0.8)
