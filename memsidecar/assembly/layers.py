"""Wires the memory layers, their background runner, the context builder."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from memsidecar.api.build_context import BuildContextApi
from memsidecar.api.executors import Bridge
from memsidecar.api.interceptors.concurrency import Limits
from memsidecar.assembly import components
from memsidecar.context.builder import Building
from memsidecar.context.relevance import Taste
from memsidecar.context.retrieval import Retrieval
from memsidecar.context.sources import Gathering
from memsidecar.domain.message import Role
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.background import Courtesy, Pulse, Runner
from memsidecar.layers.background.task import Reached, Watermarks
from memsidecar.layers.documents.documents import Documents, FindChunks
from memsidecar.layers.episodic import EpisodicMemory
from memsidecar.layers.episodic.indexer import TASK as INDEXING
from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.layers.semantic.echo_filter import Echoes
from memsidecar.layers.semantic.fact_task import Learning
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.summaries.store import Summaries
from memsidecar.layers.summaries.task import SummarizingTask
from memsidecar.layers.summaries.update import KeepingUp, Summarizing
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.settings import Settings
from memsidecar.stores.contract import Journal
from memsidecar.tokens.registry import Counters

LEARNING_TIMES, LEARNING_FEWEST_TIMES, LEARNING_PATIENCE_SECONDS = 49.0, 9.0, 20.0
"Nobody waits for what is learned: as long as somebody waits for something else, it has a fiftieth of the time."


@dataclass(frozen=True)
class Layers:
    """The memory, as the services see it."""

    working: WorkingMemory
    episodic: EpisodicMemory
    documents: Documents
    artifacts: Artifacts
    facts: Facts
    echoes: Echoes
    summarize: Summarizing
    keep_up: KeepingUp
    procedural: ProceduralMemory
    watermarks: Watermarks
    is_behind: Callable[[str], bool]


def open_layers(
    settings: Settings,
    journal: Journal,
    counters: Counters,
    limits: Limits,
    opened: ExitStack,
) -> Layers:
    """Everything but the index, which takes seconds to open and is opened later.

    What learns has a runner of its own, apart from the index's: a model may keep it waiting. `limits` knows whether
    somebody waits for an answer.
    """
    pulse = Pulse(journal)
    courtesy = Courtesy(limits.somebody_is_here(), LEARNING_TIMES, LEARNING_FEWEST_TIMES, LEARNING_PATIENCE_SECONDS)
    language = components.language(settings, counters, courtesy.give_way)
    opened.callback(language.tell_figures)
    episodic = EpisodicMemory(
        journal, components.embedders(settings), components.episodic_limits(settings), limits.somebody_waits()
    )
    opened.callback(episodic.close)
    facts, echoes = Facts(journal, settings.facts_cache_size), Echoes()
    summarize = _summarizing(settings, journal, counters, language)
    learn = Learning(
        journal,
        facts,
        language.extractor,
        echoes,
        settings.facts_every_turns,
        settings.facts_quiet_seconds,
        courtesy.give_way,
    )
    keep_up = KeepingUp(summarize, components.rhythm(settings))
    roll = SummarizingTask(journal, keep_up, courtesy.give_way)
    procedural = ProceduralMemory(journal, settings.patterns_every_conversations, courtesy.give_way)
    learning = Runner(journal, pulse, courtesy, [roll, learn, procedural], settings.index_linger_ms / 1000)
    learning.start()
    opened.callback(learning.stop)
    working = WorkingMemory(journal, counters, components.limits(settings), episodic.relevance, summarize.at_once)
    reached: dict[str, Reached] = {task.name: task.reached for task in (roll, learn, procedural)}
    return Layers(
        working,
        episodic,
        Documents(journal, components.document_drafting(settings, counters)),
        components.artifacts(settings, journal, working, counters),
        facts,
        echoes,
        summarize,
        keep_up,
        procedural,
        Watermarks(journal, {INDEXING: episodic.reached, **reached}),
        lambda namespace: learning.is_behind(namespace) or learn.waits(namespace),
    )


def _summarizing(
    settings: Settings, journal: Journal, counters: Counters, language: components.Language
) -> Summarizing:
    return Summarizing(
        journal,
        Summaries(journal),
        language.summarizer,
        language.fallback,
        counters.default.count,
        settings.summary_budget,
    )


def context_api(settings: Settings, layers: Layers, find_chunks: FindChunks, bridge: Bridge) -> BuildContextApi:
    budgets = components.budgets(settings)
    gathering = Gathering(layers.working, layers.facts, layers.keep_up, layers.procedural.hints, layers.artifacts)
    taste = Taste(settings.similarity_threshold, settings.episodic_min_quality, settings.episodic_recency_weight)
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
    return BuildContextApi(
        Building(gathering, layers.echoes, budgets, taste, role, layers.is_behind), retrieval, bridge
    )
