"""Candidates of a summary: sentences with their weights and costs, without those that were corrected later."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from memsidecar.language.extractive.corrections import Statement, superseded
from memsidecar.language.extractive.lexicon import PLEASANTRY, Word, WordKind
from memsidecar.language.extractive.selection import Candidate, Salience, classified_words, is_question
from memsidecar.language.extractive.sentences import SpokenSentence

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
