"""Summarizer without a model: it selects the most informative sentences and repeats them verbatim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.selection import Candidate, Salience, classified_words, select
from memsidecar.language.extractive.sentences import (
    LineWriter,
    SpokenSentence,
    speaker_label,
    summary_sentences,
    utterance_sentences,
)

_STABLE_SHARE, _STABLE_FACTOR = 0.6, 1.5
"""The first lines of a summary are preferred to new ones: then the start of the prompt, which providers cache, changes
less often. The summary loses no content by it (`benchmarks.summaries`)."""
_MAX_TRUNCATED_TRIES = 32
_LABEL_TOKENS = 8  # estimated cost of a label and a line end; the final text is counted exactly


@dataclass(frozen=True)
class ExtractiveSummarizer:
    """Summarizer that is deterministic, thread-safe and linear in the length of the conversation.

    `count` returns the tokens of a text. `yield_cpu` is called between sentences, so that RPCs are served first.

    The sentences of the former summary compete with the new ones by the same score, which does not depend on age. The
    summary is empty only if there is no text in words, or if not even one word fits.
    """

    count: Callable[[str], int]
    yield_cpu: Callable[[], None] = lambda: None
    salience: Salience = field(default=Salience())

    @property
    def origin(self) -> str:
        return "extractive"

    def summarize(self, before: str, utterances: Sequence[Utterance], max_tokens: int) -> str:
        new = [sentence for utterance in utterances for sentence in utterance_sentences(utterance)]
        if not new and self.count(before) <= max_tokens:
            return before
        labels = {speaker_label(utterance) for utterance in utterances}
        former = list(summary_sentences(before, labels))
        sentences = [*former, *new]
        draft = _Draft(sentences, self.count, max_tokens)
        candidates = self._candidates(sentences, int(len(former) * _STABLE_SHARE))
        select(candidates, min(self.salience.name, self.salience.number), draft.accept)
        return draft.text() or self._truncated_sentence(sentences, max_tokens)

    def _candidates(self, sentences: Sequence[SpokenSentence], stable: int = 0) -> list[Candidate]:
        return [self._candidate(position, sentence, position < stable) for position, sentence in enumerate(sentences)]

    def _candidate(self, position: int, sentence: SpokenSentence, is_stable: bool) -> Candidate:
        self.yield_cpu()
        words = classified_words(sentence.text)
        weights = self.salience.weights(words)
        factor = self.salience.factor(sentence, words, weights) * (_STABLE_FACTOR if is_stable else 1)
        tie_break = crc32(sentence.text.encode("utf-8", "replace"))
        return Candidate(position, tie_break, weights, factor, self.count(sentence.text) if factor else 0)

    def _truncated_sentence(self, sentences: Sequence[SpokenSentence], max_tokens: int) -> str:
        """Return as much of the best sentence as fits, where no whole one does or all are small talk."""
        ranked = sorted(
            self._candidates(sentences),
            key=lambda candidate: (-candidate.density(set()), -len(candidate.weights), candidate.position),
        )
        for candidate in ranked[:_MAX_TRUNCATED_TRIES]:
            sentence = sentences[candidate.position]
            for text in (LineWriter().render([sentence]), sentence.text):
                if self.count(text) <= max_tokens:
                    return text
            if prefix := self._fitting_prefix(sentence.text, max_tokens):
                return prefix
        return ""

    def _fitting_prefix(self, text: str, max_tokens: int) -> str:
        """Return the words from the start that fit, or else the characters of the first word."""
        spaces = [at for at, character in enumerate(text) if character.isspace()]
        for ends in (spaces, range(1, spaces[0] if spaces else len(text))):
            if fitting := [end for end in ends if self.count(text[:end].rstrip()) <= max_tokens]:
                return text[: fitting[-1]].rstrip()
        return ""


class _Draft:
    """The sentences selected so far. Their tokens are estimated while there is room, and counted near the limit."""

    def __init__(self, sentences: Sequence[SpokenSentence], count: Callable[[str], int], max_tokens: int) -> None:
        self._sentences, self._count, self._max_tokens = sentences, count, max_tokens
        self._writer = LineWriter()
        self._positions: list[int] = []
        self._tokens = 0

    def accept(self, candidate: Candidate) -> bool:
        """Add the candidate if it fits."""
        tokens = self._tokens + candidate.tokens + _LABEL_TOKENS
        if tokens > self._max_tokens:
            tokens = self._count(self._render([*self._positions, candidate.position]))
        if tokens > self._max_tokens:
            return False
        self._positions.append(candidate.position)
        self._tokens = tokens
        return True

    def text(self) -> str:
        """Return the text within the limit, even if a tokenizer counts more for the whole than for its parts."""
        while self._positions and self._count(text := self._render(self._positions)) > self._max_tokens:
            self._positions.pop()
        return text if self._positions else ""

    def _render(self, positions: Sequence[int]) -> str:
        return self._writer.render(self._sentences[position] for position in sorted(positions))
