"""Shorter versions of a finished summary, for contexts whose budget does not hold all of it."""

from collections.abc import Callable

from memsidecar.language.extractive.selection import Candidate, CandidateBuilder, Salience, select
from memsidecar.language.extractive.sentences import LineWriter, summary_sentences

_CHARACTERS_PER_TOKEN = 4  # the ranking compares sentences, so an estimate is enough


def shorten(summary: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the best sentences of a summary in their order, at most `max_tokens` by `count`; empty if none fits.

    Sentences are ranked once, whatever the limit, and whole sentences are dropped from the end of the ranking. So a
    smaller limit never shows a sentence that a larger one does not. A summary that fits is returned unchanged. It works
    for summaries of a model too.
    """
    if count(summary) <= max_tokens:
        return summary
    sentences = list(summary_sentences(summary, labels=()))
    ranked = _ranked(CandidateBuilder(lambda text: len(text) // _CHARACTERS_PER_TOKEN)(sentences))
    writer = LineWriter()

    def best(number: int) -> str:
        positions = sorted(position for candidate in ranked[:number] for position in candidate.positions)
        return writer.render(sentences[position] for position in positions)

    fitting, too_many = 0, len(ranked) + 1
    while fitting + 1 < too_many:
        middle = (fitting + too_many) // 2
        if count(best(middle)) <= max_tokens:
            fitting = middle
        else:
            too_many = middle
    return best(fitting)


def _ranked(candidates: list[Candidate]) -> list[Candidate]:
    ranked: list[Candidate] = []

    def accept(candidate: Candidate) -> bool:
        ranked.append(candidate)
        return True

    salience = Salience()
    select(candidates, salience.distinctive, accept)
    return ranked
