"""Rules for attributes, skills, education and goals: "my budget is 2,000 euros", "I'm new to Rust"."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import LANGUAGES, NOT_NAMES, TOOLS
from memsidecar.language.rules.rule import FactClaim, pattern_rules, reading, with_keywords
from memsidecar.language.rules.values import any_of, leading_phrase, names_something, thing

PROFILE = FactType.USER_PROFILE

MAX_ATTRIBUTE_WORDS = 7

_NAMED = (
    *(
        "editor",
        "text editor",
        "ide",
        "shell",
        "terminal",
        "browser",
        "os",
        "operating system",
        "distro",
        "database",
        "db",
    ),
    *("programming language", "main language", "framework", "package manager", "cloud provider", "phone", "laptop"),
    *("computer", "machine", "desktop", "tablet", "gpu", "keyboard", "keyboard layout", "car", "bike", "motorbike"),
    *("camera", "nickname", "username", "user name", "handle", "github", "github handle", "github username", "website"),
    *(
        "blog",
        "surname",
        "last name",
        "middle name",
        "maiden name",
        "nationality",
        "citizenship",
        "religion",
        "star sign",
    ),
    *("zodiac sign", "degree", "major", "team", "department", "school", "university", "gym", "bank", "airline", "band"),
)
_MEASURED = (
    *("budget", "salary", "blood type", "shoe size", "shirt size", "t-shirt size", "dress size", "ring size", "height"),
    *("weight", "zip code", "postcode", "postal code", "student id", "employee id", "customer number", "license plate"),
)
_FREE = ("goal", "main goal", "goal this year", "new year's resolution", "dream", "dream job")


_ATTRIBUTE = re.compile(
    rf"(?:my|our) (?:(?:current|new|main|default|primary|favou?rite|work|home|personal"
    rf"|old) )?(?:(?P<named>{any_of(_NAMED)})"
    rf"|(?P<measured>{any_of(_MEASURED)})|(?P<free>{any_of(_FREE)}))(?: of choice| (?:for"
    rf"|per) [\w' ]{{2,25}}?)?(?:'s| is| are|:) "
    r"(?:called |named |just |still |now |about |around |roughly |currently ){0,2}(?:an? |the )?(?P<rest>.+)",
    re.IGNORECASE,
)
_STATE = re.compile(r"\d+ (?:years?|months?|days?|weeks?|times|%)|\d+%|\w+(?:ing|ed)\b", re.IGNORECASE)
_experience = reading(
    r"(?:over |more than |about |almost )?[\w+]+ years'? (?:of )?(?:\w+ ){0,2}experience(?: (?:in"
    r"|with|as) [\w+#. ]{2,40})?"
)
_team_size = reading(r"team of [\w -]{1,40}?(?=$|[,.;]| (?:at|in|and|who|that|for)\b)")
_work_mode = reading(
    r"(?:fully |mostly |100% )?(?:remote(?:ly)?|from home|part[- ]time|full[- ]time|night shifts|nights|freelance"
    r"|(?:three|four|3|4) days a week)(?=$|[,.;!]| (?:now|these days|and|so|but|because|since|from|at|for)\b)"
)


def _education(rest: str) -> Iterator[str]:
    phrase = leading_phrase(rest)
    if (
        names_something(phrase)
        and len(phrase.split()) <= MAX_ATTRIBUTE_WORDS
        and not re.match(
            r"(?:hard"
            r"|for)\b",
            phrase,
        )
    ):
        yield phrase


def _goal(rest: str) -> Iterator[str]:
    value = leading_phrase(rest)
    if 1 < len(value.split()) <= MAX_ATTRIBUTE_WORDS and _is_goal(value):
        yield value


def _is_goal(value: str) -> bool:
    return not re.search(
        r"\b(?:this|that|these|it)\b(?! (?:year|month|summer|season|spring"
        r"|winter))",
        value,
        re.IGNORECASE,
    )


def _skill(rest: str) -> Iterator[str]:
    """Yield "new to Rust", where the subject is named: not "new to this"."""
    match = re.match(r"((?:\w+ ){1,3}?(?:to|in|with|at|on)) (.+)", rest, re.IGNORECASE)
    subject = leading_phrase(match[2]) if match else ""
    if match and names_something(subject) and len(subject.split()) <= 4 and not re.match(r"(?:\w+ing|work)\b", subject):
        yield f"{match[1]} {subject}"


def _skill_key(value: str) -> str:
    return f"skill:{re.sub(r'^.*?(?: to| in| with| at| on) ', '', value.lower())[:60]}"


RULES = [
    *pattern_rules(
        PROFILE,
        _skill_key,
        (
            r"i'm (?:\w+ )?(?=(?:new to|an? (?:(?:complete|total|absolute) )?(?:beginner|novice|newbie|expert) (?:in"
            r"|with|at|on)"
            r"|experienced (?:in|with)|proficient (?:in|with)) )",
            "new beginner novice newbie expert experienced proficient",
            _skill,
            0.75,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "height",
        (
            r"i'm (?:about |around )?",
            "i",
            reading(r"\d{3} ?cm\b|\d\.\d+ ?m(?:eters)? tall|\d(?:'\d{1,2}|ft ?\d*)\b"),
            0.85,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "weight",
        (
            r"i weigh (?:about |around )?",
            "weigh",
            reading(r"\d{2,3}(?:\.\d)? ?(?:kg|kilos?|lbs?|pounds|stone)\b"),
            0.85,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "volunteering",
        (r"i volunteer (?:at|for|with) ", "volunteer", thing, 0.75),
    ),
    *pattern_rules(
        PROFILE,
        "goal",
        (r"i(?:'m)? (?=saving (?:up )?for (?:an?|my|our|the) )", "saving", thing, 0.7),
        (r"i (?:want|hope|plan|aim) to (?=.{3,60}\b(?:this|next) year\b)", "year", _goal, 0.7),
    ),
    *pattern_rules(
        PROFILE,
        "experience",
        (r"i have ", "experience", _experience, 0.8),
    ),
    *pattern_rules(
        PROFILE,
        "team",
        (r"i (?:manage|lead|run|head|supervise|am in charge of) an? (?:\w+ )?(?=team of )", "team", _team_size, 0.8),
    ),
    *pattern_rules(
        PROFILE,
        "work mode",
        (r"i work ", "work", _work_mode, 0.7),
    ),
    *pattern_rules(
        PROFILE,
        "education",
        (
            r"i(?:'ve| have) an? (?=(?:[\w']+ ){0,2}?(?:degree|phd|doctorate|master's|masters|bachelor's|mba"
            r"|diploma) in )",
            "degree phd doctorate master masters bachelor mba diploma",
            _education,
            0.8,
        ),
        (
            r"i (?=(?:studied|majored in|graduated (?:in|from)|(?:finished|completed|got|did) (?:my|a) (?:degree|phd"
            r"|masters?|master's|bachelor's) in) (?!an? |the |this |that |it\b|your |my |hard\b|for "
            r"|how |what )\w)",
            "studied majored graduated finished completed got did",
            _education,
            0.75,
        ),
    ),
]


@with_keywords(" ".join((*_NAMED, *_MEASURED, *_FREE)))
def attribute(clause: str) -> Iterator[FactClaim]:
    """Find the value of an attribute: "my editor is helix", "my shoe size is 43", "my goal is to run a marathon"."""
    match = _ATTRIBUTE.match(clause)
    if match is None:
        return
    key = (match["named"] or match["measured"] or match["free"]).lower()
    value = leading_phrase(match["rest"].removeprefix("to ") if match["free"] else match["rest"])
    is_short = 0 < len(value.split()) <= MAX_ATTRIBUTE_WORDS and (
        names_something(value) or value[0] in "$€£" or value[0].isdigit()
    )
    if is_short and (_is_goal(value) if match["free"] else _fits(key, value)):
        yield FactClaim(PROFILE, _key(key, value), value, 0.85)


def _fits(key: str, value: str) -> bool:
    """Whether the value is a name, a known tool or a measure, and not a state: "slow", "at 40%", "10 years old"."""
    first = value.split(maxsplit=1)[0]
    if _STATE.match(value):
        return False
    if key.endswith(("name", "handle")) and " " not in value:
        return value.lower() not in NOT_NAMES
    is_number = first[0].isdigit() or first[0] in "$€£"
    if key in {"website", "blog"}:
        return "." in value
    return first.lower() in TOOLS or first[0].isupper() or (is_number and (key in _MEASURED or " " in value))


def _key(attribute: str, value: str) -> str:
    if attribute == "main language":
        return "languages" if value.lower() in LANGUAGES else "programming language"
    return attribute
