"""Candidate sentences, their scores, and the greedy selection of sentences."""

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from zlib import crc32

from memsidecar.language.extractive.corrections import Statement
from memsidecar.language.extractive.lexicon import (
    DECISION_WORDS,
    FIRST_PERSON,
    PLEASANTRY,
    RESULT_WORDS,
    SECOND_PERSON,
    VAGUE_OPENING,
    Word,
    WordKind,
    classify,
    split_words,
)
from memsidecar.language.extractive.sentences import SpokenSentence, superseded

_OVERHEAD_TOKENS = 6  # cost of a sentence beside its words: label, line end
_MIN_NEW_SHARE = 0.3  # with a smaller share of new words a sentence is a repetition
_MAX_REJECTED = 12  # after so many rejected in a row, no other sentence would fit either
_MIN_CONTENT_WORDS = 3  # with fewer content words a sentence is a remark

_QUESTION = re.compile(r"[?\uff1f\u061f][\"'\u201d\u2019)\]*_\u300d\u300f\uff09]*\Z")
_COLONS = (":", "\uff1a")
_URL = re.compile(r"\b(?:https?://|www\.)\S+")


@dataclass(frozen=True)
class Candidate:
    """Sentences that belong together, mostly one, with their positions, the weights of their words and their cost.

    Of equal candidates the one with the lower `tie_break` comes first. A tie-break that depends on the sentence alone
    makes a rolling summary a fair sample of all ages, neither all old nor all new.
    """

    positions: tuple[int, ...]
    tie_break: int
    weights: Mapping[str, float]
    factor: float
    tokens: int

    def density(self, covered: set[str]) -> float:
        """Return the score per token of the words that are not covered yet."""
        new = sum([weight for word, weight in self.weights.items() if word not in covered])
        return self.factor * new / (self.tokens + _OVERHEAD_TOKENS)

    def repeats(self, covered: set[str], distinctive: float) -> bool:
        """Whether it adds too little to the covered words. One new name or number is enough: dates move."""
        new = [weight for word, weight in self.weights.items() if word not in covered]
        return not new or (max(new) < distinctive and sum(new) < _MIN_NEW_SHARE * sum(self.weights.values()))


def select(candidates: Sequence[Candidate], distinctive: float, accept: Callable[[Candidate], bool]) -> None:
    """Offer the candidates to `accept`, best first, until it rejects many in a row; repetitions are not offered.

    `distinctive` is the least weight of a name or a number.
    """
    covered: set[str] = set()
    by_position = {candidate.positions[0]: candidate for candidate in candidates}
    heap = [
        (-candidate.density(covered), candidate.tie_break, candidate.positions[0])
        for candidate in candidates
        if candidate.factor
    ]
    heapq.heapify(heap)
    rejected = 0
    while heap and rejected < _MAX_REJECTED:
        before, tie_break, position = heapq.heappop(heap)
        candidate = by_position[position]
        if candidate.repeats(covered, distinctive):
            continue
        now = -candidate.density(covered)
        if now > before and heap and (now, tie_break, position) > heap[0]:
            heapq.heappush(heap, (now, tie_break, position))
        elif accept(candidate):
            covered.update(candidate.weights)
            rejected = 0
        else:
            rejected += 1


@dataclass(frozen=True)
class Salience:
    """Weights of words and factors of sentences. A rare word has the weight 1."""

    rare: float = 1.0
    common: float = 0.2
    name: float = 1.5
    number: float = 1.4
    calendar: float = 1.3

    decision: float = 1.4
    """A sentence that states a decision."""

    result: float = 1.1
    """A sentence that states a result, a cause or a failure."""

    answered: float = 1.1
    """A question with its answer: the answer alone says nothing."""

    first_person: float = 1.2
    """Statements of speakers about themselves, which no other source has."""

    second_person: float = 0.8
    """Sentences that address the other speaker: mostly praise and advice."""

    question: float = 0.6
    pleasantry: float = 0.4
    bracketed: float = 0.5
    """Text in brackets: mostly a description of an attachment."""

    vague_opening: float = 0.75
    """A sentence that begins with "it" or "that" and so depends on another one."""

    introduction: float = 0.5
    """A sentence that ends with a colon: mostly, code or data after it is left out."""

    remark: float = 0.5
    assistant: float = 0.8
    """The user's statements cannot be produced again; most of the assistant's can."""

    system: float = 0.3
    """Instructions to the assistant."""

    @property
    def distinctive(self) -> float:
        """The least weight of a name or a number."""
        return min(self.name, self.number)

    def weights(self, words: Iterable[Word]) -> Mapping[str, float]:
        """Return the distinct roots of a sentence with their weights."""
        weights: dict[str, float] = {}
        by_kind = self._weights_by_kind(name=self.rare)  # the first word is capitalised in any case
        for root, kind, _ in words:
            if kind and (weight := by_kind[kind]) > weights.get(root, 0.0):
                weights[root] = weight
            by_kind[WordKind.NAME] = self.name
        return weights

    def _weights_by_kind(self, name: float) -> list[float]:
        """Return the weights in the order of WordKind."""
        return [0.0, self.number, self.calendar, self.common, name, self.rare]

    def factor(self, sentence: SpokenSentence, words: Iterable[Word], weights: Mapping[str, float]) -> float:
        """Return the factor of the whole sentence; 0 for one without content."""
        content_words = sum([weight > self.common for weight in weights.values()])
        is_pleasantry = PLEASANTRY.match(sentence.text)
        if content_words < (_MIN_CONTENT_WORDS if is_pleasantry else 1 + is_question(sentence.text)):
            return 0.0
        forms = {form for _, _, form in words}
        return self._role_factor(sentence.label) * self._form_factor(sentence.text, content_words) * self._stance(forms)

    def _role_factor(self, label: str) -> float:
        return {"Assistant": self.assistant, "System": self.system}.get(label, 1.0)

    def _form_factor(self, text: str, content_words: int) -> float:
        return (
            (self.remark if content_words < _MIN_CONTENT_WORDS else 1.0)
            * (self.pleasantry if PLEASANTRY.match(text) else 1.0)
            * (self.question if is_question(text) else 1.0)
            * (self.bracketed if text.startswith(("[", "(")) else 1.0)
            * (self.vague_opening if VAGUE_OPENING.match(text) else 1.0)
            * (self.introduction if text.endswith(_COLONS) else 1.0)
        )

    def _stance(self, forms: Set[str]) -> float:
        outcome = self.decision if forms & DECISION_WORDS else self.result if forms & RESULT_WORDS else 1.0
        if forms & FIRST_PERSON:
            return outcome * self.first_person
        return outcome * (self.second_person if forms & SECOND_PERSON else 1.0)


def classified_words(sentence: str) -> list[Word]:
    """Return the words of a sentence without those of its URLs."""
    return [classify(word) for word in split_words(_URL.sub(" ", sentence))]


def is_question(text: str) -> bool:
    return bool(_QUESTION.search(text))


_MAX_ANSWER_WORDS = 6
"A longer answer is understood without its question."
_YES_OR_NO = re.compile(r"(?:yes|no|yep|nope|ja|nein|sí|是|不|はい|いいえ)\b", re.IGNORECASE)

_STABLE_FACTOR = 1.5
"""The first lines of a summary are preferred to new ones: then the start of the prompt, which providers cache, changes
less often. The summary loses no content by it (`benchmarks.summaries`)."""


@dataclass(frozen=True)
class CandidateBuilder:
    """Builds the candidates of one list of sentences. `count` returns the tokens of a text."""

    count: Callable[[str], int]
    salience: Salience = field(default=Salience())
    yield_cpu: Callable[[], None] = lambda: None

    def __call__(self, sentences: Sequence[SpokenSentence], stable: int = 0) -> list[Candidate]:
        """Return the candidates in the order of time; the first `stable` sentences are preferred."""
        words = [self._classified(sentence) for sentence in sentences]
        statements = [Statement.of(sentence.text, known) for sentence, known in zip(sentences, words, strict=True)]
        corrected = superseded(statements)
        return [
            self._candidate(positions, sentences, words, positions[0] < stable)
            for positions in _units(sentences, words)
            if corrected.isdisjoint(positions)
        ]

    def _classified(self, sentence: SpokenSentence) -> list[Word]:
        self.yield_cpu()
        return classified_words(sentence.text)

    def _candidate(
        self,
        positions: tuple[int, ...],
        sentences: Sequence[SpokenSentence],
        words: Sequence[Sequence[Word]],
        is_stable: bool,
    ) -> Candidate:
        weights: dict[str, float] = {}
        factor = 0.0
        for position in positions:
            own: Mapping[str, float] = self.salience.weights(words[position])
            factor = max(factor, self.salience.factor(sentences[position], words[position], own))
            weights.update({root: max(weight, weights.get(root, 0.0)) for root, weight in own.items()})
        text = " ".join(sentences[position].text for position in positions)
        factor *= (_STABLE_FACTOR if is_stable else 1) * (self.salience.answered if len(positions) > 1 else 1)
        tie_break = crc32(text.encode("utf-8", "replace"))
        return Candidate(positions, tie_break, weights, factor, self.count(text) if factor else 0)


def _units(sentences: Sequence[SpokenSentence], words: Sequence[Sequence[Word]]) -> Iterator[tuple[int, ...]]:
    """Yield the positions that are kept or left out together: a question and its short answer, else one sentence."""
    position = 0
    while position < len(sentences):
        following = position + 1
        if following < len(sentences) and _is_answered(sentences[position], sentences[following], words[following]):
            yield position, following
            position += 2
        else:
            yield (position,)
            position += 1


def _is_answered(question: SpokenSentence, answer: SpokenSentence, words: Sequence[Word]) -> bool:
    """Whether another speaker answers with a sentence that is not understood without the question."""
    if not question.label or not answer.label or question.label == answer.label or len(words) > _MAX_ANSWER_WORDS:
        return False
    if not is_question(question.text) or is_question(answer.text):
        return False
    has_content = any(word.kind not in (WordKind.STOP, WordKind.COMMON) for word in words)
    return bool(_YES_OR_NO.match(answer.text)) or (has_content and not PLEASANTRY.match(answer.text))
