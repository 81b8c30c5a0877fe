"""What a model says about a user, believed only if all of it is as it was asked for."""

from collections.abc import Sequence

from memsidecar.domain.fact import FactType
from memsidecar.domain.message import Role
from memsidecar.language.contract import Finding, MalformedAnswer
from memsidecar.language.only_json import only_object
from memsidecar.language.parts import Piece

MOST_FINDINGS = 50
LONGEST_KEY_CHARACTERS = 64
LONGEST_VALUE_CHARACTERS = 500

TYPES = {type.name.lower(): type for type in FactType}

_FACT = {
    "type": {"type": "string", "enum": list(TYPES)},
    "key": {"type": "string"},
    "value": {"type": "string"},
    "confidence": {"type": "number"},
    "message_numbers": {"type": "array", "items": {"type": "integer"}},
    "holds": {"type": "boolean"},
}

# Without lengths and ranges, which some servers refuse in a strict schema; they are checked here all the same.
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {"type": "object", "properties": _FACT, "required": list(_FACT), "additionalProperties": False},
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}


def read_findings(answer: str, pieces: Sequence[Piece]) -> list[Finding]:
    """In the order of what was said. Raises MalformedAnswer, which says what is wrong and shows nothing of it."""
    facts = only_object(answer).get("facts")
    if not isinstance(facts, list):
        raise MalformedAnswer('it has no list of "facts"')
    if len(facts) > MOST_FINDINGS:
        raise MalformedAnswer(f"it has more than {MOST_FINDINGS} facts")
    placed = [_placed(fact, number, pieces) for number, fact in enumerate(facts, start=1)]
    return [finding for _, finding in sorted(placed, key=lambda each: each[0])]


def _placed(fact: object, number: int, pieces: Sequence[Piece]) -> tuple[int, Finding]:
    """With the number of the last message that says it."""
    try:
        if not isinstance(fact, dict):
            raise MalformedAnswer("is no object")
        numbers = _numbers(fact.get("message_numbers"), pieces)
        return numbers[-1], _finding(fact, _ids(numbers, pieces))
    except MalformedAnswer as wrong:
        raise MalformedAnswer(f"fact {number}: {wrong}") from None


def _finding(fact: dict[str, object], source_message_ids: tuple[str, ...]) -> Finding:
    holds = fact.get("holds")
    if not isinstance(holds, bool):
        raise MalformedAnswer("holds is neither true nor false")
    key = _text(fact, "key", LONGEST_KEY_CHARACTERS).lower()
    value = _text(fact, "value", LONGEST_VALUE_CHARACTERS)
    # Without a value, whatever is kept under the key is taken back.
    if not key or (holds and not value):
        raise MalformedAnswer("key or value is empty")
    return Finding(_type(fact), key, value, _confidence(fact), source_message_ids, holds)


def _type(fact: dict[str, object]) -> FactType:
    name = fact.get("type")
    if not isinstance(name, str) or name not in TYPES:
        raise MalformedAnswer(f"type is none of {', '.join(TYPES)}")
    return TYPES[name]


def _text(fact: dict[str, object], name: str, longest_characters: int) -> str:
    text = fact.get(name)
    if not isinstance(text, str):
        raise MalformedAnswer(f"{name} is no text")
    stripped = text.strip()
    if len(stripped) > longest_characters:
        raise MalformedAnswer(f"{name} is longer than {longest_characters} characters")
    # Half a surrogate pair, which JSON can write, would break whoever stores it.
    if any("\ud800" <= character <= "\udfff" or character == "\0" for character in stripped):
        raise MalformedAnswer(f"{name} has characters that are none")
    return stripped


def _confidence(fact: dict[str, object]) -> float:
    confidence = fact.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise MalformedAnswer("confidence is no number from 0 to 1")
    return float(confidence)


def _numbers(given: object, pieces: Sequence[Piece]) -> list[int]:
    """Of messages that exist, one of them at least the user's: what only the assistant says may be its guess."""
    if not isinstance(given, list) or not given:
        raise MalformedAnswer("message_numbers is no list of numbers")
    if any(type(number) is not int or not 1 <= number <= len(pieces) for number in given):
        raise MalformedAnswer(f"message_numbers has what is no number from 1 to {len(pieces)}")
    if all(pieces[number - 1].utterance.role != Role.USER for number in given):
        raise MalformedAnswer("no message of the user says it; leave it out")
    return sorted(set(given))


def _ids(numbers: Sequence[int], pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Once each: a long message may have been shown in pieces."""
    return tuple(dict.fromkeys(pieces[number - 1].utterance.message_id for number in numbers))
