"""How much of its budget a session uses, in the tokens that the budget is meant in."""

import logging
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.session import Head
from memsidecar.layers.working.counting import CountingByModel
from memsidecar.layers.working.gauge import Gauge
from memsidecar.layers.working.sessions import Policies

log = logging.getLogger(__name__)


class Budget(NamedTuple):
    """`tokens` is 0 where there is none. `used_tokens` are by the tokenizer of the model that the budget is for."""

    tokens: int = 0
    used_tokens: int = 0

    @property
    def share(self) -> float:
        return self.used_tokens / self.tokens if self.tokens else 0.0


NO_BUDGET = Budget()


@dataclass(frozen=True)
class Budgets:
    policies: Policies
    gauge: Gauge
    count_by_model: CountingByModel

    def hot(self, head: Head, model: str = "") -> Budget | None:
        """From RAM, without waiting; None where the budget is a model's, and the window is to be counted by it."""
        budget = self._by_default(head, model)
        if budget.tokens and self.gauge.budget_model(self.policies.of(head), model):
            return None
        return budget

    def of(self, head: Head, model: str = "") -> Budget:
        """The policy's; else that of the model which is asked for."""
        return self.hot(head, model) or self._by_model(head, model)

    def in_any_case(self, head: Head) -> Budget:
        """The same beside something that must be answered; by the default tokenizer where it cannot be counted."""
        try:
            return self.of(head)
        except SidecarError as error:
            log.warning("a session could not be counted by the model of its policy: %s", error)
            return self._by_default(head, "")

    def _by_default(self, head: Head, model: str) -> Budget:
        return Budget(self.gauge.budget_tokens(self.policies.of(head), model), head.total_tokens)

    def _by_model(self, head: Head, model: str) -> Budget:
        policy = self.policies.of(head)
        used = self.count_by_model.total(head, self.gauge.budget_model(policy, model))
        return Budget(self.gauge.budget_tokens(policy, model), used)
