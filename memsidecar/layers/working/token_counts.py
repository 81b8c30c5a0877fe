"""Token counts by the tokenizers of models: recounts of stored messages, budgets, calibration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memsidecar.domain.errors import InvalidField, Overloaded
from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import Policy, SessionHead
from memsidecar.layers.working.reads import WorkingMemoryReader
from memsidecar.layers.working.validation import tokens_of
from memsidecar.stores.contract import Calibrate, Calibration, Journal, VersionConflict, submit_and_wait
from memsidecar.tokens.contract import Counter, Counters
from memsidecar.tokens.estimate import calibrate, is_plausible
from memsidecar.tokens.models import lookup
from memsidecar.v1.message_pb2 import Message

MAX_ATTEMPTS = 20
_MAX_CACHED_RECOUNTS = 65_536
_MAX_CACHED_TOTALS = 4_096


class WindowTotal(NamedTuple):
    """Tokens of a window at version `head`."""

    head: SessionHead
    tokens: int


@dataclass(frozen=True)
class ModelTokenCounts:
    """Stored counts are by the default tokenizer. Counts by others are computed on demand and cached."""

    journal: Journal
    counters: Counters
    _recounts: dict[tuple[Counter, int, int, int], int] = field(default_factory=dict)
    _totals: dict[tuple[Counter, int], WindowTotal] = field(default_factory=dict)

    def counter(self, namespace: str, model: str) -> Counter:
        if not model:
            return self.counters.default
        return self.counters.for_model(model, self.journal.calibration(namespace, model).factor)

    def differs(self, namespace: str, model: str) -> bool:
        """Whether the model counts otherwise than the default tokenizer."""
        return self.counter(namespace, model) != self.counters.default

    def recount(
        self, counter: Counter, head: SessionHead, messages: Iterable[StoredMessage]
    ) -> Iterable[StoredMessage]:
        """Yield the messages with the counter's tokens instead of the stored ones, and without bodies."""
        for message in messages:
            yield message._replace(tokens=self.tokens(counter, head, message), body=b"")

    def tokens(self, counter: Counter, head: SessionHead, message: StoredMessage) -> int:
        """Return the tokens of a message by a counter; the stored count for the default one."""
        if counter == self.counters.default:
            return message.tokens
        # The length distinguishes a shortened body from the original.
        key = (counter, head.row_id, message.sequence, len(message.body))
        tokens = self._recounts.get(key)
        if tokens is None:
            if len(self._recounts) >= _MAX_CACHED_RECOUNTS:
                self._recounts.clear()
            tokens = self._recounts[key] = tokens_of(Message.FromString(message.body), counter)
        return tokens

    def last_total(self, counter: Counter, head: SessionHead) -> WindowTotal | None:
        """Return the last computed total of the session, of whatever version."""
        return self._totals.get((counter, head.row_id))

    def remember_total(self, counter: Counter, head: SessionHead, tokens: int) -> None:
        if len(self._totals) >= _MAX_CACHED_TOTALS:
            self._totals.clear()
        self._totals[counter, head.row_id] = WindowTotal(head, tokens)

    def budget_model(self, policy: Policy | None, model: str = "") -> str:
        """Return the model whose tokens the budget is in; empty for the default tokenizer."""
        if policy is not None and (policy.auto_prune_tokens or policy.model):
            return policy.model
        return model

    def budget_tokens(self, policy: Policy | None, model: str = "") -> int:
        """Return the budget of the policy, else the recommended one of its model or of the given model, else 0."""
        if policy is not None and policy.auto_prune_tokens:
            return policy.auto_prune_tokens
        model = (policy.model if policy is not None else "") or model
        return lookup(model).budget_tokens if model else 0

    def report(self, namespace: str, model: str, estimated: int, actual: int) -> float:
        """Calibrate the estimates of a model with the provider's count; return the new factor."""
        for name, value in (("estimated_tokens", estimated), ("actual_tokens", actual)):
            if value < 1:
                raise InvalidField(name, "must be at least 1")
        if self.counters.for_model(model).exact:
            return 1.0
        command = Calibrate(namespace, model, lambda before: _calibrated(before, estimated, actual))
        after: Calibration = submit_and_wait(self.journal, command)
        return after.factor

    def restore(self, namespace: str, model: str, archived: Calibration) -> bool:
        """Store the calibration of an archive, unless the model has one; return whether it was stored."""
        is_new = False

        def keep_known(before: Calibration) -> Calibration:
            nonlocal is_new
            is_new = not before.reports
            return archived if is_new else before

        submit_and_wait(self.journal, Calibrate(namespace, model, keep_known))
        return is_new


def _calibrated(before: Calibration, estimated: int, actual: int) -> Calibration:
    if not is_plausible(before.factor, estimated, actual):
        return before
    return Calibration(calibrate(before.factor, before.reports, estimated, actual), before.reports + 1)


@dataclass(frozen=True)
class WindowCounter:
    """Counts the window of a session by the tokenizer of a model."""

    reader: WorkingMemoryReader
    token_counts: ModelTokenCounts

    def __call__(self, head: SessionHead, model: str) -> SessionHead:
        """Return the head with the model's tokens instead of the stored ones. Recounts only the window."""
        if not self.token_counts.differs(head.key.namespace, model):
            return head
        for _ in range(MAX_ATTEMPTS):
            try:
                return self._recounted(head, self.token_counts.counter(head.key.namespace, model))
            except VersionConflict:
                current = self.reader.head(head.key, "")
                if current is None:
                    return SessionHead(head.key, head.row_id)
                head = current
        raise Overloaded("the session is written to faster than its messages can be counted again")

    def total(self, head: SessionHead, model: str) -> int:
        """Return the window's tokens by the model. If possible, only messages since the last count are counted."""
        counter = self.token_counts.counter(head.key.namespace, model)
        if counter == self.token_counts.counters.default:
            return head.total_tokens
        last = self.token_counts.last_total(counter, head)
        appended = self._appended_since(last.head, head) if last else None
        if last is None or appended is None:
            return self(head, model).total_tokens
        tokens = last.tokens + sum(self.token_counts.tokens(counter, head, message) for message in appended)
        self.token_counts.remember_total(counter, head, tokens)
        return tokens

    def _appended_since(self, before: SessionHead, head: SessionHead) -> Sequence[StoredMessage] | None:
        """Return the messages appended between two versions; None if not all are cached or anything else changed."""
        if before.version == head.version:
            return ()
        snapshot, count = self.reader.session_cache.cached_at(head), head.last_sequence - before.last_sequence
        if snapshot is None or not 0 <= count <= snapshot.end:
            return None
        appended = snapshot.entries[snapshot.end - count : snapshot.end]
        total = before.total_tokens + sum(message.tokens for message in appended)
        expected = (before.pruned_count, before.message_count + count, total)
        return appended if expected == (head.pruned_count, head.message_count, head.total_tokens) else None

    def _recounted(self, head: SessionHead, counter: Counter) -> SessionHead:
        recounted = head.copy()
        recounted.tokens = [0, 0, 0, 0]
        for message in self.token_counts.recount(counter, head, self._window(head)):
            recounted.tokens[message.role - 1] += message.tokens
        self.token_counts.remember_total(counter, head, recounted.total_tokens)
        return recounted

    def _window(self, head: SessionHead) -> Iterable[StoredMessage]:
        """Return the window up to the last message of `head`, without messages that are appended meanwhile."""
        snapshot = self.reader.session_cache.cached_at(head)
        if snapshot is not None and snapshot.complete:
            return snapshot.messages()
        return self.reader.window(head, bodies=True, allow_appends=True)
