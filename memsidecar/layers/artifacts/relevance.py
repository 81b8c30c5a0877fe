"""Which artifacts have something to do with a query: those that have its words, rare ones counting more."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memsidecar.layers.artifacts.artifact import StoredArtifact
from memsidecar.layers.episodic.words import stem, telling_words, words_of

LONGEST_READ_CHARACTERS = 200_000
"What stands behind this in an artifact is not compared: it is longer than any context."
_STEM_BYTES = 64  # in a set, about: the stems themselves are shared


@dataclass(frozen=True, slots=True)
class Shelved:
    """An artifact and its words, taken apart once."""

    artifact: StoredArtifact
    stems: frozenset[str]

    @property
    def size_bytes(self) -> int:
        return len(self.artifact.content) * 2 + len(self.artifact.metadata) + len(self.stems) * _STEM_BYTES


def shelve(artifact: StoredArtifact) -> Shelved:
    words = words_of(f"{artifact.source} {artifact.content[:LONGEST_READ_CHARACTERS]}")
    return Shelved(artifact, frozenset(map(stem, set(words))))


def ranked(shelf: Sequence[Shelved], query: str) -> list[tuple[StoredArtifact, float]]:
    """Each with the share of the query that it has, above 0 and at most 1; the most first, else as they came."""
    if not shelf:
        return []
    asked = {stem(word) for word in telling_words(words_of(query))}
    weights = {one: _rarity(one, shelf) for one in asked}
    total = sum(weights.values())
    scored = [(one.artifact, _sum(weights, one.stems & asked) / total) for one in shelf if one.stems & asked]
    return sorted(scored, key=lambda scored_one: -scored_one[1])


def _rarity(asked: str, shelf: Sequence[Shelved]) -> float:
    found = sum(1 for one in shelf if asked in one.stems)
    return math.log(1 + (len(shelf) + 1) / (found + 1))


def _sum(weights: dict[str, float], stems: Iterable[str]) -> float:
    # In a fixed order, so that equal ones are equal to the last bit.
    return sum(weights[one] for one in sorted(stems))
