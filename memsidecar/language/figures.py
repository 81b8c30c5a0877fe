"""What a model did and what it cost, as far as its endpoint says."""

from dataclasses import dataclass, replace
from threading import Lock
from typing import NamedTuple


class Usage(NamedTuple):
    """Tokens of one answer, as the endpoint counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class ModelFigures:
    """Since the start."""

    answers: int = 0
    failures: int = 0
    """Calls that ended without an answer, however often they were tried."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    unreported: int = 0
    """Answers whose endpoint did not say their tokens, which are in neither sum."""


class Ledger:
    """Counts. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._figures = ModelFigures()

    @property
    def figures(self) -> ModelFigures:
        return self._figures

    def answered(self, usage: Usage | None) -> None:
        cost = usage or Usage(0, 0)
        with self._lock:
            was = self._figures
            self._figures = replace(
                was,
                answers=was.answers + 1,
                prompt_tokens=was.prompt_tokens + cost.prompt_tokens,
                completion_tokens=was.completion_tokens + cost.completion_tokens,
                unreported=was.unreported + (usage is None),
            )

    def failed(self) -> None:
        with self._lock:
            self._figures = replace(self._figures, failures=self._figures.failures + 1)
