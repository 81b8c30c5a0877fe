"""Composition of the tasks that derive memory from messages, and of the runners that run them."""

from contextlib import ExitStack
from dataclasses import dataclass

from memsidecar.api.interceptors.concurrency import InFlightLimits
from memsidecar.assembly import components
from memsidecar.assembly.components import Language
from memsidecar.layers.artifacts.artifact import key_of_message
from memsidecar.layers.background import BackgroundThrottle, CommitSignal, Runner, ThrottleConfig
from memsidecar.layers.background.task import CompletedLsn, Task
from memsidecar.layers.learned_until import LARGE_MESSAGE_BYTES, LearnedUntil
from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.fact_merge import rests_on, without_messages
from memsidecar.layers.semantic.fact_task import FactTask
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.summaries.store import SummaryStore, covers
from memsidecar.layers.summaries.task import SummaryTask
from memsidecar.layers.summaries.update import SummarySchedule, SummaryUpdater
from memsidecar.settings import Settings
from memsidecar.stores.contract import Derivations, Journal
from memsidecar.stores.contract.change_feed import ANY_SIZE
from memsidecar.tokens.registry import CounterRegistry

THROTTLE = ThrottleConfig(max_sleep_ratio=49.0, min_sleep_ratio=9.0, speedup_after_seconds=20.0)
"No RPC waits for derived memory: while RPCs are in flight, its tasks get a fiftieth of the time."

DERIVATIONS = Derivations(rests_on, without_messages, covers, key_of_message)
"How facts, summaries and artifacts rest on messages."


@dataclass(frozen=True, kw_only=True)
class DerivedMemory:
    """Derived memory, with the tasks that derive it.

    Facts of messages of usual size have a runner of their own: a large message may occupy a thread for seconds.
    """

    language: Language
    facts: Facts
    echoes: EchoFilter
    summary_updater: SummaryUpdater
    summary_schedule: SummarySchedule
    summary_task: SummaryTask
    procedural: ProceduralMemory
    fact_tasks: tuple[FactTask, FactTask]
    runners: tuple[Runner, Runner]

    def is_behind(self, namespace: str) -> bool:
        """Return whether derived data of a namespace may be stale."""
        is_waiting = any(task.is_waiting_for_model(namespace) for task in self.fact_tasks)
        return is_waiting or any(runner.is_behind(namespace) for runner in self.runners)

    @property
    def completed(self) -> dict[str, CompletedLsn]:
        """By the name that clients see, the lsn up to which a task has processed a namespace."""
        tasks = {task.name: task.completed_lsn for task in (self.summary_task, self.procedural)}
        return {self.fact_tasks[0].name: lambda namespace: min(self.learned_until(namespace)), **tasks}

    def learned_until(self, namespace: str) -> LearnedUntil:
        """Return the lsns up to which the facts of a namespace are extracted."""
        others, large = self.fact_tasks
        return LearnedUntil(others.completed_lsn(namespace), large.completed_lsn(namespace))


def open_derived_memory(
    settings: Settings, journal: Journal, counters: CounterRegistry, limits: InFlightLimits, opened: ExitStack
) -> DerivedMemory:
    """Open derived memory, and start its tasks. `limits` tells their throttles whether RPCs are in flight."""
    throttle, fact_throttle = _throttle(limits), _throttle(limits)
    language = components.language(settings, counters, throttle.yield_cpu)
    opened.callback(language.log_usage)
    facts, echoes = Facts(journal, settings.facts_cache_size), EchoFilter()
    updater = SummaryUpdater(
        journal,
        SummaryStore(journal),
        language.summarizer,
        language.fallback,
        counters.default.count,
        settings.summary_budget,
    )
    schedule = SummarySchedule(updater, components.summary_policy(settings))

    def fact_task(own: BackgroundThrottle, *, reads_large: bool) -> FactTask:
        turns, quiet_seconds = settings.facts_every_turns, settings.facts_quiet_seconds
        return FactTask(journal, facts, language.extractor, echoes, turns, quiet_seconds, own.yield_cpu, reads_large)

    def run(own: BackgroundThrottle, tasks: list[Task], max_message_bytes: int = ANY_SIZE) -> Runner:
        linger_seconds = settings.index_linger_ms / 1000
        commits = CommitSignal(journal)
        runner = Runner(journal, commits, own, tasks, linger_seconds, max_message_bytes=max_message_bytes)
        runner.start()
        opened.callback(runner.stop)
        return runner

    summary_task = SummaryTask(journal, schedule, throttle.yield_cpu)
    procedural = ProceduralMemory(journal, settings.patterns_every_conversations, throttle.yield_cpu)
    fact_tasks = fact_task(fact_throttle, reads_large=False), fact_task(throttle, reads_large=True)
    runners = (
        run(fact_throttle, [fact_tasks[0]], LARGE_MESSAGE_BYTES),
        run(throttle, [summary_task, fact_tasks[1], procedural]),
    )
    return DerivedMemory(
        language=language,
        facts=facts,
        echoes=echoes,
        summary_updater=updater,
        summary_schedule=schedule,
        summary_task=summary_task,
        procedural=procedural,
        fact_tasks=fact_tasks,
        runners=runners,
    )


def _throttle(limits: InFlightLimits) -> BackgroundThrottle:
    return BackgroundThrottle(limits.load_probe(finished_calls=True).is_busy, THROTTLE)
