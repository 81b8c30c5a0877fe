"""Where somebody works or studies, at the beginning of a text."""

import re
from collections.abc import Iterator

from memsidecar.language.rules.values import CAPITALISED, trimmed, up_to_the_end
from memsidecar.language.rules.words import listed
from memsidecar.language.rules.words.places import NOT_PLACES
from memsidecar.language.rules.words.work import INDUSTRIES, NOT_COMPANIES, WORKPLACES

_PART_OF_IT = re.compile(r" ?(?:\w+ )?(?:office|team|headquarters|hq|branch|lab|department|store|support)\b")
_AT_PLACE = re.compile(r" (?:in|doing|and|on|for|from|called|to|near|with|at|out|remotely|full|part) ")
_CLUBS = listed(
    """
    discord reddit twitter facebook instagram zoom slack mastodon bluesky linkedin tinder duolingo strava x tiktok
    youtube github whatsapp telegram twitch bumble hinge mom dad mum grandma grandpa
    """
)
"What one joins and leaves without working there."


def organisation(rest: str) -> Iterator[str]:
    """Capitalised words; in lower case a single one at the end, or a kind of workplace ("a bank")."""
    run = CAPITALISED.match(rest)
    if run:
        yield from _capitalised_organisation(run[0], rest[run.end() :])
    else:
        yield from _plain_organisation(up_to_the_end(_AT_PLACE.split(rest, maxsplit=1)[0]))


def _capitalised_organisation(run: str, after: str) -> Iterator[str]:
    found = re.split(r" (?:in|at|on) ", trimmed(run), maxsplit=1)[0]
    if _PART_OF_IT.match(after):
        found = found.split("'s")[0]
    first = found.removeprefix("the ").split()[:1]
    if first and first[0].lower() not in NOT_COMPANIES and not found.isdigit():
        yield found


def _plain_organisation(phrase: str) -> Iterator[str]:
    words = phrase.lower().split()
    if not words:
        return
    if words[0] in {"a", "an", "the", "my", "our"}:
        if len(words) <= 6 and words[-1] in WORKPLACES:
            yield phrase
    elif len(words) <= 2 and not NOT_COMPANIES & set(words) and words[0][0].isalnum() and not words[0].endswith("ing"):
        yield phrase


def named_organisation(rest: str) -> Iterator[str]:
    run = CAPITALISED.match(rest)
    if run:
        yield from _capitalised_organisation(run[0], rest[run.end() :])


def joined(rest: str) -> Iterator[str]:
    if not rest.lower().startswith("the ") or re.match(
        r"the (?:Red Cross|Army|Navy|Marines|Air Force|UN|EU|NHS)\b", rest
    ):
        yield from (found for found in named_organisation(rest) if found.split()[0].lower() not in _CLUBS)


def school(rest: str) -> Iterator[str]:
    """Only with a word or a shape that schools have: "at MIT", "at the University of Oslo"."""
    for found in named_organisation(rest):
        if re.search(
            r"\b(?:University|College|School|Institute|Uni|Academy|Polytechnic|State|Tech|ETH|EPFL)\b", found
        ) or (found.isupper() and len(found) <= 5):
            yield found


def client(rest: str) -> Iterator[str]:
    """A developer for Acme, but not one for iOS."""
    yield from (found for found in organisation(rest) if found.split()[0].lower() not in NOT_PLACES)


def industry(rest: str) -> Iterator[str]:
    phrase = up_to_the_end(re.split(r" (?:at|for|in|and|on) ", rest.removeprefix("the "), maxsplit=1)[0])
    words = phrase.lower().split()
    if words and len(words) <= 3 and words[0] in INDUSTRIES:
        yield phrase
