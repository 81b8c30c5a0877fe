"""Statistics of the contexts that were served: tokens against the budget, by section, evictions, time by phase."""

from collections.abc import Mapping

from memsidecar.context.budgets import SECTIONS
from memsidecar.context.eviction import EVICTED_CURRENT_TURN, EVICTED_ITEMS, EVICTED_TURNS
from memsidecar.domain.statistics import Distribution, OperationStatistics, Tally
from memsidecar.v1.context_pb2 import BuildContextResponse, Degradation, Section

BUDGET_RATIOS = (0.25, 0.5, 0.75, 0.9, 0.95, 1.0)
CONTEXT_TOKENS = (1_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000)
PREPARE, RETRIEVE, PACK = "prepare", "retrieve", "pack"


def section_name(section: Section) -> str:
    return Section.Name(section).removeprefix("SECTION_").lower()


class ContextStatistics:
    """Counts contexts that were served. The phases also have those that failed, and dry runs. Thread-safe."""

    def __init__(self) -> None:
        self.phases = {phase: OperationStatistics() for phase in (PREPARE, RETRIEVE, PACK)}
        self.budget_ratio = Distribution(BUDGET_RATIOS)
        "Tokens of a context as a share of its budget."
        self.tokens = Tally(*map(section_name, SECTIONS))
        "Tokens by section."
        self.budget_tokens = Distribution(CONTEXT_TOKENS)
        self.evicted = Tally(EVICTED_TURNS, *EVICTED_ITEMS.values(), EVICTED_CURRENT_TURN)
        "Turns and items that did not fit the budget, by step of the eviction order."
        self.degraded = Tally(*(name.removeprefix("DEGRADATION_") for name in Degradation.keys()[1:]))

    def served(self, response: BuildContextResponse, evicted: Mapping[str, int]) -> None:
        self.budget_ratio.observe(response.total_tokens / max(1, response.max_tokens))
        self.budget_tokens.observe(response.max_tokens)
        for section in response.receipt.sections:
            self.tokens.add(section_name(section.section), section.used_tokens)
        for step, count in evicted.items():
            self.evicted.add(step, count)
        for degradation in response.degraded:
            self.degraded.add(Degradation.Name(degradation).removeprefix("DEGRADATION_"))
