"""How much a session holds, by another model's tokenizer than the sums are kept in."""

from collections.abc import Iterable
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
                head = self.reading.head(head.key, "") or Head(head.key, head.number)
        raise Busy("the session is written to faster than its messages can be counted again")

    def _recounted(self, head: Head, counter: Counter) -> Head:
        recounted = head.copy()
        recounted.tokens = [0, 0, 0, 0]
        for one in self.gauge.recount(counter, head, self._window(head)):
            recounted.tokens[one.role - 1] += one.tokens
        return recounted

    def _window(self, head: Head) -> Iterable[Stored]:
        """The window up to the head's last message; what is added meanwhile is left for the next count."""
        view = self.reading.views.hot(head.key)
        if view is not None and view.complete and view.head.version == head.version:
            return view.messages()
        return self.reading.window(head, bodies=True, while_growing=True)
