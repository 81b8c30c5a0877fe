"""Composition of the memory layers, their background runner, and the handler of BuildContext."""

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
from memsidecar.layers.background.task import CompletedLsn, SessionWatermarks, Task
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
"No RPC waits for derived memory: while RPCs are in flight, its tasks get a fiftieth of the time."


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The memory layers, as the services use them."""

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
    """Open all layers except the index, which takes seconds and is opened later.

    The tasks that derive memory have a runner of their own, apart from the index's, because a model may block it.
    `limits` tells the throttles of both whether RPCs are in flight.
    """
    throttle = _learning_throttle(limits)
    language = components.language(settings, counters, throttle.yield_cpu)
    opened.callback(language.log_usage)
    episodic = EpisodicMemory(
        journal,
        components.embedders(settings),
        components.episodic_limits(settings),
        limits.load_probe(finished_calls=False).is_busy,
    )
    opened.callback(episodic.close)
    facts, echoes = Facts(journal, settings.facts_cache_size), EchoFilter()
    summary_updater = _summary_updater(settings, journal, counters, language)
    fact_task = FactTask(
        journal,
        facts,
        language.extractor,
        echoes,
        settings.facts_every_turns,
        settings.facts_quiet_seconds,
        throttle.yield_cpu,
    )
    summary_schedule = SummarySchedule(summary_updater, components.summary_policy(settings))
    summary_task = SummaryTask(journal, summary_schedule, throttle.yield_cpu)
    procedural = ProceduralMemory(journal, settings.patterns_every_conversations, throttle.yield_cpu)
    tasks: list[Task] = [summary_task, fact_task, procedural]
    runner = Runner(journal, CommitSignal(journal), throttle, tasks, settings.index_linger_ms / 1000)
    runner.start()
    opened.callback(runner.stop)
    working = WorkingMemory(
        journal, counters, components.working_limits(settings), episodic.relevance, summary_updater.update_without_model
    )
    learning_tasks = (summary_task, fact_task, procedural)
    completed: dict[str, CompletedLsn] = {task.name: task.completed_lsn for task in learning_tasks}
    return Layers(
        working=working,
        episodic=episodic,
        documents=Documents(journal, components.document_validator(settings, counters)),
        artifacts=components.artifacts(settings, journal, working, counters),
        facts=facts,
        echoes=echoes,
        summary_updater=summary_updater,
        summary_schedule=summary_schedule,
        procedural=procedural,
        watermarks=SessionWatermarks(journal, {INDEXING: episodic.completed_lsn, **completed}),
        is_behind=lambda namespace: runner.is_behind(namespace) or fact_task.is_waiting_for_model(namespace),
    )


def _learning_throttle(limits: InFlightLimits) -> BackgroundThrottle:
    return BackgroundThrottle(limits.load_probe(finished_calls=True).is_busy, LEARNING_THROTTLE)


def _summary_updater(
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


def build_context_handler(
    settings: Settings, layers: Layers, find_chunks: FindChunks, executors: Executors
) -> BuildContextHandler:
    budgets = components.budgets(settings)
    sources = ContextSources(
        layers.working, layers.facts, layers.summary_schedule, layers.procedural.hints, layers.artifacts
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
    builder = ContextBuilder(sources, layers.echoes, budgets, thresholds, role, layers.is_behind)
    return BuildContextHandler(builder, retrieval, executors)
