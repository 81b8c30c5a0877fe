"""A background task that records its entries, and fails on demand."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from memsidecar.domain.session import SessionKey
from memsidecar.layers.background import BackgroundThrottle, CommitSignal, RetryLater, Runner, Task, ThrottleConfig
from memsidecar.layers.background.runner import MAX_BATCH_CPU_SECONDS
from memsidecar.stores.contract import ANY_SIZE, Append, Journal, LogEntries, LogEntry, NoOp
from tests.conformance.builders import draft, execute


@dataclass
class TaskState:
    """The persistent state of a task: effects and position, in one commit."""

    effects: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    positions: dict[str, int] = field(default_factory=lambda: defaultdict(int))


@dataclass
class RecordingTask:
    """A task that records the lsn of every entry."""

    state: TaskState = field(default_factory=TaskState)
    name: str = "recording"
    poisoned: frozenset[int] = frozenset()
    failures_left: int = 0
    "How many of the next attempts fail."
    is_unavailable: bool = False
    batches: list[tuple[str, int]] = field(default_factory=list)
    attempts: list[float] = field(default_factory=list)
    before: Callable[[str, LogEntries], None] = lambda _, __: None
    maintenance_runs: int = 0

    def position(self, namespace: str) -> int:
        return self.state.positions[namespace]

    def process(self, namespace: str, batch: LogEntries) -> None:
        self.attempts.append(time.monotonic())
        self.before(namespace, batch)
        if self.is_unavailable:
            raise RetryLater("as the test wants it")
        if self.failures_left:
            self.failures_left -= 1
            raise ValueError("as the test wants it")
        for entry in batch:
            if entry.lsn in self.poisoned and not isinstance(entry, NoOp):
                raise ValueError("content of a message")
        self.batches.append((namespace, len(batch)))
        self.state.effects[namespace] += [entry.lsn for entry in batch if not _is_no_op(entry)]
        self.state.positions[namespace] = batch[-1].lsn

    def maintain(self, idle: bool) -> bool:  # noqa: ARG002 - it needs no maintenance
        self.maintenance_runs += 1
        return False


def _is_no_op(entry: LogEntry) -> bool:
    return isinstance(entry, NoOp)


def new_runner(
    journal: Journal,
    *tasks: Task,
    linger_seconds: float = 0.0,
    max_cpu_seconds: float = MAX_BATCH_CPU_SECONDS,
    max_message_bytes: int = ANY_SIZE,
) -> Runner:
    throttle = BackgroundThrottle(lambda: False, ThrottleConfig(1.0, 1.0, 1.0))
    return Runner(
        journal,
        CommitSignal(journal),
        throttle,
        list(tasks),
        linger_seconds,
        max_cpu_seconds=max_cpu_seconds,
        max_message_bytes=max_message_bytes,
    )


@contextmanager
def running(
    journal: Journal, *tasks: Task, linger_seconds: float = 0.0, max_message_bytes: int = ANY_SIZE
) -> Iterator[Runner]:
    runner = new_runner(journal, *tasks, linger_seconds=linger_seconds, max_message_bytes=max_message_bytes)
    runner.start()
    try:
        yield runner
    finally:
        runner.stop()


def append(journal: Journal, namespace: str, *contents: str, session: str = "s") -> list[int]:
    """Append messages; return their lsns."""
    before = journal.log_end("default")
    execute(journal, Append(SessionKey(namespace, session), "", [draft(content) for content in contents]))
    return list(range(before + 1, journal.log_end("default") + 1))
