"""The summarizer that needs no model: it repeats the sentences that say most, and never says anything of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.selection import Candidate, Said, Salience, choose, words_in
from memsidecar.language.extractive.sentences import Lines, label_of, read, spoken

_SETTLED_SHARE, _SETTLED_FACTOR = 0.6, 1.5
"""The first lines of a summary stay unless others say clearly more, and the last ones give way as they must: then the
beginning of a prompt, which providers cache, changes less. Nothing is lost by it (`benchmarks.summaries`)."""
_TRIES = 32  # of so many sentences one begins with something that fits
_LABEL_TOKENS = 8  # what a name and a line's end may cost; only a guess, the text is counted in the end


@dataclass(frozen=True)
class ExtractiveSummarizer:
    """Deterministic, thread-safe, and linear in what was said. `count` says how many tokens a text has; `give_way` is
    called between sentences, for where others go first.

    The lines of the summary before compete with the new sentences by the same measure, which knows no age: a sentence
    stays until others say clearly more. Empty only where nothing was said in words, or not one of them fits.
    """

    count: Callable[[str], int]
    yield_cpu: Callable[[], None] = lambda: None
    salience: Salience = field(default=Salience())

    @property
    def origin(self) -> str:
        return "extractive"

    def summarize(self, before: str, utterances: Sequence[Utterance], max_tokens: int) -> str:
        news = [said for utterance in utterances for said in spoken(utterance)]
        if not news and self.count(before) <= max_tokens:
            return before
        labels = {label_of(utterance) for utterance in utterances}
        kept = list(read(before, labels))
        sentences = [*kept, *news]
        page = _Page(sentences, self.count, max_tokens)
        candidates = self._candidates(sentences, int(len(kept) * _SETTLED_SHARE))
        choose(candidates, min(self.salience.name, self.salience.number), page.takes)
        return page.text() or self._first_words(sentences, max_tokens)

    def _candidates(self, sentences: Sequence[Said], settled: int = 0) -> list[Candidate]:
        return [self._candidate(place, said, place < settled) for place, said in enumerate(sentences)]

    def _candidate(self, place: int, said: Said, settled: bool) -> Candidate:
        self.yield_cpu()
        words = words_in(said.text)
        weights = self.salience.words(words)
        factor = self.salience.factor(said, words, weights) * (_SETTLED_FACTOR if settled else 1)
        lot = crc32(said.text.encode("utf-8", "replace"))
        return Candidate(place, lot, weights, factor, self.count(said.text) if factor else 0)

    def _first_words(self, sentences: Sequence[Said], max_tokens: int) -> str:
        """Where no whole sentence fits, or all are small talk: as much of the most telling one as fits."""
        ranked = sorted(self._candidates(sentences), key=lambda one: (-one.density(set()), -len(one.words), one.place))
        for one in ranked[:_TRIES]:
            said = sentences[one.place]
            for text in (Lines().written([said]), said.text):
                if self.count(text) <= max_tokens:
                    return text
            if begun := self._beginning(said.text, max_tokens):
                return begun
        return ""

    def _beginning(self, text: str, max_tokens: int) -> str:
        """As many of its words as fit, or of the signs of the first one."""
        words = [at for at, sign in enumerate(text) if sign.isspace()]
        for ends in (words, range(1, words[0] if words else len(text))):
            if fitting := [end for end in ends if self.count(text[:end].rstrip()) <= max_tokens]:
                return text[: fitting[-1]].rstrip()
        return ""


class _Page:
    """What was taken so far, and the room that is left. Costs are guessed while there is room, then counted."""

    def __init__(self, sentences: Sequence[Said], count: Callable[[str], int], max_tokens: int) -> None:
        self._sentences, self._count, self._max_tokens = sentences, count, max_tokens
        self._lines = Lines()
        self._places: list[int] = []
        self._tokens = 0

    def takes(self, one: Candidate) -> bool:
        guess = self._tokens + one.tokens + _LABEL_TOKENS
        if guess > self._max_tokens:
            guess = self._count(self._with([*self._places, one.place]))
        if guess > self._max_tokens:
            return False
        self._places.append(one.place)
        self._tokens = guess
        return True

    def text(self) -> str:
        """Within its limit, even where a tokenizer makes more of a whole than of its parts."""
        while self._places and self._count(text := self._with(self._places)) > self._max_tokens:
            self._places.pop()
        return text if self._places else ""

    def _with(self, places: Sequence[int]) -> str:
        return self._lines.written(self._sentences[place] for place in sorted(places))
