"""Rules for facts that no longer hold. They use the keys and readers by which the facts were found."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules import employers, location, work
from memsidecar.language.rules.lexicon import GIVEN_NAMES, NOT_PLACES
from memsidecar.language.rules.rule import FactClaim, pattern_rules, with_keywords
from memsidecar.language.rules.values import things, trim

PROFILE, INTEREST, ACTION = FactType.USER_PROFILE, FactType.INTEREST, FactType.ACTION_ITEM
_ANYMORE = r"(?=.*\b(?:anymore|now)\b)"


def _employer_left(rest: str) -> Iterator[str]:
    """Yield an employer after "I left": only a name, and none of a place or a person."""
    if next(location.known_place(rest), None) is None:
        yield from (
            value
            for value in employers.joined_organisation(rest)
            if value.split()[0].lower() not in GIVEN_NAMES | NOT_PLACES and value[0].isupper() and not value.isdigit()
        )


def _before_anymore(rest: str) -> Iterator[str]:
    yield from things(re.split(r"\banymore\b", rest, maxsplit=1)[0])


def _any_value(rest: str) -> Iterator[str]:
    if not trim(rest) or re.match(
        r"(?:\s*(?:last|this|yesterday|today|a|in|two|three|because|and|recently|anymore)\b|\W)", rest, re.IGNORECASE
    ):
        yield ""


RULES = [
    *pattern_rules(
        PROFILE,
        "company",
        (
            r"i (?:no longer work|stopped working|quit working) (?:at|for) ",
            "longer working",
            employers.organisation,
            0.9,
        ),
        (rf"i (?:don't|do not) work (?:at|for) {_ANYMORE}", "work", employers.organisation, 0.9),
        (
            r"i'm (?:no longer|not) (?:working |employed )?(?:at|with|by|for) (?=.*\banymore\b)",
            "anymore",
            employers.named_organisation,
            0.85,
        ),
        (r"i'm no longer (?:working |employed )?(?:at|with|by|for) ", "longer", employers.named_organisation, 0.85),
        (
            r"i(?:'ve)? (?:left(?! my\b)|quit my job at|left my job at|quit my position at|resigned from"
            r"|got laid off from"
            r"|was laid off from|got fired from|was fired from|retired from) ",
            "fired laid left position quit resigned retired",
            _employer_left,
            0.75,
        ),
        (
            r"i(?:'ve)? (?:quit my job|lost my job|left my job|got laid off|was laid off|got fired|was fired)\b"
            r"(?! (?:at|from|as) )",
            "fired laid left lost quit",
            _any_value,
            0.75,
        ),
        holds=False,
    ),
    *pattern_rules(
        PROFILE,
        "location",
        (r"(?:i|we) no longer live in ", "longer", location.home, 0.9),
        (rf"(?:i|we) (?:don't|do not) live in {_ANYMORE}", "live", location.home, 0.9),
        (r"(?:i|we)(?:'ve)? (?:moved away from|moved out of|left) ", "left moved", location.known_place, 0.8),
        (r"(?:i|we)(?:'ve)? moved away from ", "moved", location.place, 0.8),
        (
            r"(?:i'm|we're) (?:no longer|not) (?:living |based )?in (?=.*\banymore\b)",
            "anymore",
            location.known_place,
            0.85,
        ),
        (r"(?:i'm|we're) no longer (?:living |based )?in ", "longer", location.known_place, 0.85),
        holds=False,
    ),
    *pattern_rules(
        PROFILE,
        "role",
        (r"i'm no longer (?:an? )", "longer", work.occupation, 0.85),
        (r"i'm not (?:an? )(?=.*\banymore\b)", "anymore", work.occupation, 0.85),
        holds=False,
    ),
    *pattern_rules(
        FactType.PREFERENCE,
        "diet",
        (r"i'm no longer (?:a )?(?=vegan|vegetarian)", "longer", things, 0.85),
        (r"i'm not (?:a )?(?=(?:vegan|vegetarian) anymore)", "vegan vegetarian", _before_anymore, 0.85),
        holds=False,
    ),
    *pattern_rules(
        INTEREST,
        "likes",
        (r"i no longer (?:like|love|enjoy|play|care for|collect) ", "longer", things, 0.85),
        (
            r"i (?:don't|do not) (?:really |even )?(?:like|love|enjoy|play|care for|collect) (?=.*\banymore\b)",
            "anymore",
            _before_anymore,
            0.85,
        ),
        (
            r"i'm (?:not|no longer) (?:really |that )?(?:into|a (?:big |huge )?fan of|passionate about) "
            r"(?=.*\banymore\b)",
            "anymore",
            _before_anymore,
            0.85,
        ),
        (r"i'm no longer (?:into|a (?:big |huge )?fan of|passionate about) ", "longer", things, 0.85),
        holds=False,
    ),
    *pattern_rules(
        INTEREST,
        "interested_in",
        (
            r"i(?:'m no longer interested| lost interest| have lost interest|'ve lost interest) in ",
            "interest longer",
            things,
            0.85,
        ),
        (r"i'm not interested in (?=.*\banymore\b)", "interested", _before_anymore, 0.85),
        holds=False,
    ),
]

_CANCELLED_REMINDER = re.compile(
    r"(?:please )?(?:you )?(?:(?:don't (?:need to |have to )?|no need to )remind me to|(?:cancel|delete|drop"
    r"|forget) (?:the|my) reminder to|stop reminding me to) (?P<task>.+)",
    re.IGNORECASE,
)


@with_keywords("remind reminder reminding")
def cancelled_reminder(clause: str) -> Iterator[FactClaim]:
    match = _CANCELLED_REMINDER.match(clause)
    task = trim(re.sub(r"\banymore\b.*", "", match["task"])) if match else ""
    if task:
        yield FactClaim(ACTION, "todo", task, 0.85, holds=False)
