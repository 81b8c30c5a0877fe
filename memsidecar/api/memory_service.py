"""memsidecar.v1.MemoryService: the table of its RPCs, and the handlers that need no module of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.add import AddHandlers
from memsidecar.api.build_context import BuildContextHandler
from memsidecar.api.executors import Executors
from memsidecar.api.handlers import Handler
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.search import SearchHandler
from memsidecar.api.wire import at_least, key_of, namespace_of, page_size_of, stats_of, strategy_of
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import check_id, optional_id
from memsidecar.domain.message import Role
from memsidecar.domain.session import Strategy
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.layers.working.reads import MessagePageRequest, MessageSlice
from memsidecar.layers.working.sessions import NO_BUDGET
from memsidecar.layers.working.window_update import PruneRequest
from memsidecar.stores.contract import Erase, Erased
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import Message

MAX_RECENT = 10_000
_TRUNCATED = b"\x10\x01"  # field 2, true


@dataclass(frozen=True, kw_only=True)
class MemoryService:
    descriptor: ClassVar[ServiceDescriptor] = pb.DESCRIPTOR.services_by_name["MemoryService"]

    memory: WorkingMemory
    executors: Executors
    page_tokens: PageTokens
    add: AddHandlers
    search: SearchHandler
    build_context: BuildContextHandler

    def rpcs(self) -> Mapping[str, Handler]:
        return {
            "Add": self.add.add,
            "AddBatch": self.add.add_batch,
            "AddStream": self.add.add_stream,
            "StoreInteraction": self.add.store_interaction,
            "Annotate": self.annotate,
            "GetAll": self.get_all,
            "GetRecent": self.get_recent,
            "GetByRole": self.get_by_role,
            "Search": self.search,
            "Count": self.count,
            "Prune": self.prune,
            "Clear": self.clear,
            "BuildContext": self.build_context,
            "ReportUsage": self.report_usage,
        }

    async def annotate(self, request: pb.AnnotateRequest) -> pb.AnnotateResponse:
        key = key_of(request)
        message_id = check_id("message_id", request.message_id)
        score = request.evaluation_score if request.HasField("evaluation_score") else None
        metadata = request.metadata if request.HasField("metadata") else None
        stored = await self.executors.run_write(self.memory.annotate, key, request.user_id, message_id, score, metadata)
        return pb.AnnotateResponse(message=Message.FromString(stored.body))

    async def get_recent(self, request: pb.GetRecentRequest) -> bytes:
        key = key_of(request)
        n = min(at_least("n", request.n, 1), MAX_RECENT)
        max_tokens = at_least("max_tokens", request.max_tokens, 0)
        recent = self.memory.read.cached_recent(key, request.user_id, n, max_tokens)
        if recent is None:
            recent = await self.executors.run_read(self.memory.read.recent, key, request.user_id, n, max_tokens)
        return _encode(recent)

    async def get_by_role(self, request: pb.GetByRoleRequest) -> bytes:
        key = key_of(request)
        if int(request.role) not in tuple(Role):
            raise InvalidField("role", "must be ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT or ROLE_TOOL")
        limit = at_least("limit", request.limit, 0)
        by_role = self.memory.read.by_role
        return _encode(await self.executors.run_read(by_role, key, request.user_id, request.role, limit))

    async def get_all(self, request: pb.GetAllRequest) -> bytes:
        key = key_of(request)
        size = page_size_of(request.page_size)
        metadata_filter = request.metadata_filter if request.HasField("metadata_filter") else None
        (after,) = self.page_tokens.decode(request, int) or (0,)
        page_request = MessagePageRequest(after, size, request.include_pruned, metadata_filter)
        page, more = await self.executors.run_read(self.memory.read.page, key, request.user_id, page_request)
        token = self.page_tokens.encode(request, (page.last_sequence,) if more else None)
        return b"".join(page.frames) + pb.GetAllResponse(next_page_token=token).SerializeToString()

    async def count(self, request: pb.CountRequest) -> pb.CountResponse:
        key = key_of(request)
        read = self.memory.read
        optional_id("model", request.model)
        head = read.cached_head(key, request.user_id)
        if head is None:
            head = await self.executors.run_read(read.head, key, request.user_id)
        if head is None:
            return pb.CountResponse(stats=stats_of(None, NO_BUDGET))
        counted, budget = head, self.memory.budgets.cached(head, request.model)
        if request.model:
            counted = await self.executors.run_read(self.memory.count_by_model, head, request.model)
        if budget is None:
            budget = await self.executors.run_read(self.memory.budgets.of, head, request.model)
        return pb.CountResponse(stats=stats_of(counted, budget))

    async def prune(self, request: pb.PruneRequest) -> pb.PruneResponse:
        key = key_of(request)
        pruned = await self.executors.run_write(self.memory.prune, key, request.user_id, self._parse_prune(request))
        return pb.PruneResponse(
            removed_count=pruned.removed_count,
            removed_ids=pruned.removed_ids,
            tokens_before=pruned.tokens_before,
            tokens_after=pruned.tokens_after,
            remaining_count=pruned.remaining_count,
            over_budget=pruned.over_budget,
            shortened_ids=pruned.shortened_ids,
            summary_id=pruned.summary_id,
        )

    def _parse_prune(self, request: pb.PruneRequest) -> PruneRequest:
        strategy = strategy_of("strategy", request.strategy)
        limits = self.memory.limits
        return PruneRequest(
            max_tokens=at_least("max_tokens", request.max_tokens, 0 if strategy == Strategy.WINDOW else 1),
            strategy=strategy,
            window=at_least("window", request.window, 0) or limits.prune_window,
            min_messages=at_least("min_messages", request.min_messages, 0) or limits.prune_min_messages,
            dry_run=request.dry_run,
            overflow=request.overflow,
            summarize=request.summarize,
            model=optional_id("model", request.model),
        )

    async def clear(self, request: pb.ClearRequest) -> pb.ClearResponse:
        key = key_of(request)
        pending = self.memory.sessions.submit_erase(Erase(key, request.user_id), self.executors.on_done)
        erased: Erased = await self.executors.wait_for(pending)
        return pb.ClearResponse(removed_count=erased.counts.messages)

    async def report_usage(self, request: pb.ReportUsageRequest) -> pb.ReportUsageResponse:
        optional_id("user_id", request.user_id)
        model = check_id("model", request.model)
        if request.session_id:
            await self.executors.run_read(self.memory.read.head, key_of(request), request.user_id)
        factor = await self.executors.run_write(
            self.memory.token_counts.report,
            namespace_of(request),
            model,
            request.estimated_tokens,
            request.actual_tokens,
        )
        return pb.ReportUsageResponse(factor=factor)


def _encode(messages: MessageSlice) -> bytes:
    """Return the encoded response of GetRecent or GetByRole. The messages are stored as its frames."""
    return b"".join(messages.frames) + (_TRUNCATED if messages.truncated else b"")
