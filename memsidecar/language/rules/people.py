"""Rules for people and pets around the user: their names."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import GIVEN_NAMES, NOT_NAMES, PLACES
from memsidecar.language.rules.rule import FactClaim, pattern_rules, reading, with_keywords
from memsidecar.language.rules.values import any_of, trim

PROFILE = FactType.USER_PROFILE

RELATIONS = (
    *("wife", "husband", "spouse", "partner", "girlfriend", "boyfriend", "fiance", "fiancee", "fiancé", "fiancée"),
    *("mother", "mom", "mum", "father", "dad", "stepmother", "stepfather", "stepdad", "stepmom", "brother", "sister"),
    *("half-brother", "half-sister", "stepbrother", "stepsister", "son", "daughter", "baby", "kid", "child", "stepson"),
    *("stepdaughter", "grandmother", "grandfather", "grandma", "grandpa", "grandson", "granddaughter", "godson"),
    *("goddaughter", "uncle", "aunt", "cousin", "nephew", "niece", "mother-in-law", "father-in-law", "brother-in-law"),
    *("sister-in-law", "friend", "roommate", "flatmate", "housemate", "neighbour", "neighbor", "colleague", "coworker"),
    *(
        "co-worker",
        "teammate",
        "manager",
        "line manager",
        "boss",
        "supervisor",
        "team lead",
        "team leader",
        "tech lead",
    ),
    *("project manager", "product manager", "product owner", "scrum master", "mentor", "mentee", "assistant", "intern"),
    *("cofounder", "co-founder", "business partner", "client", "ceo", "cto", "advisor", "adviser", "tax advisor"),
    *("tax adviser", "accountant", "lawyer", "doctor", "gp", "dentist", "therapist", "physio", "vet", "landlord"),
    *("landlady", "teacher", "tutor", "coach", "trainer", "professor", "hairdresser", "babysitter", "nanny", "cleaner"),
    *("contact person", "recruiter", "agent", "editor-in-chief", "twin", "twin brother", "twin sister"),
)
GROUPS = (
    "kids",
    "children",
    "sons",
    "daughters",
    "brothers",
    "sisters",
    "twins",
    "parents",
    "grandparents",
    "roommates",
)
ANIMALS = (
    *(
        "dog",
        "cat",
        "puppy",
        "kitten",
        "parrot",
        "rabbit",
        "bunny",
        "hamster",
        "horse",
        "pony",
        "guinea pig",
        "tortoise",
    ),
    *("turtle", "budgie", "canary", "bird", "goldfish", "fish", "ferret", "gecko", "lizard", "snake", "chicken", "hen"),
    *(
        "goat",
        "sheep",
        "donkey",
        "rat",
        "mouse",
        "chinchilla",
        "hedgehog",
        "labrador",
        "retriever",
        "poodle",
        "terrier",
    ),
    *("dachshund", "corgi", "husky", "beagle", "shepherd", "collie", "bulldog", "pug", "spaniel", "chihuahua", "pup"),
    *("doodle", "whippet", "greyhound", "mutt", "tabby", "maine coon", "ragdoll", "pet"),
)
_PLURALS = {"puppy": "puppies", "bunny": "bunnies", "pony": "ponies", "canary": "canaries", "husky": "huskies"}


_RELATION = any_of(RELATIONS)
_GROUP = any_of(GROUPS)
_ANIMAL_WORDS = (*ANIMALS, *(_PLURALS.get(animal, f"{animal}s") for animal in ANIMALS))
_ANIMAL = any_of(_ANIMAL_WORDS)
_SINGULAR = dict(zip(_ANIMAL_WORDS[len(ANIMALS) :], ANIMALS, strict=True))
_COUNT = r"(?:an?|one|two|three|four|five|six|\d) "
_KIND = (
    r"(?:(?:new|current|old|older|elder|eldest|oldest|younger|youngest|little|big|middle|first|second|best|close|direct"
    r"|late|twin|other|rescue|family|two|three|four|golden|german|black|white|border) ){0,2}"
)
_CALLED = r"(?:'s name is|'s called|'s named|s name is| is called| is named| are called| are named| goes by| go by)"
_IS = r"(?:'s| is| are)"

_PROPER = r"(?:O'|Mc|Mac|De|Di)?[^\W\d_a-z][^\W\d_A-Z]+(?:['\u2019-][^\W\d_]+)?"
_TITLE = r"(?:Dr|Mr|Mrs|Ms|Prof|Frau|Herr|Miss|Professor)\.? "
_NAME = rf"(?:{_TITLE}){{0,2}}(?:{_PROPER}|[A-Z]{{2,3}})(?: (?:(?:de|da|van|von|del|la) )?(?:{_PROPER}|[A-Z]\.)){{0,3}}"
_NAMES = re.compile(rf"{_NAME}(?:(?:,? and |, | & ){_NAME}){{0,5}}")
_BETWEEN_NAMES = re.compile(r",? and |, | & ")
_TITLED = re.compile(_TITLE)
_AFTER_NAMES = re.compile(
    r"\s*(?:$|[,.!?;:()\-\u2013\u2014\ufffc]|(?:and|but|who|since|on|at|from|in|she|he|they|now|btw|by the way|though"
    r"|too"
    r"|we|i|because|so|for|as|by|if|or|with|until|till|after|for now|these days)\b)",
    re.IGNORECASE,
)
_NOT_PROPER_ENDINGS = ("ian", "ese", "ish", "ean", "ite", "ist")
_LOWER_NAME = re.compile(r"([^\W\d_][\w'-]+)\W*(?:$|and\b|btw\b|who\b|lol\b)")
_MY_PET = re.compile(rf"\b(?i:(?:my|our) {_KIND}(?P<animal>{_ANIMAL})),? (?P<name>{_PROPER})(?=$|\W)")
_NAMED_ANIMAL = re.compile(
    rf"{_COUNT}(?:[\w-]+ ){{0,2}}?(?P<animal>{_ANIMAL})(?: (?:called|named)|, | - "
    rf"|: )\s?(?P<names>.{{1,80}})",
    re.IGNORECASE,
)
_NEXT_ANIMAL = re.compile(r"[^,]{0,60}?(?:,? and |, )(?=(?:an?|one|two|three) )")
_IS_MY = re.compile(
    rf"(?P<name>{_NAME}) is (?:also )?(?:my|our) (?P<who>(?i:{_KIND}(?:{_RELATION}|(?P<animal>{_ANIMAL}))))"
    r"(?: now)?\W*$"
)


def _people(rest: str, *, called: bool = False) -> str:
    """Return the names at the start of the text, or an empty text. Behind "called", any capitalised word is a name."""
    match = _NAMES.match(rest)
    if match is None or not _AFTER_NAMES.match(rest, match.end()) or rest[match.end() :].startswith("'s"):
        return ""
    names = [_TITLED.sub("", name) for name in _BETWEEN_NAMES.split(match[0])]
    return match[0] if all(_is_name(name, called) for name in names) else ""


def _is_name(name: str, called: bool) -> bool:
    first = name.split(maxsplit=1)[0].lower()
    if first in GIVEN_NAMES:
        return True
    return first not in NOT_NAMES and (called or (first not in PLACES and not first.endswith(_NOT_PROPER_ENDINGS)))


def _names(rest: str) -> Iterator[str]:
    """Yield the names behind "is": capitalised, or known given names."""
    if found := _people(rest) or _known_lower_name(rest):
        yield trim(found)


def _names_called(rest: str) -> Iterator[str]:
    if found := _people(rest, called=True) or _known_lower_name(rest):
        yield trim(found)


def _known_lower_name(rest: str) -> str:
    match = _LOWER_NAME.match(rest)
    return match[1] if match and match[1] in GIVEN_NAMES else ""


def _pet_names(rest: str) -> list[str]:
    """Return the names of pets; a single word in lower case is a name too: "my cat is called biscuit"."""
    found = _people(rest, called=True)
    if found:
        return _BETWEEN_NAMES.split(found)
    match = _LOWER_NAME.match(rest)
    return [match[1]] if match and match[1].lower() not in NOT_NAMES else []


def _relation_key(who: str) -> str:
    return " ".join(re.sub(r"\b(?:new|current|direct|close|other)\b", "", who.lower()).split())


def _pet(name: str, animal: str) -> FactClaim:
    name = trim(name)
    return FactClaim(PROFILE, f"pet:{name.lower()}", f"{name} ({_SINGULAR.get(animal.lower(), animal.lower())})", 0.85)


_RELATIVE = re.compile(
    rf"(?:my|our) (?P<who>{_KIND}(?:{_RELATION}|{_GROUP}))(?:(?P<called>{_CALLED})|{_IS}) (?P<rest>.+)", re.IGNORECASE
)
_PET = re.compile(
    rf"(?:my|our) {_KIND}(?P<animal>{_ANIMAL})(?:(?P<called>{_CALLED})|{_IS}) (?P<rest>.+)", re.IGNORECASE
)
_HAVE = re.compile(
    rf"(?:i|we) have (?:{_COUNT})?{_KIND}(?P<who>{_RELATION}|{_GROUP})(?: called| named|,|:"
    rf"| -) (?P<rest>.+)",
    re.IGNORECASE,
)
_HAVE_PETS = re.compile(r"(?:i|we)(?:'ve)? (?:have|got|adopted|own) ", re.IGNORECASE)

_unnamed_pets = reading(
    rf"{_COUNT}(?:\w+ )?{_ANIMAL}\b(?:(?:, | and |, and ){_COUNT}(?:\w+ )?{_ANIMAL}\b){{0,4}}"
    r"(?=\W*$|[,.;!?)](?! (?-i:[A-Z]))| (?:and|but|at|with|who|in|since|so|now|too|from|because|as)\b)"
)

RULES = [
    *pattern_rules(
        PROFILE,
        "manager",
        (r"i (?:now )?report (?:directly )?to ", "report", _names_called, 0.85),
    ),
    *pattern_rules(
        PROFILE,
        "partner",
        (
            r"i'm (?:happily )?(?:married to|engaged to|dating|going out with|in a relationship with|seeing) ",
            "dating engaged married relationship seeing going",
            _names_called,
            0.85,
        ),
    ),
    *pattern_rules(
        PROFILE,
        "pets",
        (r"(?:i|we) have ", "have", _unnamed_pets, 0.8),
    ),
]


@with_keywords(" ".join((*RELATIONS, *GROUPS)))
def relative(clause: str) -> Iterator[FactClaim]:
    """Find the name of a person: "my manager is Ingrid", "our kids are called Ida and Otto", "we have a son, Emil"."""
    match = _RELATIVE.match(clause)
    if match:
        names = _names_called(match["rest"]) if match["called"] else _names(match["rest"])
    elif match := _HAVE.match(clause):
        names = _names_called(match["rest"])
    else:
        yield from _introduced(clause)
        return
    yield from (FactClaim(PROFILE, _relation_key(match["who"]), name, 0.9) for name in names)


def _introduced(clause: str) -> Iterator[FactClaim]:
    """Find the name in "Ingrid is my manager"."""
    match = _IS_MY.match(clause)
    if match and _people(match["name"]) and not match["animal"]:
        yield FactClaim(PROFILE, _relation_key(match["who"]), match["name"], 0.85)


@with_keywords(" ".join(_ANIMAL_WORDS))
def pet(clause: str) -> Iterator[FactClaim]:
    """Find the names of pets: "my dog is called Rex", "we have a cat named Pixel"."""
    if match := _PET.match(clause):
        names = _pet_names(match["rest"]) if match["called"] else _BETWEEN_NAMES.split(_people(match["rest"]))
        yield from (_pet(name, match["animal"]) for name in names if name)
    elif have := _HAVE_PETS.match(clause):
        yield from _named_animals(clause[have.end() :])
    else:
        match = _IS_MY.match(clause) or _MY_PET.search(clause)
        if match and match["animal"] and _is_name(match["name"], called=True):
            yield _pet(match["name"], match["animal"])


def _named_animals(rest: str) -> Iterator[FactClaim]:
    start = 0
    while match := _NAMED_ANIMAL.match(rest, start):
        found = _people(match["names"], called=True)
        names = _BETWEEN_NAMES.split(found) if found else _pet_names(match["names"])[:1]
        yield from (_pet(name, match["animal"]) for name in names)
        following = _NEXT_ANIMAL.match(rest, match.start("names"))
        if following is None or not names:
            return
        start = following.end()
