"""Rules for vehicles, devices, and the names and places of the user's things: "I drive a Skoda"."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.rule import FactClaim, pattern_rules, reading, with_keywords
from memsidecar.language.rules.values import any_of, leading_phrase, thing

PROFILE = FactType.USER_PROFILE

_THINGS = (
    *(
        "repo",
        "repository",
        "branch",
        "server",
        "cluster",
        "database",
        "db",
        "docs",
        "documentation",
        "wiki",
        "backlog",
    ),
    *("tickets", "pipeline", "staging", "production", "prod", "api", "website", "product", "app", "project", "team"),
    *(
        "office",
        "channel",
        "bucket",
        "environment",
        "domain",
        "registry",
        "dashboard",
        "newsletter",
        "blog",
        "band",
        "boat",
    ),
)
_THING = re.compile(
    rf"(?:my|our) (?P<what>(?:[\w-]+ ){{0,2}}?{any_of(_THINGS)}) (?:is|are|lives?|runs?|sits?)(?: hosted| stored"
    rf"| kept)? "
    r"(?P<rest>(?:called|named|on|in|at|under|behind) .+)",
    re.IGNORECASE,
)
_MAKES = (
    r"iphone|ipad|imac|macbook|mac mini|pixel|galaxy|thinkpad|xps|surface|raspberry pi|steam deck|playstation|ps5|ps4"
    r"|xbox|nintendo switch|kindle|tesla|peloton|kobo|chromebook|fairphone|oneplus|rtx|gtx|radeon|garmin|apple watch"
    r"|fitbit|quest"
)
_make = reading(
    rf"(?:an? |the |my )?(?:new |old )?((?:[\w-]+ )??(?:{_MAKES})\b(?: (?:(?-i:[A-Z0-9])[\w.-]*|pro|air"
    rf"|mini|max|ultra|plus)){{0,3}})(?=\W*$|[,.;!?)]| (?:and|but|with|from|at|now|since|so|for|running|because"
    rf"|btw)\b)",
    group=1,
)


def _vehicle(rest: str) -> Iterator[str]:
    """Yield a vehicle whose name or year stands in it: "2014 Skoda Octavia"."""
    yield from (value for value in thing(rest) if re.search(r"\d|\b[A-Z]", value) or len(value.split()) == 1)


def _whereabouts(rest: str) -> Iterator[str]:
    """Yield where or under which name a thing of the user is: "on Heroku", "called trunk"."""
    phrase = leading_phrase(rest)
    words = phrase.split()
    is_named = words[:1] in (["called"], ["named"]) or re.search(r"\d|[A-Z]", phrase)
    if (
        2 <= len(words) <= 6
        and is_named
        and words[1].lower() not in {"fire", "hold", "track", "me", "it", "this", "version"}
    ):
        yield phrase


RULES = [
    *pattern_rules(
        PROFILE,
        "vehicle",
        (
            r"i (?:drive|ride) (?:an? |my (?:old |trusty )?)(?!lot\b|bit\b|bus\b|hard\b"
            r"|point\b)",
            "drive ride",
            _vehicle,
            0.75,
        ),
    ),
    *pattern_rules(
        PROFILE,
        lambda value: f"device:{value.lower()[:60]}",
        (r"i(?: have|'ve got| own| bought| got| use|'m on|'m using) ", "have own bought got use on using", _make, 0.75),
    ),
]


@with_keywords(" ".join(_THINGS))
def whereabouts(clause: str) -> Iterator[FactClaim]:
    """Find names and places of the user's things: "our app is on Heroku", "our main branch is called trunk"."""
    match = _THING.match(clause)
    if match:
        yield from (FactClaim(PROFILE, match["what"].lower(), value, 0.75) for value in _whereabouts(match["rest"]))
