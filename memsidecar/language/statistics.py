"""Extractors and summarizers that measure each of their calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from memsidecar.domain.statistics import MODEL_SECONDS, OperationStatistics
from memsidecar.language.contract import FactExtractor, Finding, Summarizer, Utterance


def _statistics() -> OperationStatistics:
    return OperationStatistics(MODEL_SECONDS)


@dataclass(frozen=True)
class MeasuredExtractor:
    """FactExtractor that does what another one does. An exception is a failure."""

    extractor: FactExtractor
    statistics: OperationStatistics = field(default_factory=_statistics)

    @property
    def origin(self) -> str:
        return self.extractor.origin

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        with self.statistics.measured():
            return self.extractor.extract(utterances)


@dataclass(frozen=True)
class MeasuredSummarizer:
    """Summarizer that does what another one does. An exception is a failure."""

    summarizer: Summarizer
    statistics: OperationStatistics = field(default_factory=_statistics)

    @property
    def origin(self) -> str:
        return self.summarizer.origin

    def summarize(self, before: str, utterances: Sequence[Utterance], max_tokens: int) -> str:
        with self.statistics.measured():
            return self.summarizer.summarize(before, utterances, max_tokens)
