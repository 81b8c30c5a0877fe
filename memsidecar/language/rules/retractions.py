"""What the user takes back. Only under the key and with the words by which it was learned can it be found again."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules import location, work
from memsidecar.language.rules.lexicon import GIVEN, NOT_PLACES
from memsidecar.language.rules.rule import Claim, matching, table
from memsidecar.language.rules.values import things, trimmed

PROFILE, INTEREST, ACTION = FactType.USER_PROFILE, FactType.INTEREST, FactType.ACTION_ITEM
_NO_MORE = r"(?=.*\b(?:anymore|now)\b)"


def _employer_left(rest: str) -> Iterator[str]:
    """One leaves a house and a party too: only a name, and no place's and no person's."""
    if next(location.known_place(rest), None) is None:
        yield from (
            value
            for value in work.joined(rest)
            if value.split()[0].lower() not in GIVEN | NOT_PLACES and value[0].isupper() and not value.isdigit()
        )


def _without_more(rest: str) -> Iterator[str]:
    yield from things(re.split(r"\banymore\b", rest, maxsplit=1)[0])


def _anything(rest: str) -> Iterator[str]:
    if not trimmed(rest) or re.match(
        r"(?:\s*(?:last|this|yesterday|today|a|in|two|three|because|and|recently|anymore)\b|\W)", rest, re.IGNORECASE
    ):
        yield ""


FORMS = [
    *table(
        PROFILE,
        "company",
        (r"i (?:no longer work|stopped working|quit working) (?:at|for) ", work.organisation, 0.9),
        (rf"i (?:don't|do not) work (?:at|for) {_NO_MORE}", work.organisation, 0.9),
        (
            r"i'm (?:no longer|not) (?:working |employed )?(?:at|with|by|for) (?=.*\banymore\b)",
            work.named_organisation,
            0.85,
        ),
        (r"i'm no longer (?:working |employed )?(?:at|with|by|for) ", work.named_organisation, 0.85),
        (
            r"i(?:'ve)? (?:left|quit my job at|left my job at|quit my position at|resigned from|got laid off from"
            r"|was laid off from|got fired from|was fired from|retired from) ",
            _employer_left,
            0.75,
        ),
        (
            r"i(?:'ve)? (?:quit my job|lost my job|left my job|got laid off|was laid off|got fired|was fired)\b"
            r"(?! (?:at|from|as) )",
            _anything,
            0.75,
        ),
        holds=False,
    ),
    *table(
        PROFILE,
        "location",
        (r"(?:i|we) no longer live in ", location.home, 0.9),
        (rf"(?:i|we) (?:don't|do not) live in {_NO_MORE}", location.home, 0.9),
        (r"(?:i|we)(?:'ve)? (?:moved away from|moved out of|left) ", location.known_place, 0.8),
        (r"(?:i|we)(?:'ve)? moved away from ", location.place, 0.8),
        holds=False,
    ),
    *table(
        PROFILE,
        "role",
        (r"i'm no longer (?:an? )", work.occupation, 0.85),
        (r"i'm not (?:an? )(?=.*\banymore\b)", work.occupation, 0.85),
        holds=False,
    ),
    *table(
        FactType.PREFERENCE,
        "diet",
        (r"i'm no longer (?:a )?(?=vegan|vegetarian)", things, 0.85),
        (r"i'm not (?:a )?(?=(?:vegan|vegetarian) anymore)", _without_more, 0.85),
        holds=False,
    ),
    *table(
        INTEREST,
        "likes",
        (r"i no longer (?:like|love|enjoy|play|care for|collect) ", things, 0.85),
        (
            r"i (?:don't|do not) (?:really |even )?(?:like|love|enjoy|play|care for|collect) (?=.*\banymore\b)",
            _without_more,
            0.85,
        ),
        (
            r"i'm (?:not|no longer) (?:really |that )?(?:into|a (?:big |huge )?fan of|passionate about) "
            r"(?=.*\banymore\b)",
            _without_more,
            0.85,
        ),
        (r"i'm no longer (?:into|a (?:big |huge )?fan of|passionate about) ", things, 0.85),
        holds=False,
    ),
    *table(
        INTEREST,
        "interested_in",
        (r"i(?:'m no longer| lost interest| have lost interest|'ve lost interest) (?:interested )?in ", things, 0.85),
        (r"i'm not interested in (?=.*\banymore\b)", _without_more, 0.85),
        holds=False,
    ),
]

_CALLED_OFF = re.compile(
    r"(?:please )?(?:you )?(?:(?:don't (?:need to |have to )?|no need to )remind me to|(?:cancel|delete|drop"
    r"|forget) (?:the|my) reminder to|stop reminding me to) (?P<task>.+)",
    re.IGNORECASE,
)


@matching(_CALLED_OFF)
def called_off(clause: str) -> Iterator[Claim]:
    match = _CALLED_OFF.match(clause)
    task = trimmed(re.sub(r"\banymore\b.*", "", match["task"])) if match else ""
    if task:
        yield Claim(ACTION, "todo", task, 0.85, holds=False)
