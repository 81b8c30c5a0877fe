"""Facts about a user as a language model reads them out of what was said."""

from collections.abc import Sequence

from memsidecar.language.contract import Finding, LanguageModel, MalformedAnswer, Utterance
from memsidecar.language.fact_answer import (
    LONGEST_KEY_CHARACTERS,
    LONGEST_VALUE_CHARACTERS,
    MOST_FINDINGS,
    SCHEMA,
    read_findings,
)
from memsidecar.language.parts import DATA_NOT_INSTRUCTIONS, PART_TOKENS, Count, Piece, halves, parts, shown
from memsidecar.language.refused import TextRefused

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


class ModelFacts:
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
        except TextRefused:
            shorter = halves(pieces)
            if shorter is None:
                raise
        return [*self._findings(shorter[0]), *self._findings(shorter[1])]

    def _asked(self, pieces: Sequence[Piece]) -> list[Finding]:
        problem = ""
        for _ in range(ATTEMPTS):
            try:
                return read_findings(self._answer(pieces, problem), pieces)
            except TextRefused:
                raise
            except MalformedAnswer as malformed:
                problem = str(malformed)
        raise MalformedAnswer(f"{self.origin} gave no usable facts {ATTEMPTS} times; at last: {problem}")

    def _answer(self, pieces: Sequence[Piece], problem: str) -> str:
        again = f"\n\nYour last answer could not be used: {problem}. Answer again, and mind this." if problem else ""
        return self._model.complete(INSTRUCTIONS + again, shown(pieces), max_tokens=ANSWER_TOKENS, schema=SCHEMA)
