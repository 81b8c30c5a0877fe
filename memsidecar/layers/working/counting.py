"""How much a session holds, by another model's tokenizer than the sums are kept in."""

from dataclasses import dataclass

from memsidecar.domain.session import Head
from memsidecar.layers.working.gauge import Gauge
from memsidecar.layers.working.reading import Reading


@dataclass(frozen=True)
class CountingByModel:
    reading: Reading
    gauge: Gauge

    def __call__(self, head: Head, model: str) -> Head:
        """The head with the model's tokens in place of the default ones; recounts the window, and no more than it."""
        if not self.gauge.differs(head.key.namespace, model):
            return head
        counter = self.gauge.counter(head.key.namespace, model)
        recounted = head.copy()
        recounted.counts, recounted.tokens = [0, 0, 0, 0], [0, 0, 0, 0]
        for one in self.gauge.recount(counter, head, self.reading.window(head.key, bodies=True)):
            recounted.count(one.role, one.tokens)
        return recounted
