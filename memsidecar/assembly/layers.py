"""Wires the memory layers, their background runner, the context builder."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from memsidecar.api.build_context import BuildContextHandler
from memsidecar.api.executors import Executors
from memsidecar.api.interceptors.concurrency import InFlightLimits
from memsidecar.assembly import components
from memsidecar.context.builder import ContextBuilder
from memsidecar.context.relevance import RelevanceThresholds
from memsidecar.context.retrieval import Retrieval
from memsidecar.context.sources import ContextSources
from memsidecar.domain.message import Role
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.background import BackgroundThrottle, CommitSignal, Runner, ThrottleConfig
from memsidecar.layers.background.task import CompletedLsn, SessionWatermarks
from memsidecar.layers.documents.documents import Documents, FindChunks
from memsidecar.layers.episodic import EpisodicMemory
from memsidecar.layers.episodic.indexer import TASK as INDEXING
from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.fact_task import FactTask
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.summaries.store import SummaryStore
from memsidecar.layers.summaries.task import SummaryTask
from memsidecar.layers.summaries.update import SummarySchedule, SummaryUpdater
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.settings import Settings
from memsidecar.stores.contract import Journal
from memsidecar.tokens.registry import Counters

LEARNING_THROTTLE = ThrottleConfig(max_sleep_ratio=49.0, min_sleep_ratio=9.0, speedup_after_seconds=20.0)
"Nobody waits for what is learned: as long as somebody waits for something else, it has a fiftieth of the time."


@dataclass(frozen=True)
class Layers:
    """The memory, as the services see it."""

    working: WorkingMemory
    episodic: EpisodicMemory
    documents: Documents
    artifacts: Artifacts
    facts: Facts
    echoes: EchoFilter
    summary_updater: SummaryUpdater
    summary_schedule: SummarySchedule
    procedural: ProceduralMemory
    watermarks: SessionWatermarks
    is_behind: Callable[[str], bool]


def open_layers(
    settings: Settings,
    journal: Journal,
    counters: Counters,
    limits: InFlightLimits,
    opened: ExitStack,
) -> Layers:
    """Everything but the index, which takes seconds to open and is opened later.

    What learns has a runner of its own, apart from the index's: a model may keep it waiting. `limits` knows whether
    somebody waits for an answer.
    """
    pulse = CommitSignal(journal)
    courtesy = BackgroundThrottle(limits.somebody_is_here(), LEARNING_THROTTLE)
    language = components.language(settings, counters, courtesy.yield_cpu)
    opened.callback(language.tell_figures)
    episodic = EpisodicMemory(
        journal, components.embedders(settings), components.episodic_limits(settings), limits.somebody_waits()
    )
    opened.callback(episodic.close)
    facts, echoes = Facts(journal, settings.facts_cache_size), EchoFilter()
    summary_updater = _summarizing(settings, journal, counters, language)
    learn = FactTask(
        journal,
        facts,
        language.extractor,
        echoes,
        settings.facts_every_turns,
        settings.facts_quiet_seconds,
        courtesy.yield_cpu,
    )
    summary_schedule = SummarySchedule(summary_updater, components.summary_policy(settings))
    roll = SummaryTask(journal, summary_schedule, courtesy.yield_cpu)
    procedural = ProceduralMemory(journal, settings.patterns_every_conversations, courtesy.yield_cpu)
    learning = Runner(journal, pulse, courtesy, [roll, learn, procedural], settings.index_linger_ms / 1000)
    learning.start()
    opened.callback(learning.stop)
    working = WorkingMemory(
        journal, counters, components.working_limits(settings), episodic.relevance, summary_updater.update_now
    )
    reached: dict[str, CompletedLsn] = {task.name: task.reached for task in (roll, learn, procedural)}
    return Layers(
        working,
        episodic,
        Documents(journal, components.document_drafting(settings, counters)),
        components.artifacts(settings, journal, working, counters),
        facts,
        echoes,
        summary_updater,
        summary_schedule,
        procedural,
        SessionWatermarks(journal, {INDEXING: episodic.reached, **reached}),
        lambda namespace: learning.is_behind(namespace) or learn.is_waiting_for_model(namespace),
    )


def _summarizing(
    settings: Settings, journal: Journal, counters: Counters, language: components.Language
) -> SummaryUpdater:
    return SummaryUpdater(
        journal,
        SummaryStore(journal),
        language.summarizer,
        language.fallback,
        counters.default.count,
        settings.summary_budget,
    )


def context_api(
    settings: Settings, layers: Layers, find_chunks: FindChunks, executors: Executors
) -> BuildContextHandler:
    budgets = components.budgets(settings)
    gathering = ContextSources(
        layers.working, layers.facts, layers.summary_schedule, layers.procedural.hints, layers.artifacts
    )
    taste = RelevanceThresholds(
        settings.similarity_threshold, settings.episodic_min_quality, settings.episodic_recency_weight
    )
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
    return BuildContextHandler(
        ContextBuilder(gathering, layers.echoes, budgets, taste, role, layers.is_behind), retrieval, executors
    )
