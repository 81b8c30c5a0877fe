"""What was missing when an answer was made, as a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from memsidecar.v1.context_pb2 import (
    DEGRADATION_DEADLINE,
    DEGRADATION_EMBEDDER_UNAVAILABLE,
    DEGRADATION_INDEX_UNAVAILABLE,
    DEGRADATION_STALE,
)

NOTES: dict[int, str] = {
    DEGRADATION_INDEX_UNAVAILABLE: "the index is not open: only the newest messages were looked at",
    DEGRADATION_EMBEDDER_UNAVAILABLE: "there are no vectors for this: words alone were compared",
    DEGRADATION_DEADLINE: "there was no time left to look for more",
    DEGRADATION_STALE: "what was said last may not be considered yet",
}


def notes(degraded: Iterable[int]) -> list[str]:
    return [NOTES[number] for number in degraded if number in NOTES]


def in_brackets(sentences: Iterable[str]) -> list[str]:
    return [f"({sentence})" for sentence in sentences]
