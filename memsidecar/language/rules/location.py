"""Rules for residence, origin and birthplace."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.lexicon import MAX_PLACE_WORDS, NOT_PLACES, PLACES, PLACES_WITH_ARTICLE
from memsidecar.language.rules.rule import pattern_rules
from memsidecar.language.rules.values import CAPITALISED, leading_phrase, trim
from memsidecar.language.rules.work import NAMED, OCCUPATION_KEYWORDS, WORKER

PROFILE = FactType.USER_PROFILE

_PLACE_AREA = re.compile(
    r"(?:(?:a|an|the|this|our) )?(?:\w+ ){0,3}?(?:town|city|village|suburbs?|place|area|part|island"
    r"|neighbou?rhood|outskirts|district|county|region|countryside|coast|farm|house|flat|apartment|studio"
    r"|heart|middle|center|centre) "
    r"(?:near|in|outside|of|called|named|close to|just outside(?: of)?|on) ",
    re.IGNORECASE,
)
_PREFIX = re.compile(
    r"(?:(?:downtown|central|greater|rural|upstate|north|south|east|west|northern|southern|eastern|western"
    r"|north of|south of|just outside(?: of)?|outside(?: of)?|near) ){0,2}",
    re.IGNORECASE,
)
_SETTLED = re.compile(
    r"\b(?:last|ago|this (?:year|month|week|summer|spring|winter|fall|autumn)|in (?:19|20)\d\d|for (?:work"
    r"|school|college|university|uni|my|love|a (?:new )?job)|with my)\b|, [A-Z]"
)

_WE = r"(?:i|we)"
_WE_ARE = r"(?:i'm|we're|we are)"


def place(rest: str) -> Iterator[str]:
    """Yield a place that is in the list, or capitalised."""
    rest = re.sub(
        r"^(?:the )?(?:beautiful|sunny|lovely|rainy|good old|little|big|cold|boring|city of|town of|state of"
        r"|great) ",
        "",
        rest,
        flags=re.IGNORECASE,
    )
    area = _PLACE_AREA.match(rest)
    start = area.end() if area else _prefix_chars(rest)
    found = _known_place(rest[start:]) or _capitalised_place(rest[start:])
    if found:
        yield trim(rest[:start] + found)


def known_place(rest: str) -> Iterator[str]:
    start = _prefix_chars(rest)
    if found := _known_place(rest[start:]):
        yield trim(rest[:start] + found)


def _prefix_chars(rest: str) -> int:
    match = _PREFIX.match(rest)
    return match.end() if match else 0


def _new_home(rest: str) -> Iterator[str]:
    """Yield a place after "moved to". An unknown name needs a sign of a move of a person: software moves too."""
    yield from place(rest) if _SETTLED.search(rest) or _PLACE_AREA.match(rest) else known_place(rest)


def _settled_place(rest: str) -> Iterator[str]:
    """Yield the place in "I've been in Singapore since 2019"; days and weeks are a visit."""
    if not re.search(r"\b(?:hours?|days?|weeks?|weekend|yesterday|monday|tuesday|friday)\b", rest, re.IGNORECASE):
        yield from known_place(rest)


def _current_place(rest: str) -> Iterator[str]:
    """Yield a place after "I'm in": one of the list with nothing behind it that limits the stay, or any with "now"."""
    for found in known_place(rest):
        if re.match(r"\W*(?:$|[,;]|(?:right now|now|these days|nowadays|btw|and|but|so)\b)", rest[len(found) :]):
            yield found
            return
    for found in place(rest):
        if re.match(r"\W*(?:now|these days|nowadays)\W*(?:$|,)", rest[len(found) :]):
            yield found


def home(rest: str) -> Iterator[str]:
    """Yield a place after "I live in": also an unknown word in lower case, if nothing else follows."""
    found = list(place(rest))
    yield from found
    words = leading_phrase(rest).split()
    if not found and 1 <= len(words) <= 2 and rest.islower() and not NOT_PLACES & set(words) and words[0].isalpha():
        yield " ".join(words)


def _known_place(rest: str) -> str:
    words = rest.split()[: MAX_PLACE_WORDS + 1]
    for count in range(len(words), 0, -1):
        phrase = " ".join(words[:count]).strip(",.!?;:()\ufffc")
        if phrase.lower().removeprefix("the ") in PLACES:
            return phrase + _state(rest[rest.find(phrase) + len(phrase) :])
    return ""


def _state(after: str) -> str:
    """Return the state behind a comma: "Portland, Oregon" is one place."""
    match = re.match(r", ([A-Z]{2}\b|[A-Z][a-z]+(?: [A-Z][a-z]+)?)", after)
    return match[0] if match and (match[1].isupper() or match[1].lower() in PLACES) else ""


def _capitalised_place(rest: str) -> str:
    run = CAPITALISED.match(rest)
    if run is None or "'s" in run[0]:
        return ""
    words = run[0].strip().rstrip(".,'").split()
    with_article = words[0].lower() == "the"
    first = words[1 if with_article and len(words) > 1 else 0]
    if (
        NOT_PLACES & {word.lower() for word in words} - {"the"}
        or not first[0].isupper()
        or (with_article and first.lower() not in PLACES_WITH_ARTICLE)
    ):
        return ""
    found = " ".join(words)
    return found + _state(rest[len(found) :])


RULES = [
    *pattern_rules(
        PROFILE,
        "location",
        (
            rf"(?:{_WE} (?:live|reside)|{_WE_ARE} (?:living|based|located|residing)|(?:i've|we've) (?:lived|been living"
            rf"|been based)) (?:here |alone |together |just |right |with [\w ]{{2,30}}? )?(?:in|near|outside(?: of)?"
            rf"|out of|close to) ",
            "based live lived living located reside residing",
            home,
            0.9,
        ),
        (
            rf"{_WE}(?:'ve)? (?:moved|relocated|moved back|moved over|moved house)(?: from [\w ,]{{2,40}}?)? (?:to"
            rf"|into) ",
            "moved relocated",
            _new_home,
            0.75,
        ),
        (
            r"my (?:home|house|place|home town|city|apartment|flat) is in ",
            "apartment city flat home house place",
            place,
            0.85,
        ),
        (r"my (?:home )?(?:city|location|address) is ", "address city location", place, 0.85),
        (r"i'm (?:here |over |currently )?in ", "in", _current_place, 0.55),
        (
            rf"i(?:'m {NAMED}|'m| work as) {WORKER}(?: (?:at|for|with) [\w&'. -]{{2,40}}?)?"
            r" (?:here |working |living |based )?in ",
            OCCUPATION_KEYWORDS,
            known_place,
            0.65,
        ),
        (r"(?:i work|i'm working) (?:at|for) [\w&'. -]{2,40}? in ", "work working", known_place, 0.6),
        (r"home (?:is|for me is) (?:now )?", "home", known_place, 0.75),
        (rf"{_WE} (?:stay|are settled|settled|settled down|reside) in ", "stay settled reside", known_place, 0.7),
        (
            rf"{_WE}(?:'ve)? (?:bought|got|found|rent|own|rented|are renting|moved into) (?:an?|our|my"
            rf"|the)(?: [\w-]+){{0,2}}? (?:house|flat|apartment"
            rf"|place|home|condo|studio|room|cottage) in ",
            "bought got found rent own rented renting moved",
            place,
            0.75,
        ),
        (r"i teach [\w ]{2,30}? in ", "teach", known_place, 0.6),
        (r"(?:i've|we've) been in (?=.{2,40} (?:since|for)\b)", "been", _settled_place, 0.75),
        (rf"{_WE}(?:'ve)? left [\w ]{{2,30}} for ", "left", known_place, 0.75),
        (r"(?=.{2,30} is (?:now )?(?:my )?home\b)", "home", known_place, 0.75),
    ),
    *pattern_rules(
        PROFILE,
        "origin",
        (r"i(?:'m (?-i:[A-Z])[\w'-]+,? (?:and )?(?:i'm )?|'m )(?:originally |come |)(?:from) ", "from", place, 0.8),
        (r"i (?:come|hail|originally come) from ", "come hail", place, 0.8),
        (rf"i'm {WORKER} from ", OCCUPATION_KEYWORDS, place, 0.75),
        (
            r"i (?:grew up|was (?:born and )?raised) (?:on a farm |in a small town |in a village )?(?:in|near|outside"
            r"(?: of)?) ",
            "grew raised",
            place,
            0.85,
        ),
        (r"my (?:hometown|home town) is ", "hometown town", place, 0.85),
    ),
    *pattern_rules(
        PROFILE,
        "birthplace",
        (r"i was born in ", "born", place, 0.85),
    ),
]
