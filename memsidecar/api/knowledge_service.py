"""memsidecar.v1.KnowledgeService: the table of its RPCs; summaries and patterns."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.artifacts import ArtifactHandlers
from memsidecar.api.documents import DocumentHandlers
from memsidecar.api.executors import Executors
from memsidecar.api.facts import FactHandlers
from memsidecar.api.handlers import Handler
from memsidecar.api.wire import key_of, limit_of, require_owner, timestamp_of
from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import MalformedAnswer, ModelUnavailable
from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.summaries.store import RollingSummary
from memsidecar.layers.summaries.update import SummaryUpdater
from memsidecar.layers.working.reads import WorkingMemoryReader
from memsidecar.v1 import knowledge_pb2 as pb

log = logging.getLogger(__name__)

MAX_SUMMARY_TOKENS = 10_000
"Bounds a requested summary: every response and every context has to hold it."


@dataclass(frozen=True, kw_only=True)
class KnowledgeService:
    descriptor: ClassVar[ServiceDescriptor] = pb.DESCRIPTOR.services_by_name["KnowledgeService"]

    facts: FactHandlers
    artifacts: ArtifactHandlers
    documents: DocumentHandlers
    summaries: "SummaryHandlers"
    patterns: "PatternHandler"

    def rpcs(self) -> Mapping[str, Handler]:
        return {
            "PutFacts": self.facts.put_facts,
            "ListFacts": self.facts.list_facts,
            "DeleteFact": self.facts.delete_fact,
            "PutArtifact": self.artifacts.put_artifact,
            "ListArtifacts": self.artifacts.list_artifacts,
            "DeleteArtifact": self.artifacts.delete_artifact,
            "PutDocument": self.documents.put_document,
            "ListDocuments": self.documents.list_documents,
            "DeleteDocument": self.documents.delete_document,
            "SearchDocuments": self.documents.search_documents,
            "GetSummary": self.summaries.get_summary,
            "Summarize": self.summaries.summarize,
            "GetPatterns": self.patterns.get_patterns,
        }


@dataclass(frozen=True)
class SummaryHandlers:
    executors: Executors
    read: WorkingMemoryReader
    summary_updater: SummaryUpdater

    async def get_summary(self, request: pb.GetSummaryRequest) -> pb.GetSummaryResponse:
        summary = await self.executors.run_read(self._get, key_of(request), request.user_id)
        return pb.GetSummaryResponse(summary=encode_summary(summary))

    def _get(self, key: SessionKey, user_id: str) -> RollingSummary | None:
        return self.summary_updater.store.get_committed(key) if self.read.head(key, user_id) else None

    async def summarize(self, request: pb.SummarizeRequest) -> pb.SummarizeResponse:
        max_tokens = limit_of("max_tokens", request.max_tokens, 0, MAX_SUMMARY_TOKENS)
        summary = await self.executors.run_model(self._summarize, key_of(request), request.user_id, max_tokens)
        return pb.SummarizeResponse(summary=encode_summary(summary))

    def _summarize(self, key: SessionKey, user_id: str, max_tokens: int) -> RollingSummary | None:
        """Summarize up to the newest message. Returns the existing summary when the model is unavailable."""
        head = self.read.head(key, user_id)
        if head is None:
            return None
        try:
            return self.summary_updater.update_to(head, head.last_sequence, max_tokens)
        except (ModelUnavailable, MalformedAnswer) as failure:
            log.warning("Summarize returns the previous summary: %s", failure)
            return self.summary_updater.store.get(key)


@dataclass(frozen=True)
class PatternHandler:
    executors: Executors
    facts: Facts
    procedural: ProceduralMemory

    async def get_patterns(self, request: pb.GetPatternsRequest) -> pb.GetPatternsResponse:
        scope = require_owner(request)
        owner = await self.executors.run_read(self.facts.owner, *scope)
        # A refresh processes the unread part of the log and commits the counts.
        run = self.executors.run_model if request.refresh else self.executors.run_read
        return await run(self.procedural.patterns, owner, request.refresh)


def encode_summary(summary: RollingSummary | None) -> pb.Summary | None:
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
