"""An answer of one or two words means what the question before it says: "What's your name?" - "Leila"."""

import re
from collections.abc import Sequence

from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance

ANSWER_CHARS, ANSWER_WORDS = 60, 4
QUESTION_CHARS = 200

_IN_FULL = {
    r"what(?:'s| is) your (?:first |full )?name|what (?:should|can|may|do) i call you": "my name is {}",
    r"where (?:do you (?:currently )?live|are you (?:based|located|living))(?: now| currently)?": "I live in {}",
    r"where are you (?:originally )?from": "I'm from {}",
    r"where do you work|(?:which|what) company do you work (?:at|for)|who do you work for": "I work at {}",
    r"how old are you|what(?:'s| is) your age": "I'm {} years old",
    r"when(?:'s| is) your birthday": "my birthday is {}",
}
# The question has to be the last thing that was said, and to ask for nothing else.
_QUESTIONS = [(re.compile(rf"\b(?:{asked})\W*$", re.IGNORECASE), full) for asked, full in _IN_FULL.items()]
_PREFIX = re.compile(r"(?:it's|in|at|from|on|for|i'm)\s+", re.IGNORECASE)
_NO_ANSWER = re.compile(
    r"(?:no|nope|yes|why|none|nothing|what|idk|i|skip|guess|not|never|ok|hi|hello|thanks|sorry|somewhere|home|here"
    r"|there|nowhere|that|it)\b",
    re.IGNORECASE,
)


def in_full(utterances: Sequence[Utterance], at: int) -> str:
    """The user's text; where it is a bare answer, as the sentence that it stands for."""
    text = utterances[at].text
    if at == 0 or utterances[at - 1].role != Role.ASSISTANT:
        return text
    answer = _bare_answer(text)
    asked = utterances[at - 1].text.rstrip()[-QUESTION_CHARS:]
    fulls = (full.format(answer) for question, full in _QUESTIONS if answer and question.search(asked))
    return next(fulls, text)


def _bare_answer(text: str) -> str:
    if len(text) > ANSWER_CHARS or "?" in text or "\n" in text.strip():
        return ""
    answer = _PREFIX.sub("", text.strip().split(",")[0].rstrip(".! "), count=1)
    return "" if len(answer.split()) > ANSWER_WORDS or _NO_ANSWER.match(answer) else answer
