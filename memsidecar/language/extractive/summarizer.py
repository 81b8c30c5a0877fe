"""Summarizer without a model: it selects the most informative sentences and repeats them verbatim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memsidecar.domain.message import Role, speaker_label
from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.selection import Candidate, CandidateBuilder, Salience, select
from memsidecar.language.extractive.sentences import (
    LineWriter,
    SpokenSentence,
    summary_sentences,
    utterance_sentences,
)

_STABLE_SHARE = 0.6  # of the sentences of a summary are preferred to new ones
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
        spoken = [utterance for utterance in utterances if utterance.role != Role.TOOL]
        new = [sentence for utterance in spoken for sentence in utterance_sentences(utterance)]
        if not new and self.count(before) <= max_tokens:
            return before
        labels = {speaker_label(utterance.name, utterance.role) for utterance in utterances}
        former = list(summary_sentences(before, labels))
        sentences = [*former, *new]
        draft = _Draft(sentences, self.count, max_tokens)
        candidates = CandidateBuilder(self.count, self.salience, self.yield_cpu)(
            sentences, stable=int(len(former) * _STABLE_SHARE)
        )
        select(candidates, self.salience.distinctive, draft.accept)
        return draft.text() or self._truncated_sentence(sentences, candidates, max_tokens)

    def _truncated_sentence(
        self, sentences: Sequence[SpokenSentence], candidates: Sequence[Candidate], max_tokens: int
    ) -> str:
        """Return as much of the best sentence as fits, where no whole one does or all are small talk."""
        ranked = sorted(
            candidates,
            key=lambda candidate: (-candidate.density(set()), -len(candidate.weights), candidate.positions),
        )
        for candidate in ranked[:_MAX_TRUNCATED_TRIES]:
            sentence = sentences[candidate.positions[0]]
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
        tokens = self._tokens + candidate.tokens + _LABEL_TOKENS * len(candidate.positions)
        if tokens > self._max_tokens:
            tokens = self._count(self._render([*self._positions, *candidate.positions]))
        if tokens > self._max_tokens:
            return False
        self._positions.extend(candidate.positions)
        self._tokens = tokens
        return True

    def text(self) -> str:
        """Return the text within the limit, even if a tokenizer counts more for the whole than for its parts."""
        while self._positions and self._count(text := self._render(self._positions)) > self._max_tokens:
            self._positions.pop()
        return text if self._positions else ""

    def _render(self, positions: Sequence[int]) -> str:
        return self._writer.render(self._sentences[position] for position in sorted(positions))
