"""The sequence of one context build: prepare, retrieve, finish.

A build runs on one thread, because a change of threads costs more than most of its steps. When the caller's time runs
out, another thread finishes the build with what was retrieved so far.
"""

from dataclasses import dataclass, field, replace
from threading import Event

from memsidecar.context.builder import ContextBuilder, PreparedContext, RetrievalResult
from memsidecar.context.request import ContextRequest
from memsidecar.context.retrieval import Retrieval
from memsidecar.v1.context_pb2 import BuildContextResponse, Degradation


@dataclass
class ContextBuild:
    """One context being built. Each field is replaced as a whole, by one thread.

    A dry run shows whether a context fits its budget; nothing of it is served, so nothing is recorded.
    """

    builder: ContextBuilder
    retrieval: Retrieval
    request: ContextRequest
    dry_run: bool = False
    _prepared: PreparedContext | None = None
    _retrieved: RetrievalResult = field(default_factory=RetrievalResult)
    _cancelled: Event = field(default_factory=Event)

    def run(self) -> BuildContextResponse:
        """Build the context. Raise BudgetTooSmall if what is never evicted does not fit."""
        prepared = self._prepared = self.builder.prepare(self.request)
        self._retrieved = self._retrieved.with_memories(*self.retrieval.memories(prepared, self._is_wanted))
        self._retrieved = self._retrieved.with_chunks(self.retrieval.chunks(prepared))
        return self._finish(prepared, self._retrieved)

    def finish_partial(self) -> BuildContextResponse:
        """Finish with what was retrieved so far. The response says that the deadline cut retrieval short."""
        prepared = self._prepared or self.builder.prepare(self.request)
        late = frozenset({int(Degradation.DEGRADATION_DEADLINE)})
        return self._finish(prepared, replace(self._retrieved, degraded=self._retrieved.degraded | late))

    def cancel(self) -> None:
        """Stop loading hits, from any thread."""
        self._cancelled.set()

    def _is_wanted(self) -> bool:
        return not self._cancelled.is_set()

    def _finish(self, prepared: PreparedContext, retrieved: RetrievalResult) -> BuildContextResponse:
        response = self.builder.finish(prepared, retrieved)
        if not self.dry_run:
            self.builder.remember(prepared, response)
        return response
