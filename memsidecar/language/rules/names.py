"""Names of people, at the beginning of a text."""

import re
from collections.abc import Iterator

from memsidecar.language.rules.forms import Selective
from memsidecar.language.rules.needs import CAPITAL, need_of
from memsidecar.language.rules.values import trimmed
from memsidecar.language.rules.words.names import GIVEN, NOT_NAMES
from memsidecar.language.rules.words.places import PLACES

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
