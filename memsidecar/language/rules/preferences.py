"""Rules for preferences: choices, diet, kinds of persons."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.interests import is_liked
from memsidecar.language.rules.rule import pattern_rules, reading
from memsidecar.language.rules.values import leading_phrase, names_something, thing, things
from memsidecar.language.rules.wishes import preference_key

PREFERENCE = FactType.PREFERENCE


_OVER = re.compile(r"\s(?:over|to|rather than|instead of|than|more than)\s", re.IGNORECASE)


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


def _preferred_to(rest: str) -> Iterator[str]:
    yield from thing(re.split(r" (?:better|more) than ", rest, maxsplit=1)[0])


_diet = reading(
    r"(?:an? )?(?:strict(?:ly)? |lifelong )?(vegan|vegetarian|pescatarian|pescetarian|lactose[- ]intolerant"
    r"|gluten[- ]free|gluten[- ]intolerant|coeliac|celiac|teetotal|keto)\b(?!\s+(?:food|restaurants?|options?"
    r"|cooking))",
    group=1,
)


_FOODS = r"dairy|gluten|nuts|peanuts|sugar|alcohol|caffeine|wheat|soy|eggs|milk|lactose|shellfish|meat|pork|salt|sweets"


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
        (r"i'd (?:take|choose|pick) (?=.{2,40} over )", "take choose pick", _preference, 0.75),
        (r"i (?:like|enjoy|love) (?=.{2,40} (?:better|more) than )", "better more", _preferred_to, 0.75),
    ),
    *pattern_rules(
        PREFERENCE,
        "diet",
        (
            r"(?:i'm|i've been|i went|i turned|i became) (?:an? )?(?:strict )?",
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
        (rf"i (?:can't|don't|shouldn't) have (?=(?:any )?(?:{_FOODS})\b)", "have", things, 0.75),
        (r"i'm (?:\w+ )?(?:intolerant to|intolerant of|sensitive to) ", "intolerant sensitive", things, 0.8),
        (
            r"i (?=(?:don't|never) (?:drink|smoke)\W*$)",
            "drink smoke",
            reading(r"(?:don't|never) (?:drink|smoke)"),
            0.75,
        ),
        (
            r"i(?:'ve)? (?=(?:quit|stopped|gave up|given up) (?:smoking|drinking|alcohol|sugar|caffeine|coffee|meat"
            r"|sweets)\b)",
            "quit stopped gave given",
            thing,
            0.75,
        ),
    ),
    *pattern_rules(
        PREFERENCE,
        "kind of person",
        (
            r"i'm (?:more of )?an? (?=(?:night owl|early bird|early riser|homebody|introvert|extrovert)\b|(?:morning"
            r"|night|cat|dog|tea|coffee|city|beach|mountain|visual|outdoor"
            r"|outdoorsy) (?:person|learner)\b)",
            "person learner owl bird riser homebody introvert extrovert",
            thing,
            0.75,
        ),
    ),
    *pattern_rules(
        PREFERENCE,
        lambda value: value.split()[0].lower(),
        (
            r"i (?:like|take|drink|have|eat) my (?=(?:coffee|tea|steak|eggs|pizza|burgers?) )",
            "coffee tea steak eggs pizza burger burgers",
            thing,
            0.75,
        ),
    ),
]
