"""Per-model counters, recounts, calibration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memsidecar.domain.errors import InvalidField, Overloaded
from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import Policy, SessionHead
from memsidecar.layers.working.reads import SessionReader
from memsidecar.layers.working.validation import tokens_of
from memsidecar.stores.contract import Calibrate, Calibration, Journal, PendingCommand, VersionConflict
from memsidecar.tokens.contract import Counter, Counters
from memsidecar.tokens.estimate import calibrate
from memsidecar.tokens.models import lookup
from memsidecar.v1.message_pb2 import Message

_RECOUNTS_KEPT = 65_536
_TOTALS_KEPT = 4_096

TRIES = 20


class WindowTotal(NamedTuple):
    """What a window held when its session stood at `head`."""

    head: SessionHead
    tokens: int


@dataclass(frozen=True)
class ModelTokenCounts:
    """Counts by other tokenizers than the default are made when asked for, and remembered by message and window."""

    journal: Journal
    counters: Counters
    _recounts: dict[tuple[Counter, int, int, int], int] = field(default_factory=dict)
    _totals: dict[tuple[Counter, int], WindowTotal] = field(default_factory=dict)

    def counter(self, namespace: str, model: str) -> Counter:
        if not model:
            return self.counters.default
        return self.counters.for_model(model, self.journal.calibration(namespace, model).factor)

    def differs(self, namespace: str, model: str) -> bool:
        """Whether the model counts otherwise than the sums that are kept."""
        return self.counter(namespace, model) != self.counters.default

    def recount(
        self, counter: Counter, head: SessionHead, messages: Iterable[StoredMessage]
    ) -> Iterable[StoredMessage]:
        """The same messages with the counter's tokens in place of the stored ones, and without their bodies."""
        for one in messages:
            yield one._replace(tokens=self.tokens(counter, head, one), body=b"")

    def tokens(self, counter: Counter, head: SessionHead, one: StoredMessage) -> int:
        """What a message costs by a counter; the stored count where that is the default."""
        if counter == self.counters.default:
            return one.tokens
        # The length tells a shortened body from its original.
        key = (counter, head.row_id, one.sequence, len(one.body))
        tokens = self._recounts.get(key)
        if tokens is None:
            if len(self._recounts) >= _RECOUNTS_KEPT:
                self._recounts.clear()
            tokens = self._recounts[key] = tokens_of(Message.FromString(one.body), counter)
        return tokens

    def last_total(self, counter: Counter, head: SessionHead) -> WindowTotal | None:
        """What was counted last of the session, at whatever moment of it."""
        return self._totals.get((counter, head.row_id))

    def keep_total(self, counter: Counter, head: SessionHead, tokens: int) -> None:
        if len(self._totals) >= _TOTALS_KEPT:
            self._totals.clear()
        self._totals[counter, head.row_id] = WindowTotal(head, tokens)

    def budget_model(self, policy: Policy | None, model: str = "") -> str:
        """Whose tokens the budget is in; empty for the default tokenizer's."""
        if policy is not None and (policy.auto_prune_tokens or policy.model):
            return policy.model
        return model

    def budget_tokens(self, policy: Policy | None, model: str = "") -> int:
        """The policy's own budget, else the recommended one of its model or of the one asked for, else none."""
        if policy is not None and policy.auto_prune_tokens:
            return policy.auto_prune_tokens
        model = (policy.model if policy is not None else "") or model
        return lookup(model).budget_tokens if model else 0

    def report(self, namespace: str, model: str, estimated: int, actual: int) -> float:
        """Learn from what a provider charged; the factor for the model's estimates from now on."""
        for name, value in (("estimated_tokens", estimated), ("actual_tokens", actual)):
            if value < 1:
                raise InvalidField(name, "must be at least 1")
        if self.counters.for_model(model).exact:
            return 1.0
        ticket = PendingCommand(Calibrate(namespace, model, lambda before: _step(before, estimated, actual)))
        self.journal.submit(ticket)
        after: Calibration = ticket.wait()
        return after.factor


def _step(before: Calibration, estimated: int, actual: int) -> Calibration:
    return Calibration(calibrate(before.factor, before.reports, estimated, actual), before.reports + 1)


@dataclass(frozen=True)
class WindowCounter:
    reading: SessionReader
    token_counts: ModelTokenCounts

    def __call__(self, head: SessionHead, model: str) -> SessionHead:
        """The head with the model's tokens in place of the default ones; recounts the window, and no more than it."""
        if not self.token_counts.differs(head.key.namespace, model):
            return head
        for _ in range(TRIES):
            try:
                return self._recounted(head, self.token_counts.counter(head.key.namespace, model))
            except VersionConflict:
                now = self.reading.head(head.key, "")
                if now is None:
                    return SessionHead(head.key, head.row_id)
                head = now
        raise Overloaded("the session is written to faster than its messages can be counted again")

    def total(self, head: SessionHead, model: str) -> int:
        """The window's tokens by the model; what came since the last count is all that is counted, where it can be."""
        counter = self.token_counts.counter(head.key.namespace, model)
        if counter == self.token_counts.counters.default:
            return head.total_tokens
        last = self.token_counts.last_total(counter, head)
        added = self._added(last.head, head) if last else None
        if last is None or added is None:
            return self(head, model).total_tokens
        tokens = last.tokens + sum(self.token_counts.tokens(counter, head, one) for one in added)
        self.token_counts.keep_total(counter, head, tokens)
        return tokens

    def _added(self, before: SessionHead, head: SessionHead) -> Sequence[StoredMessage] | None:
        """What came between two moments of a session; None unless it is at hand, and all that happened in between."""
        if before.version == head.version:
            return ()
        view, count = self.reading.session_cache.cached(head.key), head.last_sequence - before.last_sequence
        if view is None or view.head.version != head.version or not 0 <= count <= view.end:
            return None
        added = view.entries[view.end - count : view.end]
        total = before.total_tokens + sum(one.tokens for one in added)
        grown = (before.pruned_count, before.message_count + count, total)
        return added if grown == (head.pruned_count, head.message_count, head.total_tokens) else None

    def _recounted(self, head: SessionHead, counter: Counter) -> SessionHead:
        recounted = head.copy()
        recounted.tokens = [0, 0, 0, 0]
        for one in self.token_counts.recount(counter, head, self._window(head)):
            recounted.tokens[one.role - 1] += one.tokens
        self.token_counts.keep_total(counter, head, recounted.total_tokens)
        return recounted

    def _window(self, head: SessionHead) -> Iterable[StoredMessage]:
        """The window up to the head's last message; what is added meanwhile is left for the next count."""
        view = self.reading.session_cache.cached(head.key)
        if view is not None and view.complete and view.head.version == head.version:
            return view.messages()
        return self.reading.window(head, bodies=True, while_growing=True)
