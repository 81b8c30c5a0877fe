"""BuildContext: parse the request, divide its deadline between retrieval and rendering, find the minimum budget."""

import asyncio
import time
from dataclasses import dataclass, replace

from memsidecar.api.executors import Executors
from memsidecar.api.interceptors.deadlines import remaining_seconds
from memsidecar.api.wire import at_least, key_of, query_of, share, vector_of
from memsidecar.context.budgets import ContextRequest, parse_section_budgets
from memsidecar.context.builder import ContextBuilder
from memsidecar.context.retrieval import ContextBuild, Retrieval
from memsidecar.domain.errors import BudgetTooSmall, InvalidField, TooLarge
from memsidecar.domain.ids import optional_id
from memsidecar.tokens.models import lookup, nearest_name
from memsidecar.v1.context_pb2 import BuildContextRequest, BuildContextResponse
from memsidecar.v1.message_pb2 import Scope

MIN_RENDERING_SECONDS = 0.05
MIN_RENDERING_SHARE = 0.2
"Part of the remaining time that is reserved for packing and rendering. Retrieval is cancelled before it."
MAX_DOCUMENTS = 1_000
MAX_BUDGET_ATTEMPTS = 8
MAX_INT32 = (1 << 31) - 1
MAX_CONTEXT_BYTES = 4 << 20
"The default receive limit of gRPC clients."


@dataclass(frozen=True)
class BuildContextHandler:
    builder: ContextBuilder
    retrieval: Retrieval
    executors: Executors

    async def __call__(self, request: BuildContextRequest) -> BuildContextResponse:
        context_request = self._parse(request)
        try:
            response = await self._build_in_time(context_request)
        except BudgetTooSmall as error:
            required_tokens = await self._minimum_budget(context_request, error.required_tokens)
            raise BudgetTooSmall(error.max_tokens, required_tokens, error.parts) from None
        if _is_too_large(response):
            raise TooLarge(
                f"the context has more than the {MAX_CONTEXT_BYTES} bytes of an answer: ask for fewer tokens"
            )
        _warn_of_unknown_model(context_request.model, response)
        return response

    async def _build_in_time(self, context_request: ContextRequest) -> BuildContextResponse:
        """Run the build. When the time for retrieval is over, finish it with what was found so far."""
        build = ContextBuild(self.builder, self.retrieval, context_request)
        try:
            return await asyncio.wait_for(self.executors.run_search(build.run), _seconds_for_retrieval())
        except TimeoutError:
            return await self.executors.run_read(build.finish_partial)
        finally:
            build.cancel()

    async def _minimum_budget(self, context_request: ContextRequest, tokens: int) -> int:
        """Return the tokens with which the request succeeds.

        Found by dry runs: with a larger budget more is retrieved, and its mandatory part may need more tokens again.
        """
        for _ in range(MAX_BUDGET_ATTEMPTS):
            if tokens > MAX_INT32:
                break  # max_tokens cannot hold it
            try:
                larger = replace(context_request, max_tokens=tokens, dry_run=True)
                response = await self._build_in_time(larger)
            except BudgetTooSmall as error:
                tokens = error.required_tokens
                continue
            if _is_too_large(response):
                raise TooLarge(
                    f"the mandatory items of the context have more than the {MAX_CONTEXT_BYTES} bytes of an answer"
                )
            break
        return tokens

    def _parse(self, request: BuildContextRequest) -> ContextRequest:
        if request.scope not in Scope.values():
            raise InvalidField("scope", "is not a known scope")
        if len(request.documents) > MAX_DOCUMENTS:
            raise InvalidField("documents", f"has more than {MAX_DOCUMENTS} chunks")
        if request.append_query and not request.query:
            raise InvalidField("query", "is required with append_query")
        return ContextRequest(
            key=key_of(request),
            user_id=request.user_id,
            now_us=time.time_ns() // 1_000,
            query=query_of(request.query),
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
            query_vector=vector_of("query_vector", request.query_vector, self.retrieval.dimensions),
            include_reasoning=request.include_reasoning,
            fill=share("context_fill", request.context_fill) if request.HasField("context_fill") else None,
            dry_run=request.dry_run,
        )


def _warn_of_unknown_model(model: str, response: BuildContextResponse) -> None:
    """Add the warning to the receipt. A misspelled name would otherwise have another tokenizer and budget unnoticed."""
    if lookup(model).known:
        return
    nearest = response.receipt.nearest_model = nearest_name(model)
    suggestion = f"; the most similar known name is {nearest!r}" if nearest else ""
    response.receipt.warnings.append(
        f"the model {model!r} is not known: its tokens are estimated with o200k_base, and without max_tokens it has "
        f"the default budget{suggestion}"
    )


def _is_too_large(response: BuildContextResponse) -> bool:
    """Return whether the client would fail to receive the response, which looks like a network error there."""
    return response.ByteSize() > MAX_CONTEXT_BYTES


def _seconds_for_retrieval() -> float | None:
    remaining = remaining_seconds()
    if remaining is None:
        return None
    return max(0.0, remaining - max(MIN_RENDERING_SECONDS, MIN_RENDERING_SHARE * remaining))
