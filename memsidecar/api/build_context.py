"""BuildContext: decode, deadline split, encode."""

import asyncio
import time
from dataclasses import dataclass, field, replace
from threading import Event

from memsidecar.api.executors import Executors
from memsidecar.api.interceptors.deadlines import remaining_seconds
from memsidecar.api.search import vector_of
from memsidecar.api.wire import at_least, key_of
from memsidecar.context.budgets import parse_section_budgets
from memsidecar.context.builder import ContextBuilder, PreparedContext, RetrievalResult
from memsidecar.context.request import ContextRequest
from memsidecar.context.retrieval import Retrieval
from memsidecar.domain.errors import BudgetTooSmall, InvalidField, TooLarge
from memsidecar.domain.ids import optional_id
from memsidecar.v1.context_pb2 import BuildContextRequest, BuildContextResponse, Degradation
from memsidecar.v1.message_pb2 import Scope

LEFT_FOR_THE_REST_SECONDS = 0.05
LEFT_FOR_THE_REST_SHARE = 0.2
"Of the time that the caller waits, what is left for fitting and rendering when retrieval is given up."
_MOST_DOCUMENTS = 1_000
_TRIES = 8
_MOST_TOKENS = (1 << 31) - 1
_MOST_BYTES = 4 << 20
"What gRPC receives unless told otherwise."


@dataclass
class BuildState:
    """A context in the making, as far as it has come: each field is replaced as a whole, by one thread.

    A trial only shows whether there is one: nobody gets to see it.
    """

    order: ContextRequest
    is_trial: bool = False
    prepared: PreparedContext | None = None
    found: RetrievalResult = field(default_factory=RetrievalResult)
    given_up: Event = field(default_factory=Event)

    def is_wanted(self) -> bool:
        return not self.given_up.is_set()


@dataclass(frozen=True)
class BuildContextHandler:
    build: ContextBuilder
    retrieve: Retrieval
    executors: Executors

    async def __call__(self, request: BuildContextRequest) -> BuildContextResponse:
        order = self._order(request)
        try:
            built = await self._built(BuildState(order))
        except BudgetTooSmall as refused:
            raise BudgetTooSmall(refused.max_tokens, await self._enough(order, refused.required_tokens)) from None
        if _is_too_large(built):
            raise TooLarge(f"the context has more than the {_MOST_BYTES} bytes of an answer: ask for fewer tokens")
        return built

    async def _built(self, underway: BuildState) -> BuildContextResponse:
        """All in one thread, because each change of threads costs more than most of the steps.

        What is not found in time is left out, and the answer, made from what there is, says so.
        """
        try:
            running = self.executors.run_search(self._build, underway)
            return await asyncio.wait_for(running, _seconds_for_retrieval())
        except TimeoutError:
            return await self.executors.run_read(self._finish_now, underway)
        finally:
            underway.given_up.set()

    def _build(self, underway: BuildState) -> BuildContextResponse:
        prepared = underway.prepared = self.build.prepare(underway.order)
        go_on = underway.is_wanted
        underway.found = underway.found.with_memories(*self.retrieve.memories(prepared, go_on))
        underway.found = underway.found.with_chunks(self.retrieve.chunks(prepared))
        return self._finish(underway, prepared, underway.found)

    def _finish_now(self, underway: BuildState) -> BuildContextResponse:
        prepared = underway.prepared or self.build.prepare(underway.order)
        late = frozenset({int(Degradation.DEGRADATION_DEADLINE)})
        return self._finish(underway, prepared, replace(underway.found, degraded=underway.found.degraded | late))

    def _finish(self, underway: BuildState, prepared: PreparedContext, found: RetrievalResult) -> BuildContextResponse:
        built = self.build.finish(prepared, found)
        if not underway.is_trial:
            self.build.remember(prepared, built)
        return built

    async def _enough(self, order: ContextRequest, tokens: int) -> int:
        """With more tokens more is read and found, and what must stay of it may need more tokens again."""
        for _ in range(_TRIES):
            if tokens > _MOST_TOKENS:
                break  # nobody can ask for so many
            try:
                built = await self._built(BuildState(replace(order, max_tokens=tokens), is_trial=True))
            except BudgetTooSmall as refused:
                tokens = refused.required_tokens
                continue
            if _is_too_large(built):
                raise TooLarge(f"what must stay in the context has more than the {_MOST_BYTES} bytes of an answer")
            break
        return tokens

    def _order(self, request: BuildContextRequest) -> ContextRequest:
        if request.scope not in Scope.values():
            raise InvalidField("scope", "is not a known scope")
        if len(request.documents) > _MOST_DOCUMENTS:
            raise InvalidField("documents", f"has more than {_MOST_DOCUMENTS} chunks")
        if request.append_query and not request.query:
            raise InvalidField("query", "is required with append_query")
        return ContextRequest(
            key=key_of(request),
            user_id=request.user_id,
            now_us=time.time_ns() // 1_000,
            query=request.query,
            model=optional_id("model", request.model),
            max_tokens=at_least("max_tokens", request.max_tokens, 0),
            system_prompt=request.system_prompt,
            profile=request.profile,
            tool_schemas_json=request.tool_schemas_json,
            reserve_output_tokens=at_least("reserve_output_tokens", request.reserve_output_tokens, 0),
            documents=tuple(request.documents),
            sections=parse_section_budgets(request.sections),
            scope=request.scope,
            append_query=request.append_query,
            debug=request.debug,
            query_vector=vector_of("query_vector", request.query_vector, self.retrieve.dimensions),
            include_reasoning=request.include_reasoning,
        )


def _is_too_large(answer: BuildContextResponse) -> bool:
    """One that could not be received would look like a fault of the network."""
    return answer.ByteSize() > _MOST_BYTES


def _seconds_for_retrieval() -> float | None:
    remaining = remaining_seconds()
    if remaining is None:
        return None
    return max(0.0, remaining - max(LEFT_FOR_THE_REST_SECONDS, LEFT_FOR_THE_REST_SHARE * remaining))
