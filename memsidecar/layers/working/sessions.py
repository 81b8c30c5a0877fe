"""Sessions as things: listing them, their policies, their end."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.session import Head, Policy, SessionKey
from memsidecar.layers.working.gauge import Gauge
from memsidecar.layers.working.pruning import PruneOrder, Pruning
from memsidecar.layers.working.reading import Reading, check_owner
from memsidecar.stores.contract import Erase, Erased, Journal, SessionPage, SetPolicy, Ticket

log = logging.getLogger(__name__)

_DEFAULTS_KEPT = 10_000


@dataclass(frozen=True)
class Policies:
    """How sessions prune themselves: their own policy, else their namespace's."""

    journal: Journal
    _defaults: dict[str, Policy | None] = field(default_factory=dict)

    def of(self, head: Head) -> Policy | None:
        return head.policy or self.default(head.key.namespace)

    def default(self, namespace: str) -> Policy | None:
        if namespace not in self._defaults:
            if len(self._defaults) >= _DEFAULTS_KEPT:
                self._defaults.clear()
            self._defaults[namespace] = self.journal.default_policy(namespace)
        return self._defaults[namespace]

    def set(self, key: SessionKey, user_id: str, policy: Policy | None) -> Policy | None:
        """Set a policy, or take it away; the one that holds from now on."""
        ticket = Ticket(SetPolicy(key, user_id, policy))
        self.journal.submit(ticket)
        ticket.wait()
        if not key.session_id:
            self._defaults[key.namespace] = policy
        return policy or self.default(key.namespace)


@dataclass(frozen=True)
class AutoPruning:
    """Prunes a session that has passed its policy's budget, down to a share of it.

    The share keeps the window's beginning, and so the provider's prompt cache, the same for many turns and not one.
    """

    policies: Policies
    pruning: Pruning
    gauge: Gauge
    reading: Reading
    min_messages: int
    window: int
    leave_share: float

    def due(self, head: Head) -> bool:
        policy = self.policies.of(head)
        if policy is None or not policy.auto_prune_tokens:
            return False
        return bool(policy.model) or head.total_tokens > policy.auto_prune_tokens

    def run(self, head: Head) -> Head:
        """Prune as the policy says; where the session stands then."""
        policy = self.policies.of(head)
        if policy is None or not policy.auto_prune_tokens:
            return head
        order = PruneOrder(
            policy.auto_prune_tokens,
            policy.strategy,
            self.window,
            self.min_messages,
            model=policy.model,
            leave_share=self.leave_share,
        )
        try:
            self.pruning(head.key, "", order)
        except SidecarError as error:
            # What was added is durable, and must not be answered as if it were not; the next Add tries again.
            log.warning("a session could not be pruned as its policy says: %s", error)
        return self.reading.head(head.key, "") or head


@dataclass(frozen=True)
class Sessions:
    journal: Journal
    reading: Reading

    def list(self, page: SessionPage) -> Sequence[Head]:
        return self.journal.sessions(page)

    def get(self, key: SessionKey, user_id: str) -> Head | None:
        return self.reading.head(key, user_id)

    def clear(self, key: SessionKey, user_id: str) -> int:
        """Erase the messages; how many there were. Sequences go on."""
        return self._erase(Erase(key, user_id)).removed_count

    def delete(self, key: SessionKey, user_id: str) -> int:
        return self._erase(Erase(key, user_id, whole=True)).removed_count

    def would_delete(self, key: SessionKey, user_id: str) -> Head | None:
        head = self.journal.head(key)
        check_owner(head, user_id)
        return head

    def _erase(self, command: Erase) -> Erased:
        ticket = Ticket(command)
        self.journal.submit(ticket)
        erased: Erased = ticket.wait()
        return erased
