"""Fact extraction by a language model: prompt, and strict validation of the answer."""

import json
from collections.abc import Sequence

from memsidecar.domain.fact import FactType
from memsidecar.domain.message import Role
from memsidecar.endpoint.client import reject_constant
from memsidecar.language.batches import (
    BATCH_TOKENS,
    DATA_NOT_INSTRUCTIONS,
    CountTokens,
    PromptMessage,
    batches,
    bisect,
    render,
)
from memsidecar.language.contract import Finding, LanguageModel, MalformedAnswer, TextRejected, Utterance

MAX_FINDINGS = 50
MAX_KEY_CHARACTERS = 64
MAX_VALUE_CHARACTERS = 500

TYPES = {type.name.lower(): type for type in FactType}

_FACT = {
    "type": {"type": "string", "enum": list(TYPES)},
    "key": {"type": "string"},
    "value": {"type": "string"},
    "confidence": {"type": "number"},
    "message_numbers": {"type": "array", "items": {"type": "integer"}},
    "holds": {"type": "boolean"},
}

# Without lengths and ranges, which some servers reject in a strict schema; the answer is checked for them.
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

# Enough for the findings of one batch; a longer answer is truncated JSON and counts as malformed.
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
- key: a short name in lower case for what is known, at most {MAX_KEY_CHARACTERS} characters; the same thing \
always has the same key.
- value: what is known, short and in the user's language, at most {MAX_VALUE_CHARACTERS} characters.
- confidence: from 0 to 1, how clearly it is said.
- message_numbers: the messages that say it, at least one of them the user's.
- holds: true; or false where the user takes something back ("I no longer work at Acme"): then value is what no \
longer holds, or empty if none of it does.

Only what the user says of themselves counts: nothing that the assistant alone says or guesses, and nothing that is \
hypothetical, negated, quoted or about others. At most {MAX_FINDINGS} facts. If there are none, answer \
{{"facts": []}}."""


class ModelFactExtractor:
    """FactExtractor that asks a model once for each batch, and again with the problem if the answer is malformed."""

    def __init__(self, model: LanguageModel, count: CountTokens, batch_tokens: int = BATCH_TOKENS) -> None:
        self._model = model
        self._count = count
        self._batch_tokens = batch_tokens

    @property
    def origin(self) -> str:
        return self._model.name

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        found = [self._extract_batch(batch) for batch in batches(utterances, self._count, self._batch_tokens)]
        return [finding for findings in found for finding in findings]

    def _extract_batch(self, batch: Sequence[PromptMessage]) -> list[Finding]:
        """Extract the findings of a batch. If its text is rejected, it may be too long for this model: bisect it."""
        try:
            return self._request(batch)
        except TextRejected:
            halves = bisect(batch)
            if halves is None:
                raise
        return [*self._extract_batch(halves[0]), *self._extract_batch(halves[1])]

    def _request(self, batch: Sequence[PromptMessage]) -> list[Finding]:
        problem = ""
        for _ in range(ATTEMPTS):
            try:
                return parse_findings(self._complete(batch, problem), batch)
            except TextRejected:
                raise
            except MalformedAnswer as error:
                problem = str(error)
        raise MalformedAnswer(f"{self.origin} gave no usable facts {ATTEMPTS} times; at last: {problem}")

    def _complete(self, batch: Sequence[PromptMessage], problem: str) -> str:
        retry = f"\n\nYour last answer could not be used: {problem}. Answer again, and mind this." if problem else ""
        return self._model.complete(INSTRUCTIONS + retry, render(batch), max_tokens=ANSWER_TOKENS, schema=SCHEMA)


def parse_findings(answer: str, batch: Sequence[PromptMessage]) -> list[Finding]:
    """Return the findings in the order of their messages.

    Raises MalformedAnswer, whose message names the problem and quotes nothing of the answer.
    """
    facts = _parse_object(answer).get("facts")
    if not isinstance(facts, list):
        raise MalformedAnswer('it has no list of "facts"')
    if len(facts) > MAX_FINDINGS:
        raise MalformedAnswer(f"it has more than {MAX_FINDINGS} facts")
    numbered = [_numbered_finding(fact, number, batch) for number, fact in enumerate(facts, start=1)]
    return [finding for _, finding in sorted(numbered, key=lambda pair: pair[0])]


def _parse_object(text: str) -> dict[str, object]:
    """Parse the text from the first brace to the last one as one JSON object.

    No object is searched for inside of it: a part of a broken answer may look like an answer.
    """
    braced = text[text.find("{") : text.rfind("}") + 1]
    try:
        value = json.loads(braced, parse_constant=reject_constant)
    except (ValueError, RecursionError):
        raise MalformedAnswer("it is not one JSON object") from None
    if not isinstance(value, dict):
        raise MalformedAnswer("it is not one JSON object")
    return value


def _numbered_finding(fact: object, number: int, batch: Sequence[PromptMessage]) -> tuple[int, Finding]:
    """Return the finding with the number of its last message."""
    try:
        if not isinstance(fact, dict):
            raise MalformedAnswer("is no object")
        numbers = _message_numbers(fact.get("message_numbers"), batch)
        return numbers[-1], _finding(fact, _message_ids(numbers, batch))
    except MalformedAnswer as error:
        raise MalformedAnswer(f"fact {number}: {error}") from None


def _finding(fact: dict[str, object], source_message_ids: tuple[str, ...]) -> Finding:
    holds = fact.get("holds")
    if not isinstance(holds, bool):
        raise MalformedAnswer("holds is neither true nor false")
    key = _text(fact, "key", MAX_KEY_CHARACTERS).lower()
    value = _text(fact, "value", MAX_VALUE_CHARACTERS)
    # A retraction without a value ends the fact of the key whatever its value.
    if not key or (holds and not value):
        raise MalformedAnswer("key or value is empty")
    return Finding(_type(fact), key, value, _confidence(fact), source_message_ids, holds)


def _type(fact: dict[str, object]) -> FactType:
    name = fact.get("type")
    if not isinstance(name, str) or name not in TYPES:
        raise MalformedAnswer(f"type is none of {', '.join(TYPES)}")
    return TYPES[name]


def _text(fact: dict[str, object], name: str, max_characters: int) -> str:
    text = fact.get(name)
    if not isinstance(text, str):
        raise MalformedAnswer(f"{name} is no text")
    stripped = text.strip()
    if len(stripped) > max_characters:
        raise MalformedAnswer(f"{name} is longer than {max_characters} characters")
    # JSON can encode half a surrogate pair, which no store accepts.
    if any("\ud800" <= character <= "\udfff" or character == "\0" for character in stripped):
        raise MalformedAnswer(f"{name} has invalid characters")
    return stripped


def _confidence(fact: dict[str, object]) -> float:
    confidence = fact.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise MalformedAnswer("confidence is no number from 0 to 1")
    return float(confidence)


def _message_numbers(value: object, batch: Sequence[PromptMessage]) -> list[int]:
    """Return the numbers sorted. At least one message must be the user's: the assistant alone may be guessing."""
    if not isinstance(value, list) or not value:
        raise MalformedAnswer("message_numbers is no list of numbers")
    if any(type(number) is not int or not 1 <= number <= len(batch) for number in value):
        raise MalformedAnswer(f"message_numbers has an item that is no number from 1 to {len(batch)}")
    if all(batch[number - 1].utterance.role != Role.USER for number in value):
        raise MalformedAnswer("no message of the user says it; leave it out")
    return sorted(set(value))


def _message_ids(numbers: Sequence[int], batch: Sequence[PromptMessage]) -> tuple[str, ...]:
    """Return each id once: a long message may be several messages of the prompt."""
    return tuple(dict.fromkeys(batch[number - 1].utterance.message_id for number in numbers))
