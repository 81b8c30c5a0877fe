"""Sessions: list, delete, users, usage, auto-prune policies, token budgets."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memsidecar.domain.errors import PermissionDenied, SidecarError
from memsidecar.domain.quota import Usage
from memsidecar.domain.retention import KEEP_ALL, Retention
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.layers.working.prune import Pruner
from memsidecar.layers.working.reads import WorkingMemoryReader
from memsidecar.layers.working.token_counts import ModelTokenCounts, WindowCounter
from memsidecar.layers.working.window_update import PruneRequest
from memsidecar.stores.contract import (
    Derivations,
    Erasure,
    ErasureCounts,
    ForgetMessages,
    Journal,
    PendingCommand,
    SessionQuery,
    SetPolicy,
    UserActivity,
    UserQuery,
    submit_and_wait,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sessions:
    journal: Journal
    reader: WorkingMemoryReader
    derivations: Derivations

    def list(self, page: SessionQuery) -> Sequence[SessionHead]:
        return self.journal.sessions(page)

    def get(self, key: SessionKey, user_id: str) -> SessionHead | None:
        return self.reader.head(key, user_id)

    def users(self, page: UserQuery) -> Sequence[UserActivity]:
        return self.journal.users(page)

    def usage(self, namespace: str) -> Usage:
        return self.journal.usage(namespace)

    def forget_command(self, key: SessionKey, user_id: str, message_ids: Sequence[str]) -> ForgetMessages:
        """Return the command that erases messages with all that rests on them alone."""
        return ForgetMessages(key, user_id, message_ids, self.derivations)

    def erasure_counts(self, command: Erasure) -> ErasureCounts:
        """Count what `submit_erase` would erase now; raises the same errors."""
        return self.journal.erasure_counts(command)

    def submit_erase(self, command: Erasure, on_done: Callable[[PendingCommand], None] | None = None) -> PendingCommand:
        """Erase messages, a session or a user; done when the last byte is overwritten."""
        pending = PendingCommand(command, on_done)
        self.journal.submit(pending)
        return pending


@dataclass(frozen=True)
class SessionPolicies:
    """Policies: the session's own, else the default of its namespace."""

    journal: Journal
    _defaults: dict[str, Policy] | None
    """Defaults of all namespaces, in RAM because every Add reads them. None if other processes may change them: a head
    of a shared journal has the default."""
    default_retention: Retention = KEEP_ALL
    """That of the settings."""
    _set_lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def load(cls, journal: Journal, default_retention: Retention = KEEP_ALL) -> "SessionPolicies":
        return cls(journal, None if journal.is_shared else dict(journal.default_policies()), default_retention)

    def of(self, head: SessionHead) -> Policy | None:
        return head.policy or self._default_of(head)

    def retention_of(self, head: SessionHead) -> Retention:
        """Return the retention of the session's policy, else that of its namespace."""
        own = head.policy.retention if head.policy else None
        return self._retention(self._default_of(head)) if own is None else own

    def retention_in(self, namespace: str) -> Retention:
        """Return the retention of the namespace's policy, else that of the settings."""
        return self._retention(self._default_in(namespace))

    def set(
        self, key: SessionKey, user_id: str, policy: Policy | None, may_replace_retention: bool = True
    ) -> Policy | None:
        """Set or remove (None) a policy; return the policy that applies from now on.

        PermissionDenied if the session's policy has a retention that the caller may not replace.
        """
        # The lock keeps the order in RAM equal to the order in the journal. Calls are rare.
        with self._set_lock:
            if not may_replace_retention and self._has_retention(key):
                raise PermissionDenied("to replace a retention needs the role admin")
            submit_and_wait(self.journal, SetPolicy(key, user_id, policy))
            if not key.session_id:
                self._set_default(key.namespace, policy)
        return policy or self._default_in(key.namespace)

    def set_default_if_none(self, namespace: str, policy: Policy) -> bool:
        """Set the default of a namespace that has none; return whether it was set."""
        with self._set_lock:
            if self._default_in(namespace) is not None:
                return False
            submit_and_wait(self.journal, SetPolicy(SessionKey(namespace, ""), "", policy))
            self._set_default(namespace, policy)
            return True

    def _has_retention(self, key: SessionKey) -> bool:
        head = self.journal.head(key)
        return head is not None and head.policy is not None and head.policy.retention is not None

    def _default_of(self, head: SessionHead) -> Policy | None:
        return head.default_policy if self._defaults is None else self._defaults.get(head.key.namespace)

    def _default_in(self, namespace: str) -> Policy | None:
        return (self.journal.default_policies() if self._defaults is None else self._defaults).get(namespace)

    def _retention(self, default: Policy | None) -> Retention:
        return self.default_retention if default is None or default.retention is None else default.retention

    def _set_default(self, namespace: str, policy: Policy | None) -> None:
        if self._defaults is None:
            return
        if policy is None:
            self._defaults.pop(namespace, None)
        else:
            self._defaults[namespace] = policy


@dataclass(frozen=True)
class AutoPruner:
    """Prunes a session above the budget of its policy, down to `target_share` of the budget.

    The share keeps the beginning of the window, and so the provider's prompt cache, unchanged for many turns.
    An Add waits for it, so it uses neither the embedder nor the index: see `PruneRequest.only_over_budget`.
    """

    policies: SessionPolicies
    pruner: Pruner
    reader: WorkingMemoryReader
    min_messages: int
    window: int
    target_share: float

    def due(self, head: SessionHead) -> bool:
        policy = self.policies.of(head)
        if policy is None or not policy.auto_prune_tokens:
            return False
        return bool(policy.model) or head.total_tokens > policy.auto_prune_tokens

    def run(self, head: SessionHead) -> SessionHead:
        """Prune according to the policy; return the head after it."""
        policy = self.policies.of(head)
        if policy is None or not policy.auto_prune_tokens:
            return head
        request = PruneRequest(
            policy.auto_prune_tokens,
            policy.strategy,
            self.window,
            self.min_messages,
            model=policy.model,
            summarize=policy.summarize,
            target_share=self.target_share,
            only_over_budget=True,
        )
        try:
            self.pruner(head.key, "", request)
            return self.reader.head(head.key, "") or head
        except SidecarError as error:
            # The added messages are durable, so the Add must succeed. The next Add prunes again.
            log.warning("auto-prune of a session failed: %s", error)
            return head


class TokenBudget(NamedTuple):
    """Budget of a session; `tokens` 0 means none. `used_tokens` are by the tokenizer of the budget's model."""

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
        """Return the budget from RAM without blocking; None if the window must be counted by another tokenizer."""
        budget = self._by_default(head, model)
        if budget.tokens and self.token_counts.budget_model(self.policies.of(head), model):
            return None
        return budget

    def of(self, head: SessionHead, model: str = "") -> TokenBudget:
        """Return the budget of the policy, else that of the given model."""
        return self.cached(head, model) or self._by_model(head, model)

    def or_default(self, head: SessionHead) -> TokenBudget:
        """Return the budget; by the default tokenizer if the model's count fails, so that the response can be sent."""
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
