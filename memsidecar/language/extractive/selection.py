"""Sentence scores, greedy selection."""

import heapq
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.language.extractive.lexicon import (
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

_OVERHEAD_TOKENS = 6  # a label, a line: what a sentence costs beside its words
_REPEATED = 0.3  # with less than this share of news, it was said before
_MISSES = 12  # so many in a row did not fit: what is left would not either

_QUESTION = re.compile(r"[?\uff1f\u061f][\"'\u201d\u2019)\]*_\u300d\u300f\uff09]*\Z")
_LINK = re.compile(r"\b(?:https?://|www\.)\S+")
_SENTENCE_WORDS = 3  # with fewer content words, it is a remark


@dataclass(frozen=True)
class Candidate:
    """A sentence to choose: its place in what was said, and what it is worth.

    Of equals the one of the lower lot comes first. A lot that depends on the sentence alone keeps a rolling summary
    from being all old or all new: of things that are worth the same, it is a fair sample of every age.
    """

    place: int
    lot: int
    words: Mapping[str, float]
    factor: float
    tokens: int

    def density(self, covered: set[str]) -> float:
        news = sum([weight for word, weight in self.words.items() if word not in covered])
        return self.factor * news / (self.tokens + _OVERHEAD_TOKENS)

    def repeats(self, covered: set[str], distinctive: float) -> bool:
        """A sentence that differs in a name or a number alone is news: dates move."""
        fresh = [weight for word, weight in self.words.items() if word not in covered]
        return not fresh or (max(fresh) < distinctive and sum(fresh) < _REPEATED * sum(self.words.values()))


def choose(candidates: Sequence[Candidate], distinctive: float, takes: Callable[[Candidate], bool]) -> None:
    """Offer the candidates, best first, to `takes`, until it takes no more; none that repeats what it took.

    `distinctive` is what a name or a number weighs at least.
    """
    covered: set[str] = set()
    by_place = {one.place: one for one in candidates}
    heap = [(-one.density(covered), one.lot, one.place) for one in candidates if one.factor]
    heapq.heapify(heap)
    misses = 0
    while heap and misses < _MISSES:
        before, lot, place = heapq.heappop(heap)
        one = by_place[place]
        if one.repeats(covered, distinctive):
            continue
        if (now := -one.density(covered)) > before and heap and (now, lot, place) > heap[0]:
            heapq.heappush(heap, (now, lot, place))
        elif takes(one):
            covered.update(one.words)
            misses = 0
        else:
            misses += 1


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
