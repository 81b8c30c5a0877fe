"""How much a session holds, by another model's tokenizer than the sums are kept in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memsidecar.domain.errors import Busy
from memsidecar.domain.message import Stored
from memsidecar.domain.session import Head
from memsidecar.layers.working.gauge import Gauge
from memsidecar.layers.working.reading import Reading
from memsidecar.stores.contract import Stale
from memsidecar.tokens.contract import Counter

TRIES = 20


@dataclass(frozen=True)
class CountingByModel:
    reading: Reading
    gauge: Gauge

    def __call__(self, head: Head, model: str) -> Head:
        """The head with the model's tokens in place of the default ones; recounts the window, and no more than it."""
        if not self.gauge.differs(head.key.namespace, model):
            return head
        for _ in range(TRIES):
            try:
                return self._recounted(head, self.gauge.counter(head.key.namespace, model))
            except Stale:
                now = self.reading.head(head.key, "")
                if now is None:
                    return Head(head.key, head.number)
                head = now
        raise Busy("the session is written to faster than its messages can be counted again")

    def total(self, head: Head, model: str) -> int:
        """The window's tokens by the model; what came since the last count is all that is counted, where it can be."""
        counter = self.gauge.counter(head.key.namespace, model)
        if counter == self.gauge.counters.default:
            return head.total_tokens
        last = self.gauge.last_total(counter, head)
        added = self._added(last.head, head) if last else None
        if last is None or added is None:
            return self(head, model).total_tokens
        tokens = last.tokens + sum(self.gauge.tokens(counter, head, one) for one in added)
        self.gauge.keep_total(counter, head, tokens)
        return tokens

    def _added(self, before: Head, head: Head) -> Sequence[Stored] | None:
        """What came between two moments of a session; None unless it is at hand, and all that happened in between."""
        if before.version == head.version:
            return ()
        view, count = self.reading.views.hot(head.key), head.last_sequence - before.last_sequence
        if view is None or view.head.version != head.version or not 0 <= count <= view.end:
            return None
        added = view.entries[view.end - count : view.end]
        total = before.total_tokens + sum(one.tokens for one in added)
        grown = (before.pruned_count, before.message_count + count, total)
        return added if grown == (head.pruned_count, head.message_count, head.total_tokens) else None

    def _recounted(self, head: Head, counter: Counter) -> Head:
        recounted = head.copy()
        recounted.tokens = [0, 0, 0, 0]
        for one in self.gauge.recount(counter, head, self._window(head)):
            recounted.tokens[one.role - 1] += one.tokens
        self.gauge.keep_total(counter, head, recounted.total_tokens)
        return recounted

    def _window(self, head: Head) -> Iterable[Stored]:
        """The window up to the head's last message; what is added meanwhile is left for the next count."""
        view = self.reading.views.hot(head.key)
        if view is not None and view.complete and view.head.version == head.version:
            return view.messages()
        return self.reading.window(head, bodies=True, while_growing=True)
