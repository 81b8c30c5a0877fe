"""Name, age, family, contact."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import GIVEN, NOT_NAMES, PLACES
from memsidecar.language.rules.pattern_keywords import CAPITAL, need_of
from memsidecar.language.rules.rule import Claim, Selective, beginning, matching, table
from memsidecar.language.rules.tasks import calendar_date
from memsidecar.language.rules.values import things, trimmed

_NAME_WORD = r"[^\W\d_][\w'\u2019.-]*"
_PROPER = r"(?:O'|Mc|Mac|De|Di)?[^\W\d_a-z][^\W\d_A-Z]+(?:['\u2019-][^\W\d_]+)?"
_SHAPED_LIKE_A_NAME = re.compile(rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?{_PROPER}(?: (?:{_PROPER}|[A-Z]\.?)){{0,3}}")
_PEOPLES = ("ian", "ese", "ish", "ean", "ite", "ist")
"Whoever is Bavarian or Sardinian has not said a name."
_TITLE = re.compile(r"(?:Dr|Mr|Mrs|Ms|Prof)\.? (?=[A-Z])")
_NAME = re.compile(rf"({_NAME_WORD})((?: {_NAME_WORD}){{0,2}})")
# What may stand behind a name. Anything else, and it was a word: "my name is hard to spell".
_AFTER_NAME = re.compile(
    r"\s*(?:$|[,.!?;:()\-\u2013\u2014\ufffc/]|(?:and|but|from|by the way|btw|a|an|the|here|short for|or|working|living"
    r"|based|your|i|i'm|though|now|please|because|since|if|lol|nice)\b)",
    re.IGNORECASE,
)

PROFILE = FactType.USER_PROFILE


_COUNT = r"(?:an?|one|two|three|four|five|six|\d) "
_email = beginning(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}")
_pronouns = beginning(r"(?:he|she|they|xe|ze|it)(?:\s?/\s?\w{2,6}){1,2}|any\b")
_timezone = beginning(
    r"(?:GMT|UTC) ?[+-] ?\d{1,2}|[A-Z]{2,5}(?:[+-]\d{1,2})?\b|[A-Z][a-z]+/[A-Z][a-z_]+", flags=re.NOFLAG
)
_marital_status = beginning(
    r"(?:happily |recently |newly )?(?:married|divorced|widowed|engaged|single)"
    r"(?=$|[,.;]| and\b| with (?:two|three|\d|kids)| to my\b)"
)
_parent = beginning(
    r"(?:(?:single|stay-at-home|working|new|proud|busy|foster) )*"
    r"(?:mom|mum|mother|dad|father|parent|grandma|grandmother|grandfather|grandpa)"
    r"(?: of (?:one|two|three|four|five|six|\d|twins|triplets|an?)(?: \w+)?)?(?=$|[,.;]|\s(?:and|from|in|who)\b)"
)
_children = beginning(
    rf"{_COUNT}(?:\w+ )?(?:kids?|children|sons?|daughters?|boys|girls|grandchildren|grandkids)\b(?! who\b)"
)
_pets = beginning(
    rf"{_COUNT}(?:\w+ )?(?:dogs?|cats?|pupp(?:y|ies)|kittens?|parrots?|rabbits?|hamsters?|horses?|guinea pigs?)\b"
    r"(?:,? (?:named|called) \w+(?: and \w+)?)?"
)
_LANGUAGE = (
    r"(?:English|French|German|Spanish|Italian|Portuguese|Dutch|Swedish|Danish|Norwegian|Finnish|Polish|Czech|Hungarian"
    r"|Romanian|Greek|Turkish|Russian|Ukrainian|Arabic|Hebrew|Persian|Farsi|Hindi|Urdu|Bengali|Tamil|Telugu|Mandarin"
    r"|Cantonese|Chinese|Japanese|Korean|Vietnamese|Thai|Indonesian|Swahili|Tagalog|Catalan|Basque|Irish|Welsh)"
)
_languages = beginning(rf"(?:fluent |native )?({_LANGUAGE}(?:(?:,? and |, ){_LANGUAGE}){{0,4}})\b", group=1)
_AGE = (
    r"(\d{1,3})(?:[ -]years?[ -]old|[ -]?y/?o|yrs? old|(?=$|\s*[,.;)]|\s+(?:and|but|now|btw|today|this year|last)\b))"
)
_years = beginning(_AGE, group=1)


def name(rest: str) -> Iterator[str]:
    """After "my name is": also in lower case."""
    if title := _TITLE.match(rest):
        yield from (title[0] + found for found in _capitalised_name(rest[title.end() :]))
        return
    match = _NAME.match(rest)
    if match is None or match[1].lower().strip(".'") in NOT_NAMES - GIVEN or match[1].lower().endswith("'s"):
        return
    if match[1][0].isupper():
        yield from _capitalised_name(rest)
    elif _AFTER_NAME.match(rest, match.end(1)):
        yield from filter(None, (trimmed(match[1]),))
    elif len(match[0].split()) == 2 and _AFTER_NAME.match(rest, match.end()) and match[1] in GIVEN:
        yield trimmed(match[0])


def _capitalised_name(rest: str) -> Iterator[str]:
    words = []
    for word in re.split(r"\s", rest)[:4]:
        bare_word = word.strip(",.!?;:()\ufffc*")
        if (
            not bare_word
            or not bare_word[0].isupper()
            or bare_word.lower() in NOT_NAMES - GIVEN
            or bare_word.endswith("'s")
        ):
            break
        words.append(bare_word)
        if bare_word != word and word[-1] != ".":
            break
    found = " ".join(words)
    if words and _AFTER_NAME.match(rest[len(found) :]):
        yield found


def _introduced(rest: str) -> Iterator[str]:
    """After a mere "I'm": capitalised, or a well-known name; nothing that "I'm" could say of anybody."""
    for found in name(rest):
        first = found.split()[0].lower()
        if first in NOT_NAMES:
            continue
        if first in GIVEN or (
            _SHAPED_LIKE_A_NAME.fullmatch(found) and first not in PLACES and not first.endswith(_PEOPLES)
        ):
            yield found


introduced = Selective(_introduced, ways=((need_of({*GIVEN, CAPITAL}),),))


def known_name(rest: str) -> Iterator[str]:
    """Where only a given name will do, or a capitalised word: "call me ..."."""
    for found in name(rest):
        if _SHAPED_LIKE_A_NAME.fullmatch(found) or found.split()[0].lower() in GIVEN:
            yield found


def given_name(rest: str) -> Iterator[str]:
    yield from (found for found in name(rest) if found.split()[0].lower() in GIVEN)


def _plausible_years(rest: str) -> Iterator[str]:
    yield from (years for years in _years(rest) if 10 <= int(years) <= 110)


_age = Selective(_plausible_years, _AGE)


def _date(rest: str) -> Iterator[str]:
    if found := calendar_date(rest):
        yield found


def _allergy(value: str) -> str:
    return f"allergic to:{value.lower()[:60]}"


FORMS = [
    *table(
        PROFILE,
        "name",
        (r"(?:my|the) (?:full |first |real |given |actual )?name is ", name, 0.95),
        (r"name is ", name, 0.9),
        (
            r"(?:(?:you|people|everyone|everybody|folks|friends|my friends|most people) (?:can |may |could |should "
            r"|all |just |usually )*)?(?:from now on,? )?(?:just |please )?calls? me ",
            known_name,
            0.85,
        ),
        (r"i (?:go by|changed my name to) ", known_name, 0.9),
        (r"i'm ", introduced, 0.75),
        (r"(?:this is|it's) (?=\w+(?: \w+)? (?:here|speaking|from|again)\b)", given_name, 0.8),
    ),
    *table(
        PROFILE,
        "family",
        (r"i'm an? ", _parent, 0.75),
        (r"(?:i|we) have ", _children, 0.8),
    ),
    *table(
        PROFILE,
        "age",
        (r"i(?:'m(?: a)?| turned|'ve turned) ", _age, 0.85),
        (r"my age is ", _age, 0.9),
    ),
    *table(
        PROFILE,
        "birthday",
        (r"my birthday is (?:on |the )*", _date, 0.95),
        (r"i was born (?:on )?(?:the )?", _date, 0.9),
    ),
    *table(
        PROFILE,
        "anniversary",
        (r"(?:my|our) (?:wedding )?anniversary is (?:on )?", _date, 0.9),
    ),
    *table(
        PROFILE,
        "email",
        (
            r"my (?:work |personal |account |new |primary |school |business |contact )?e-?mail(?: address)?(?: is|:"
            r"| -)? ?",
            _email,
            0.95,
        ),
    ),
    *table(
        PROFILE,
        "timezone",
        (r"my time ?zone is ", _timezone, 0.95),
    ),
    *table(
        PROFILE,
        "marital status",
        (r"i'm ", _marital_status, 0.8),
    ),
    *table(
        PROFILE,
        "pets",
        (r"(?:i|we) have ", _pets, 0.8),
    ),
    *table(
        PROFILE,
        "pronouns",
        (r"my pronouns are ", _pronouns, 0.95),
        (r"i use (?=\w+/\w+(?:/\w+)? pronouns)", _pronouns, 0.9),
    ),
    *table(
        PROFILE,
        "languages",
        (r"i speak ", _languages, 0.8),
    ),
    *table(
        PROFILE,
        "native language",
        (r"my (?:native language|mother tongue|first language) is ", _languages, 0.9),
    ),
    *table(
        PROFILE,
        "allergies",
        (r"(?:i'm (?:\w+ )?allergic|i have (?:an?|a \w+) allerg(?:y|ies)|i have allergies) to ", things, 0.9),
    ),
]


_HERE = re.compile(r"([A-Z][a-z]+) here(?:$|,| from\b)")


@matching(_HERE)
def signed(clause: str) -> Iterator[Claim]:
    """At the head of a message, "Anna here": only with a name that is one."""
    match = _HERE.match(clause)
    if match:
        yield from (Claim(PROFILE, "name", name, 0.75) for name in given_name(match[1]))
