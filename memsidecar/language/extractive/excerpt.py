"""Shorter versions of texts, for contexts that do not hold all of them: of a summary, and of a long message."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import blake2b
from math import log

from memsidecar.domain.text import split_sentences
from memsidecar.language.extractive.selection import Candidate, CandidateBuilder, Salience, select
from memsidecar.language.extractive.sentences import LineWriter, SpokenSentence, summary_sentences

_CHARACTERS_PER_TOKEN = 4  # the ranking compares sentences, so an estimate is enough
_MAX_REMEMBERED = 4_096
LEFT_OUT = "\u2026"
"Marks the places of a passage where text was left out."
_REGION_CHARACTERS = 6_000
"A passage is chosen within a region of this size, so that the time does not depend on the length of the text."
_MAX_PLACES = 256
"Places of one term that are examined to find the region."
_MAX_PIECE_CHARACTERS = 160
"A longer piece is split; the best piece is shown in any case."
_WEIGHT_AFTER, _WEIGHT_BEFORE = 0.8, 0.6
"Parts of the score of a piece for the piece after it and before it: the value of a key is often in the next line."
_FAILURES = ("error", "exception", "failed", "fatal", "critical")
_FAILURE_WEIGHT = 0.5
"Words that matter in a log, whatever the terms."


def shorten(summary: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the best sentences of a summary in their order, at most `max_tokens` by `count`; empty if none fits.

    Sentences are ranked once, whatever the limit, and whole sentences are dropped from the end of the ranking. So a
    smaller limit never shows a sentence that a larger one does not. A summary that fits is returned unchanged. It works
    for summaries of a model too.
    """
    return SummaryShortener()(summary, max_tokens, count, "")


class SummaryShortener:
    """Shortens summaries as `shorten` does. It remembers by a digest which sentences of a summary fit, and no text.

    A summary changes every few turns, and a context is built in each. Ranking takes most of the time.
    """

    def __init__(self) -> None:
        self._fitting: dict[tuple[bytes, int, object], tuple[int, ...]] = {}

    def __call__(self, summary: str, max_tokens: int, count: Callable[[str], int], counter: object) -> str:
        """Return the best sentences. `counter` is what `count` counts with."""
        if count(summary) <= max_tokens:
            return summary
        sentences = list(summary_sentences(summary, labels=()))
        key = (blake2b(summary.encode(), digest_size=16).digest(), max_tokens, counter)
        positions = self._fitting.get(key)
        if positions is None:
            if len(self._fitting) >= _MAX_REMEMBERED:
                self._fitting.clear()
            positions = self._fitting[key] = _best_fitting(sentences, max_tokens, count)
        return LineWriter().render(sentences[position] for position in positions)


def _best_fitting(sentences: Sequence[SpokenSentence], max_tokens: int, count: Callable[[str], int]) -> tuple[int, ...]:
    """Return the positions of the best sentences that fit together."""
    ranked = _ranked(CandidateBuilder(lambda text: len(text) // _CHARACTERS_PER_TOKEN)(sentences))
    writer = LineWriter()

    def best(number: int) -> list[int]:
        return sorted(position for candidate in ranked[:number] for position in candidate.positions)

    fitting, too_many = 0, len(ranked) + 1
    while fitting + 1 < too_many:
        middle = (fitting + too_many) // 2
        if count(writer.render(sentences[position] for position in best(middle))) <= max_tokens:
            fitting = middle
        else:
            too_many = middle
    return tuple(best(fitting))


def _ranked(candidates: list[Candidate]) -> list[Candidate]:
    ranked: list[Candidate] = []

    def accept(candidate: Candidate) -> bool:
        ranked.append(candidate)
        return True

    salience = Salience()
    select(candidates, salience.distinctive, accept)
    return ranked


def passage(text: str, terms: Collection[str], max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the part of a text around these terms (lower case), at most about `max_tokens` by `count`.

    The text is cut at the ends of lines and sentences, and LEFT_OUT marks what is missing. Pieces are ranked once,
    whatever the limit: those with rare terms and their neighbours first. So a smaller limit shows nothing that a larger
    one does not. Without any of the terms the beginning is returned.
    """
    folded = text.lower()
    if len(folded) != len(text):  # a few capital letters have two lower-case characters
        folded = text
    begin, end = _region(folded, terms)
    pieces = list(_pieces(text[begin:end]))
    weights = _weights(folded[begin:end], pieces, terms)
    chosen: set[int] = set()
    left = max_tokens
    for at in sorted(range(len(pieces)), key=lambda at: (-weights[at], at)):
        left -= count(pieces[at]) + 1
        if left < 0 and chosen:
            break
        chosen.add(at)
    return _joined(pieces, sorted(chosen), begin > 0, end < len(text))


def _region(folded: str, terms: Collection[str]) -> tuple[int, int]:
    """Return the part of a long text with the most different terms, rare ones first."""
    if len(folded) <= _REGION_CHARACTERS:
        return 0, len(folded)
    found = sorted((place, term) for term in terms for place in _places(folded, term, _MAX_PLACES))
    rarity = {term: 1 / number for term, number in Counter(term for _, term in found).items()}
    best, start, score, first = 0.0, 0, 0.0, 0
    inside: Counter[str] = Counter()
    for place, term in found:
        score += 0 if inside[term] else rarity[term]
        inside[term] += 1
        while found[first][0] < place - _REGION_CHARACTERS // 2:
            gone = found[first][1]
            inside[gone] -= 1
            score -= 0 if inside[gone] else rarity[gone]
            first += 1
        if score > best + 1e-9:
            best, start = score, found[first][0]
    begin = max(0, min(start - _REGION_CHARACTERS // 4, len(folded) - _REGION_CHARACTERS))
    line = folded.rfind("\n", max(0, begin - _MAX_PIECE_CHARACTERS), begin) + 1
    return line if begin and line else begin, begin + _REGION_CHARACTERS


def _places(folded: str, term: str, limit: int) -> Iterator[int]:
    """Yield where words begin with the term; in a script without spaces, where it occurs.

    At most `limit` places are examined.
    """
    place = folded.find(term)
    while place >= 0 and limit:
        if not place or not term.isascii() or not folded[place - 1].isalnum():
            yield place
        limit -= 1
        place = folded.find(term, place + len(term))


def _pieces(text: str) -> Iterator[str]:
    """Yield lines and sentences; a long one (JSON without line breaks) in several pieces."""
    for sentence in split_sentences(text):
        begin = 0
        while len(sentence) - begin > _MAX_PIECE_CHARACTERS:
            end = begin + _MAX_PIECE_CHARACTERS
            cut = max(sentence.rfind(mark, begin + _MAX_PIECE_CHARACTERS // 2, end) for mark in (" ", ",")) + 1
            yield sentence[begin : cut or end]
            begin = cut or end
        yield sentence[begin:]


def _weights(folded: str, pieces: Sequence[str], terms: Collection[str]) -> list[float]:
    """Return the sum of the rarities of the terms in each piece, smoothed over its neighbours."""
    starts = [0]
    for piece in pieces[:-1]:
        starts.append(starts[-1] + len(piece))
    weights = [0.0] * len(pieces)
    for term in (*terms, *_FAILURES):
        having = {bisect_right(starts, place) - 1 for place in _places(folded, term, len(folded))}
        for at in having:
            weights[at] += (1 if term in terms else _FAILURE_WEIGHT) * log(1 + len(pieces) / len(having))
    own = list(weights)
    for order, part in ((range(1, len(own)), _WEIGHT_AFTER), (range(len(own) - 2, -1, -1), _WEIGHT_BEFORE)):
        carried = 0.0
        for at in order:
            carried = part * max(carried, own[at - order.step])
            weights[at] += carried
    return weights


def _joined(pieces: Sequence[str], chosen: Sequence[int], begun: bool, open_end: bool) -> str:
    parts: list[str] = []
    before = -1
    for at in chosen:
        if at != before + 1 or (at == 0 and begun):
            indent = parts[-1][len(parts[-1].rstrip()) :] if parts and "\n" in parts[-1] else ""
            parts.append(LEFT_OUT + indent)
        parts.append(pieces[at])
        before = at
    if chosen and (before + 1 < len(pieces) or open_end):
        parts.append(LEFT_OUT)
    return "".join(parts).strip()
