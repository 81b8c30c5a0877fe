"""List, delete, policies, auto-prune, budget used."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.layers.working.prune import Pruner
from memsidecar.layers.working.reads import SessionReader
from memsidecar.layers.working.token_counts import ModelTokenCounts, WindowCounter
from memsidecar.layers.working.window_update import PruneRequest
from memsidecar.stores.contract import Erase, ErasureCounts, Journal, PendingCommand, SessionQuery, SetPolicy

log = logging.getLogger(__name__)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SessionPolicies:
    """How sessions prune themselves: their own policy, else their namespace's."""

    journal: Journal
    _defaults: dict[str, Policy]
    """All of them, from RAM: every Add asks."""
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def load(cls, journal: Journal) -> "SessionPolicies":
        return cls(journal, dict(journal.default_policies()))

    def of(self, head: SessionHead) -> Policy | None:
        return head.policy or self._defaults.get(head.key.namespace)

    def set(self, key: SessionKey, user_id: str, policy: Policy | None) -> Policy | None:
        """Set a policy, or take it away; the one that holds from now on."""
        # Rare, and the order in RAM must be the order in the journal.
        with self._one_at_a_time:
            ticket = PendingCommand(SetPolicy(key, user_id, policy))
            self.journal.submit(ticket)
            ticket.wait()
            if not key.session_id:
                self._keep_default(key.namespace, policy)
        return policy or self._defaults.get(key.namespace)

    def _keep_default(self, namespace: str, policy: Policy | None) -> None:
        if policy is None:
            self._defaults.pop(namespace, None)
        else:
            self._defaults[namespace] = policy


@dataclass(frozen=True)
class AutoPruner:
    """Prunes a session that has passed its policy's budget, down to a share of it.

    The share keeps the window's beginning, and so the provider's prompt cache, the same for many turns and not one.
    An Add waits for it, so it asks neither an embedder nor the index: see PruneOrder's `when_over`.
    """

    policies: SessionPolicies
    pruning: Pruner
    token_counts: ModelTokenCounts
    reading: SessionReader
    min_messages: int
    window: int
    leave_share: float

    def due(self, head: SessionHead) -> bool:
        policy = self.policies.of(head)
        if policy is None or not policy.auto_prune_tokens:
            return False
        return bool(policy.model) or head.total_tokens > policy.auto_prune_tokens

    def run(self, head: SessionHead) -> SessionHead:
        """Prune as the policy says; where the session stands then."""
        policy = self.policies.of(head)
        if policy is None or not policy.auto_prune_tokens:
            return head
        order = PruneRequest(
            policy.auto_prune_tokens,
            policy.strategy,
            self.window,
            self.min_messages,
            model=policy.model,
            summarize=policy.summarize,
            leave_share=self.leave_share,
            when_over=True,
        )
        try:
            self.pruning(head.key, "", order)
            return self.reading.head(head.key, "") or head
        except SidecarError as error:
            # What was added is durable, and must not be answered as if it were not; the next Add tries again.
            log.warning("a session could not be pruned as its policy says: %s", error)
            return head


@dataclass(frozen=True)
class Sessions:
    journal: Journal
    reading: SessionReader

    def list(self, page: SessionQuery) -> Sequence[SessionHead]:
        return self.journal.sessions(page)

    def get(self, key: SessionKey, user_id: str) -> SessionHead | None:
        return self.reading.head(key, user_id)

    def erasure_counts(self, command: Erase) -> ErasureCounts:
        """What `begin_erasing` would erase now; refused as that would be."""
        return self.journal.erasure_counts(command)

    def submit_erase(self, command: Erase, settled: Callable[[PendingCommand], None] | None = None) -> PendingCommand:
        """Erase a session's messages, or all of it; settled when the last byte is gone, which may take a while."""
        ticket = PendingCommand(command, settled)
        self.journal.submit(ticket)
        return ticket


class TokenBudget(NamedTuple):
    """`tokens` is 0 where there is none. `used_tokens` are by the tokenizer of the model that the budget is for."""

    tokens: int = 0
    used_tokens: int = 0

    @property
    def share(self) -> float:
        return self.used_tokens / self.tokens if self.tokens else 0.0


NO_BUDGET = TokenBudget()


@dataclass(frozen=True)
class TokenBudgets:
    policies: SessionPolicies
    token_counts: ModelTokenCounts
    count_by_model: WindowCounter

    def cached(self, head: SessionHead, model: str = "") -> TokenBudget | None:
        """From RAM, without waiting; None where the budget is a model's, and the window is to be counted by it."""
        budget = self._by_default(head, model)
        if budget.tokens and self.token_counts.budget_model(self.policies.of(head), model):
            return None
        return budget

    def of(self, head: SessionHead, model: str = "") -> TokenBudget:
        """The policy's; else that of the model which is asked for."""
        return self.cached(head, model) or self._by_model(head, model)

    def or_default(self, head: SessionHead) -> TokenBudget:
        """The same beside something that must be answered; by the default tokenizer where it cannot be counted."""
        try:
            return self.of(head)
        except SidecarError as error:
            log.warning("a session could not be counted by the model of its policy: %s", error)
            return self._by_default(head, "")

    def _by_default(self, head: SessionHead, model: str) -> TokenBudget:
        return TokenBudget(self.token_counts.budget_tokens(self.policies.of(head), model), head.total_tokens)

    def _by_model(self, head: SessionHead, model: str) -> TokenBudget:
        policy = self.policies.of(head)
        used = self.count_by_model.total(head, self.token_counts.budget_model(policy, model))
        return TokenBudget(self.token_counts.budget_tokens(policy, model), used)
