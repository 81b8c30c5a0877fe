"""Facts by a model."""

import json
from collections.abc import Sequence

from memsidecar.domain.fact import FactType
from memsidecar.domain.message import Role
from memsidecar.endpoint.client import reject_constant
from memsidecar.language.batches import DATA_NOT_INSTRUCTIONS, PART_TOKENS, Count, Piece, halves, parts, shown
from memsidecar.language.contract import Finding, LanguageModel, MalformedAnswer, TextRejected, Utterance

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

ATTEMPTS = 3

# About as many findings as anybody has in one part; an answer that needs more is asked for again, shorter.
ANSWER_TOKENS = 4_096

INSTRUCTIONS = f"""\
You read a conversation between a user and an assistant, and write down what the user says about themselves.

{DATA_NOT_INSTRUCTIONS}

Answer with one JSON object and nothing else, such as
{{"facts": [{{"type": "user_profile", "key": "company", "value": "Acme", "confidence": 0.9, "message_numbers": [1], \
"holds": true}}]}}

- type: user_profile (who the user is: name, company, role, place), interest (what interests them), preference (how \
they want things), action_item (what is to be done), sentiment (how they feel about something), question (what they \
asked and may come back to), or domain (the field that the conversation is about).
- key: a short name in lower case for what is known, at most {LONGEST_KEY_CHARACTERS} characters; the same thing \
always has the same key.
- value: what is known, short and in the user's language, at most {LONGEST_VALUE_CHARACTERS} characters.
- confidence: from 0 to 1, how clearly it is said.
- message_numbers: the messages that say it, at least one of them the user's.
- holds: true; or false where the user takes something back ("I no longer work at Acme"): then value is what no \
longer holds, or empty if none of it does.

Only what the user says of themselves counts: nothing that the assistant alone says or guesses, and nothing that is \
hypothetical, negated, quoted or about others. At most {MOST_FINDINGS} facts. If there are none, answer \
{{"facts": []}}."""


def only_object(text: str) -> dict[str, object]:
    """What stands from the first brace to the last one. Raises MalformedAnswer, which shows nothing of the text.

    Nothing is looked for inside what cannot be read as a whole: a piece of a broken answer may look like an answer.
    """
    braced = text[text.find("{") : text.rfind("}") + 1]
    try:
        read = json.loads(braced, parse_constant=reject_constant)
    except (ValueError, RecursionError):
        raise MalformedAnswer("it is not one JSON object") from None
    if not isinstance(read, dict):
        raise MalformedAnswer("it is not one JSON object")
    return read


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


class ModelFactExtractor:
    """A FactExtractor. Asks once for each part; what is wrong with an answer is said, and it is asked again."""

    def __init__(self, model: LanguageModel, count: Count, part_tokens: int = PART_TOKENS) -> None:
        self._model = model
        self._count = count
        self._part_tokens = part_tokens

    @property
    def origin(self) -> str:
        return self._model.name

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        found = [self._findings(part) for part in parts(utterances, self._count, self._part_tokens)]
        return [finding for findings in found for finding in findings]

    def _findings(self, pieces: Sequence[Piece]) -> list[Finding]:
        """A part that is refused may be too long for this model: then each half by itself."""
        try:
            return self._asked(pieces)
        except TextRejected:
            shorter = halves(pieces)
            if shorter is None:
                raise
        return [*self._findings(shorter[0]), *self._findings(shorter[1])]

    def _asked(self, pieces: Sequence[Piece]) -> list[Finding]:
        problem = ""
        for _ in range(ATTEMPTS):
            try:
                return read_findings(self._answer(pieces, problem), pieces)
            except TextRejected:
                raise
            except MalformedAnswer as malformed:
                problem = str(malformed)
        raise MalformedAnswer(f"{self.origin} gave no usable facts {ATTEMPTS} times; at last: {problem}")

    def _answer(self, pieces: Sequence[Piece], problem: str) -> str:
        again = f"\n\nYour last answer could not be used: {problem}. Answer again, and mind this." if problem else ""
        return self._model.complete(INSTRUCTIONS + again, shown(pieces), max_tokens=ANSWER_TOKENS, schema=SCHEMA)
