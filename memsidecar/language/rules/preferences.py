"""Rules for preferences: choices, diet, answer style, standing orders."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.interests import is_liked
from memsidecar.language.rules.rule import FactClaim, pattern_rules, reading, with_keywords
from memsidecar.language.rules.values import leading_phrase, names_something, thing, things, trim, whole_phrase

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

_ANSWERS = r"(?:your |the |all |all your )?(?:answers?|repl(?:y|ies)|responses?|explanations?)"
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


def preference_key(value: str) -> str:
    """Return the key of a preference: its subject if a word tells it, else the value itself.

    A key has one current value, so a key that is too general would replace unrelated preferences.
    """
    for pattern, key in _SUBJECTS:
        if pattern.search(value):
            return key
    return f"prefers:{value.lower()[:60]}"


def _preference(rest: str) -> Iterator[str]:
    first = _OVER.split(rest, maxsplit=1)[0]
    if re.match(r"to \w+\W*$", first):
        return
    value = leading_phrase(
        re.sub(
            r"^(?:to (?:use|have|get|see|be|keep|go with) |to |it when |if you |my |the |an? |having |using |when )",
            "",
            first,
            flags=re.IGNORECASE,
        )
    )
    if names_something(value) and is_liked(value) and len(value.split()) <= 8:
        yield value


def _wish(rest: str) -> Iterator[str]:
    """Yield what "I'd prefer" asks for, only with a known subject: other wishes are mostly for one occasion."""
    yield from (value for value in _preference(rest) if not preference_key(value).startswith("prefers:"))


def _instruction(rest: str) -> Iterator[str]:
    yield from (value for value in whole_phrase(rest) if len(value.split()) <= 20)


_diet = reading(
    r"(?:an? )?(?:strict(?:ly)? |lifelong )?(vegan|vegetarian|pescatarian|pescetarian|lactose[- ]intolerant"
    r"|gluten[- ]free|gluten[- ]intolerant|coeliac|celiac|teetotal|keto)\b(?!\s+(?:food|restaurants?|options?"
    r"|cooking))",
    group=1,
)


def _avoidance_key(value: str) -> str:
    return f"avoids:{value.lower()[:60]}"


def _food(rest: str) -> Iterator[str]:
    yield from (
        value
        for value in things(rest)
        if not re.match(
            r"(?:right|much|enough|well|out|before|after|until|breakfast|lunch|dinner|properly|without)\b",
            value,
            re.IGNORECASE,
        )
    )


RULES = [
    *pattern_rules(
        PREFERENCE,
        preference_key,
        (r"i (?:prefer|favor|favour) ", "favor favour prefer", _preference, 0.85),
        (r"i'd (?:prefer|appreciate) ", "appreciate prefer", _wish, 0.75),
        (r"i'd rather (?:have|get|use|see|read|work with|you use|you give me) ", "rather", _preference, 0.75),
        (r"my preference is (?:for )?", "preference", _preference, 0.85),
    ),
    *pattern_rules(
        PREFERENCE,
        "diet",
        (
            r"(?:i'm|i am) (?:a )?(?:strict )?",
            "celiac coeliac gluten intolerant keto pescatarian pescetarian teetotal vegan vegetarian",
            _diet,
            0.85,
        ),
        (r"(?:i'm )?(?:a )?(?=(?:vegan|vegetarian|pescatarian) here\b)", "here", _diet, 0.8),
    ),
    *pattern_rules(
        PREFERENCE,
        _avoidance_key,
        (r"i (?:can't|don't|never) (?:eat|drink) ", "drink eat", _food, 0.8),
    ),
    *pattern_rules(
        PREFERENCE,
        "kind of person",
        (
            r"i'm (?:more of )?an? (?=(?:morning|night|cat|dog|tea|coffee|city|beach|mountain|visual|outdoor"
            r"|outdoorsy) (?:person|learner)\b)",
            "person learner",
            thing,
            0.75,
        ),
    ),
    *pattern_rules(
        PREFERENCE,
        "answer style",
        (
            r"(?:please )?(?:always )?keep (?:it|things) (?=(?:short|brief|concise|simple|to the point)\b)",
            "keep",
            _instruction,
            0.7,
        ),
        (
            rf"(?:please )?(?:always |just )?(?:keep|make) {_ANSWERS} (?=(?:short|brief|concise|simple|detailed|formal"
            rf"|casual|to the point|under|below|in|as short|less|more|very|super|technical|friendly)\b)",
            "keep make",
            _instruction,
            0.8,
        ),
        (
            r"(?:please )?(?:always )?(?:be|answer|reply|respond|write|talk to me|speak to me)(?: me)? (?=(?:concise"
            r"(?:ly)?|brief(?:ly)?|in (?:bullet|short|plain|simple|full|a |English|German|French|Spanish|Italian|Dutch"
            r"|Portuguese|Japanese|British)|with (?:bullet|code|examples)|formally|informally|less verbose"
            r"|more concise|straight to)\b)",
            "be answer reply respond write talk speak",
            _instruction,
            0.75,
        ),
    ),
]


@with_keywords("now forward future general always never stop ever use no")
def standing_order(clause: str) -> Iterator[FactClaim]:
    """Find instructions that hold from now on; an instruction for once is no preference."""
    match = _STANDING.match(clause)
    if match:
        value = trim(
            match["rule"]
            or match["after"]
            or match["always"]
            or re.sub("^please ", "", match["no"], flags=re.IGNORECASE)
        )
        if value and len(value.split()) <= 20:
            yield FactClaim(PREFERENCE, preference_key(value), value, 0.8)
