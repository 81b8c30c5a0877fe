"""How much a sentence says, whenever it was said: nothing here depends on its age or on what else was said.

That is what keeps a rolling summary fair. Weights that come from the messages at hand would favour the newest, since
of the old ones only a few sentences are left to be counted.
"""

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.language.extractive.vocabulary import (
    DECIDING,
    EMPTY_OPENINGS,
    LISTENER,
    SPEAKER,
    VAGUE_OPENINGS,
    Kind,
    Known,
    known,
    words_of,
)

_QUESTION = re.compile(r"[?\uff1f\u061f][\"'\u201d\u2019)\]*_\u300d\u300f\uff09]*\Z")
_LINK = re.compile(r"\b(?:https?://|www\.)\S+")
_SENTENCE_WORDS = 3  # with fewer content words, it is a remark


class Said(NamedTuple):
    """A sentence and who said it; no label where nobody knows."""

    label: str
    text: str


@dataclass(frozen=True)
class Salience:
    """What each sign is worth. A rare word is the yardstick."""

    rare: float = 1.0
    common: float = 0.2
    name: float = 1.5
    number: float = 1.4
    calendar: float = 1.3
    deciding: float = 1.4
    """That it was decided makes all of a sentence matter."""

    own: float = 1.2
    """What the speaker says of themselves is not known from elsewhere."""

    addressing: float = 0.8
    """What is said to the other one is mostly praise and advice."""

    question: float = 0.6
    courtesy: float = 0.5
    aside: float = 0.5
    """In brackets stands what was attached, or done beside."""

    vague: float = 0.75
    """A sentence that begins with "it" or "that" speaks of one that is not here."""

    remark: float = 0.5
    assistant: float = 0.8
    """What the user said cannot be had again; most of what an assistant said can."""

    bystander: float = 0.3
    """Of tools and instructions only what nothing else says."""

    def words(self, words: Iterable[Known]) -> Mapping[str, float]:
        """The distinct roots of a sentence with what each is worth."""
        weights: dict[str, float] = {}
        worth = self._worth(self.rare)  # a capital says nothing of the first word
        for root, kind, _ in words:
            if kind and (weight := worth[kind]) > weights.get(root, 0.0):
                weights[root] = weight
            worth[Kind.NAME] = self.name
        return weights

    def _worth(self, name: float) -> list[float]:
        """In the order of the kinds."""
        return [0.0, self.number, self.calendar, self.common, name, self.rare]

    def factor(self, said: Said, words: Iterable[Known], weights: Mapping[str, float]) -> float:
        """What the sentence is worth beyond its words; 0 for what says nothing."""
        telling = sum([weight > self.common for weight in weights.values()])
        if telling < (_SENTENCE_WORDS if EMPTY_OPENINGS.match(said.text) else 1 + _asks(said.text)):
            return 0.0
        forms = {form for _, _, form in words}
        return self._speaker(said.label) * self._manner(said.text, telling) * self._stance(forms)

    def _manner(self, text: str, telling: int) -> float:
        return (
            (self.remark if telling < _SENTENCE_WORDS else 1.0)
            * (self.courtesy if EMPTY_OPENINGS.match(text) else 1.0)
            * (self.question if _asks(text) else 1.0)
            * (self.aside if text.startswith(("[", "(")) else 1.0)
            * (self.vague if VAGUE_OPENINGS.match(text) else 1.0)
        )

    def _stance(self, forms: Set[str]) -> float:
        deciding = self.deciding if forms & DECIDING else 1.0
        if forms & SPEAKER:
            return deciding * self.own
        return deciding * (self.addressing if forms & LISTENER else 1.0)

    def _speaker(self, label: str) -> float:
        return {"Assistant": self.assistant, "Tool": self.bystander, "System": self.bystander}.get(label, 1.0)


def words_in(sentence: str) -> list[Known]:
    """An address has no words."""
    return [known(word) for word in words_of(_LINK.sub(" ", sentence))]


def _asks(text: str) -> bool:
    return bool(_QUESTION.search(text))
