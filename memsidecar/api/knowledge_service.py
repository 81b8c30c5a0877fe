"""KnowledgeService registration; summaries and patterns."""

import logging
from dataclasses import dataclass
from typing import ClassVar

from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.artifacts import ArtifactHandlers
from memsidecar.api.documents import DocumentHandlers
from memsidecar.api.executors import Executors
from memsidecar.api.facts import FactHandlers, require_owner
from memsidecar.api.wire import key_of, limit_of, timestamp_of
from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import MalformedAnswer, ModelUnavailable
from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.summaries.store import RollingSummary
from memsidecar.layers.summaries.update import SummaryUpdater
from memsidecar.layers.working.reads import SessionReader
from memsidecar.v1 import knowledge_pb2 as pb

log = logging.getLogger(__name__)

_MOST_TOKENS = 10_000
"Of a summary that is asked for: every answer and every context has to hold it."


@dataclass(frozen=True)
class LearnedCalls:
    executors: Executors
    facts: Facts
    read: SessionReader
    summary_updater: SummaryUpdater
    procedural: ProceduralMemory

    async def get_summary(self, request: pb.GetSummaryRequest) -> pb.GetSummaryResponse:
        summary = await self.executors.run_read(self._known, key_of(request), request.user_id)
        return pb.GetSummaryResponse(summary=_summary(summary))

    def _known(self, key: SessionKey, user_id: str) -> RollingSummary | None:
        return self.summary_updater.store.get_committed(key) if self.read.head(key, user_id) else None

    async def summarize(self, request: pb.SummarizeRequest) -> pb.SummarizeResponse:
        max_tokens = limit_of("max_tokens", request.max_tokens, 0, _MOST_TOKENS)
        summary = await self.executors.run_model(self._brought, key_of(request), request.user_id, max_tokens)
        return pb.SummarizeResponse(summary=_summary(summary))

    def _brought(self, key: SessionKey, user_id: str, max_tokens: int) -> RollingSummary | None:
        """Up to the newest message; where the model does not help, what was there."""
        head = self.read.head(key, user_id)
        if head is None:
            return None
        try:
            return self.summary_updater.update_to(head, head.last_sequence, max_tokens)
        except (ModelUnavailable, MalformedAnswer) as failure:
            log.warning("a summary stays as it was: %s", failure)
            return self.summary_updater.store.get(key)

    async def get_patterns(self, request: pb.GetPatternsRequest) -> pb.GetPatternsResponse:
        names = require_owner(request)
        owner = await self.executors.run_read(self.facts.owner, *names)
        # A refresh counts what is not counted yet, and commits it.
        work = self.executors.run_model if request.refresh else self.executors.run_read
        return await work(self.procedural.patterns, owner, request.refresh)


def _summary(summary: RollingSummary | None) -> pb.Summary | None:
    if summary is None:
        return None
    return pb.Summary(
        id=summary.id,
        text=summary.text,
        tokens=summary.tokens,
        first_sequence=summary.first_sequence,
        last_sequence=summary.last_sequence,
        create_time=timestamp_of(summary.create_time_us),
        origin=summary.origin,
    )


@dataclass(frozen=True, kw_only=True)
class KnowledgeService(FactHandlers, ArtifactHandlers, DocumentHandlers, LearnedCalls):
    """One part for each kind of thing that is known."""

    descriptor: ClassVar[ServiceDescriptor] = pb.DESCRIPTOR.services_by_name["KnowledgeService"]
