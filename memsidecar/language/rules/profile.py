"""Rules for name, age, family, contact, languages."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import GIVEN_NAMES, LANGUAGES, NOT_NAMES, PLACES
from memsidecar.language.rules.rule import FactClaim, pattern_rules, reading, with_keywords
from memsidecar.language.rules.tasks import calendar_date
from memsidecar.language.rules.values import trim

PROFILE = FactType.USER_PROFILE

_NAME_WORD = r"[^\W\d_][\w'\u2019.-]*"
_PROPER = r"(?:O'|Mc|Mac|De|Di)?[^\W\d_a-z][^\W\d_A-Z]+(?:['\u2019-][^\W\d_]+)?"
_SHAPED_LIKE_A_NAME = re.compile(rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_PROPER}(?: (?:{_PROPER}|[A-Z]\.?)){{0,3}}")
_INITIALS = re.compile(r"[A-Z]\.?(?:[A-Z]\.?){0,2}")
_NATIONALITY_ENDINGS = ("ian", "ese", "ish", "ean", "ite", "ist")
'Endings of nationalities: "I\'m Bavarian" gives no name.'
_TITLE = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof)\.? (?=[A-Z])")
_NAME = re.compile(rf"({_NAME_WORD})((?: {_NAME_WORD}){{0,2}})")
# What may follow a name. Before anything else the word is no name: "my name is hard to spell".
_AFTER_NAME = re.compile(
    r"\s*(?:$|[,.!?;:()\-\u2013\u2014\ufffc/]|(?:and|but|from|by the way|btw|a|an|the|here|short for|or|working|living"
    r"|based|your|i|i'm|though|now|please|because|since|if|lol|nice)\b)",
    re.IGNORECASE,
)

_COUNT = r"(?:an?|one|two|three|four|five|six|\d) "

_LANGUAGE = rf"(?:{'|'.join(sorted(LANGUAGES))})"
_AGE = (
    r"(\d{1,3})(?:[ -]years?[ -]old|[ -]?y/?o|yrs? old|(?=$|\s*[,.;)]|\s+(?:and|but|now|btw|today|this year|last)\b))"
)
_SIGNATURE = re.compile(r"([A-Z][a-z]+) here(?:$|,| from\b)")

_email = reading(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}")
_pronouns = reading(r"(?:he|she|they|xe|ze|it)(?:\s?/\s?\w{2,6}){1,2}|any\b")
_timezone = reading(
    r"(?:GMT|UTC) ?[+-] ?\d{1,2}|[A-Z]{2,5}(?:[+-]\d{1,2})?\b|[A-Z][a-z]+/[A-Z][a-z_]+", flags=re.NOFLAG
)
_named_timezone = reading(r"(?:pacific|eastern|central|mountain|[A-Z]{2,5}(?:[+-]\d{1,2})?|\w+/\w+)(?= time)")
_marital_status = reading(
    r"(?:happily |recently |newly |just )?(?:married|divorced|widowed|engaged|single)"
    r"(?=$| last\b| in\b| this\b| yesterday\b|[,.;]| and\b| with (?:two|three|\d|kids)| to my\b)"
)
_parent = reading(
    r"(?:(?:single|stay[- ]at[- ]home|working|new|proud|busy|foster) )*"
    r"(?:mom|mum|mother|dad|father|parent|grandma|grandmother|grandfather|grandpa)"
    r"(?: of (?:one|two|three|four|five|six|\d|twins|triplets|an?)(?: \w+)?)?(?=$|[,.;]|\s(?:and|from|in|who)\b)"
)
_children = reading(
    rf"(?:{_COUNT}(?:[\w-]+ )?(?:kids?|children|sons?|daughters?|boys|girls|grandchildren|grandkids|brothers?|sisters?"
    rf"|siblings?|newborn|baby|toddlers?|teenagers?|stepsons?|stepdaughters?)|twins|triplets)\b(?! who\b| (?:called"
    rf"|named)\b|,? (?-i:[A-Z])|[:-])"
)
_languages = reading(
    rf"(?:fluent |native )?({_LANGUAGE}(?:(?:,? and |, )(?:(?:a little|a bit of|some|basic) )?{_LANGUAGE}){{0,4}})\b",
    group=1,
)
_years = reading(_AGE, group=1)
_phone = reading(r"\+?\(?\d[\d ()./-]{4,18}\d")
_address = reading(r"\d{1,5}\w? [\w.' -]{3,60}(?:, [\w.' -]{2,40}){0,3}")


def _name(rest: str) -> Iterator[str]:
    """Yield a name after "my name is", also in lower case."""
    if title := _TITLE.match(rest):
        yield from (title[0] + found for found in _capitalised_name(rest[title.end() :]))
        return
    match = _NAME.match(rest)
    if match is None or match[1].lower().strip(".'") in NOT_NAMES - GIVEN_NAMES or match[1].lower().endswith("'s"):
        return
    if match[1][0].isupper():
        yield from _capitalised_name(rest)
    elif _AFTER_NAME.match(rest, match.end(1)):
        yield from filter(None, (trim(match[1]),))
    elif len(match[0].split()) == 2 and _AFTER_NAME.match(rest, match.end()) and match[1] in GIVEN_NAMES:
        yield trim(match[0])


def _capitalised_name(rest: str) -> Iterator[str]:
    words = []
    for word in re.split(r"\s", rest)[:4]:
        bare_word = word.strip(",.!?;:()\ufffc*")
        if (
            not bare_word
            or not bare_word[0].isupper()
            or bare_word.lower() in NOT_NAMES - GIVEN_NAMES
            or bare_word.endswith("'s")
        ):
            break
        words.append(bare_word)
        if bare_word != word and word[-1] != ".":
            break
    found = " ".join(words)
    if words and _AFTER_NAME.match(rest[len(found) :]):
        yield found


def _introduced_name(rest: str) -> Iterator[str]:
    """Yield a name after "I'm": a known given name, or a capitalised word that is no place or nationality."""
    for found in _name(rest):
        first = found.split()[0].lower()
        if first in NOT_NAMES:
            continue
        if first in GIVEN_NAMES or (
            _SHAPED_LIKE_A_NAME.fullmatch(found) and first not in PLACES and not first.endswith(_NATIONALITY_ENDINGS)
        ):
            yield found


def _known_name(rest: str) -> Iterator[str]:
    """Yield a name after "call me": a known given name, a capitalised word, or initials."""
    for found in _name(rest):
        is_shaped = _SHAPED_LIKE_A_NAME.fullmatch(found) or _INITIALS.fullmatch(found)
        if is_shaped or found.split()[0].lower() in GIVEN_NAMES:
            yield found


def _given_name(rest: str) -> Iterator[str]:
    yield from (found for found in _name(rest) if found.split()[0].lower() in GIVEN_NAMES)


def _age(rest: str) -> Iterator[str]:
    yield from (years for years in _years(rest) if 10 <= int(years) <= 110)


def _date(rest: str) -> Iterator[str]:
    if found := calendar_date(rest):
        yield found


RULES = [
    *pattern_rules(
        PROFILE,
        "name",
        (r"(?:my|the) (?:full |first |real |given |actual )?name is ", "name", _name, 0.95),
        (r"name is ", "name", _name, 0.9),
        (
            r"(?:(?:you|people|everyone|everybody|folks|friends|my friends|most people) (?:can |may |could |should "
            r"|all |just |usually )*)?(?:from now on,? )?(?:just |please )?calls? me ",
            "call calls",
            _known_name,
            0.85,
        ),
        (r"i (?:go by|changed my name to) ", "changed go", _known_name, 0.9),
        (r"i'm ", "i", _introduced_name, 0.75),
        (r"(?:this is|it's) (?=\w+(?: \w+)? (?:here|speaking|from|again)\b)", "this it's", _given_name, 0.8),
    ),
    *pattern_rules(
        PROFILE,
        "family",
        (r"i'm an? ", "dad father grandfather grandma grandmother grandpa mom mother mum parent", _parent, 0.75),
        (r"(?:i|we) have ", "have", _children, 0.8),
        (
            r"(?:i'm|we're|i are) (?=expecting (?:an?|twins|our|my) )",
            "expecting",
            reading(
                r"expecting (?:an? baby|twins|an? (?:boy|girl|child)|our \w+(?: child| baby)?|my \w+(?: child"
                r"| baby)?)(?: in \w+)?"
            ),
            0.8,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "age",
        (r"i(?:'m(?: a)?| turned|'ve turned) ", "i", _age, 0.85),
        (r"i'm (?-i:[A-Z])[\w'-]+,? (?:and )?(?=\d\d\b)", "i", _age, 0.8),
        (r"my age is ", "age", _age, 0.9),
    ),
    *pattern_rules(
        PROFILE,
        "birthday",
        (r"my birthday is (?:on |the )*", "birthday", _date, 0.95),
        (r"i was born (?:on )?(?:the )?", "born", _date, 0.9),
    ),
    *pattern_rules(
        PROFILE,
        "birth year",
        (r"i was born in ", "born", reading(r"(?:19|20)\d\d\b"), 0.9),
    ),
    *pattern_rules(
        PROFILE,
        "anniversary",
        (r"(?:my|our) (?:wedding )?anniversary is (?:on )?", "anniversary", _date, 0.9),
    ),
    *pattern_rules(
        PROFILE,
        "email",
        (
            r"my (?:work |personal |account |new |primary |school |business |contact )?e-?mail(?: address)?(?: is|:"
            r"| -)? ?",
            "my",
            _email,
            0.95,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "timezone",
        (r"my time ?zone is ", "timezone zone", _timezone, 0.95),
        (r"i'm (?:in|on) (?:the )?(?=[\w/+-]{2,20} time ?(?:zone)?\b)", "time timezone", _named_timezone, 0.85),
        (r"i'm (?:in|on|at) (?=(?:UTC|GMT) ?[+-])", "utc gmt", _timezone, 0.85),
    ),
    *pattern_rules(
        PROFILE,
        "marital status",
        (r"i'm ", "divorced engaged married single widowed", _marital_status, 0.8),
        (r"(?:i|we) (?:just )?got ", "married divorced engaged", _marital_status, 0.8),
    ),
    *pattern_rules(
        PROFILE,
        "pronouns",
        (r"my pronouns are ", "pronouns", _pronouns, 0.95),
        (r"i use (?=\w+/\w+(?:/\w+)? pronouns)", "use", _pronouns, 0.9),
        (r"(?:please )?use (?=\w+/\w+(?:/\w+)?(?: pronouns)?(?: for me| when)?\b)", "use", _pronouns, 0.85),
        (r"i go by (?=\w+/\w+)", "go", _pronouns, 0.9),
    ),
    *pattern_rules(
        PROFILE,
        "languages",
        (r"i speak ", "speak", _languages, 0.8),
        (r"i'm (?:\w+ )?fluent in ", "fluent", _languages, 0.85),
    ),
    *pattern_rules(
        PROFILE,
        "native language",
        (r"my (?:native language|mother tongue|first language) is ", "language tongue", _languages, 0.9),
    ),
    *pattern_rules(
        PROFILE,
        "phone",
        (
            r"my (?:phone|mobile|cell|telephone|work|office)(?: phone)?(?: number)?(?: is"
            r"|:) ",
            "phone mobile cell number",
            _phone,
            0.95,
        ),
        (r"my number is ", "number", _phone, 0.9),
    ),
    *pattern_rules(
        PROFILE,
        "address",
        (r"i live at |my (?:home |postal |new |street |mailing )?address is ", "live address", _address, 0.9),
    ),
]


@with_keywords("here")
def signature(clause: str) -> Iterator[FactClaim]:
    """Find the name in "Anna here"; only a known given name."""
    match = _SIGNATURE.match(clause)
    if match:
        yield from (FactClaim(PROFILE, "name", name, 0.75) for name in _given_name(match[1]))
