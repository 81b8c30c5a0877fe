"""Composition of the memory layers, and of the handler of BuildContext."""

from contextlib import ExitStack
from dataclasses import dataclass

from memsidecar.api.build_context import BuildContextHandler
from memsidecar.api.executors import Executors
from memsidecar.api.interceptors.concurrency import InFlightLimits
from memsidecar.assembly import components
from memsidecar.assembly.derived_memory import DERIVATIONS, DerivedMemory, open_derived_memory
from memsidecar.assembly.retention import open_retention
from memsidecar.assembly.storage import index_id
from memsidecar.context.builder import ContextBuilder
from memsidecar.context.relevance import RelevanceThresholds
from memsidecar.context.retrieval import Retrieval
from memsidecar.context.sources import ContextSources
from memsidecar.context.statistics import ContextStatistics
from memsidecar.domain.message import Role
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.background.task import SessionWatermarks
from memsidecar.layers.documents.documents import Documents, FindChunks
from memsidecar.layers.episodic import EpisodicMemory
from memsidecar.layers.episodic.indexer import TASK as INDEXING
from memsidecar.layers.retention.schedule import RetentionSchedule
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.settings import Settings
from memsidecar.stores.contract import Journal
from memsidecar.tokens.registry import CounterRegistry


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The memory layers, as the services use them."""

    journal: Journal
    working: WorkingMemory
    episodic: EpisodicMemory
    documents: Documents
    artifacts: Artifacts
    derived: DerivedMemory
    watermarks: SessionWatermarks
    retention: RetentionSchedule
    contexts: ContextStatistics


def open_layers(
    settings: Settings,
    journal: Journal,
    counters: CounterRegistry,
    limits: InFlightLimits,
    opened: ExitStack,
) -> Layers:
    """Open all layers except the index, which takes seconds and is opened later.

    The tasks that derive memory have runners of their own, apart from the index's, because a model may block them.
    `limits` tells the throttles of all whether RPCs are in flight.
    """
    episodic = EpisodicMemory(
        journal,
        components.embedders(settings),
        components.episodic_limits(settings),
        limits.load_probe(finished_calls=False).is_busy,
        index_id=index_id(settings),
    )
    opened.callback(episodic.close)
    derived = open_derived_memory(settings, journal, counters, limits, opened)
    working = WorkingMemory(
        journal,
        counters,
        components.working_limits(settings),
        episodic.relevance,
        derived.summary_updater.update_without_model,
        derivations=DERIVATIONS,
    )
    artifacts = components.artifacts(settings, journal, working, counters)
    retention = open_retention(
        settings, journal, working.policies, derived.facts, artifacts, limits=limits, opened=opened
    )
    return Layers(
        journal=journal,
        working=working,
        episodic=episodic,
        documents=Documents(journal, components.document_validator(settings, counters)),
        artifacts=artifacts,
        derived=derived,
        watermarks=SessionWatermarks(journal, {INDEXING: episodic.completed_lsn, **derived.completed}),
        retention=retention,
        contexts=ContextStatistics(),
    )


def build_context_handler(
    settings: Settings, layers: Layers, find_chunks: FindChunks, executors: Executors
) -> BuildContextHandler:
    budgets = components.budgets(settings)
    derived = layers.derived
    sources = ContextSources(
        layers.working, derived.facts, derived.summary_schedule, derived.procedural.hints, layers.artifacts
    )
    thresholds = RelevanceThresholds(settings.similarity_threshold, settings.episodic_min_quality)
    retrieval = Retrieval(
        layers.episodic,
        layers.documents,
        find_chunks,
        budgets,
        settings.episodic_recency_weight,
        settings.episodic_recency_half_life_days,
        settings.rerank_top_n,
    )
    role = Role[settings.retrieved_role.upper()]
    builder = ContextBuilder(
        sources, derived.echoes, budgets, thresholds, role, derived.is_behind, statistics=layers.contexts
    )
    return BuildContextHandler(builder, retrieval, executors)
