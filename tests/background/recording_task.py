"""A task whose effect can be seen, and that fails when the test wants it."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from memsidecar.domain.session import SessionKey
from memsidecar.layers.background import BackgroundThrottle, CommitSignal, RetryLater, Runner, ThrottleConfig
from memsidecar.stores.contract import Append, Journal, LogEntries, LogEntry, NoOp
from tests.conformance.builders import carry_out, draft


@dataclass
class Keeping:
    """What survives the process: the effects and the position, in one commit."""

    effects: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    positions: dict[str, int] = field(default_factory=lambda: defaultdict(int))


@dataclass
class Noting:
    """A task that notes every entry."""

    kept: Keeping = field(default_factory=Keeping)
    name: str = "noting"
    poisoned: frozenset[int] = frozenset()
    faults_left: int = 0
    "How many of the next attempts fail, whatever is in them."
    away: bool = False
    chapters: list[tuple[str, int]] = field(default_factory=list)
    attempts: list[float] = field(default_factory=list)
    before: Callable[[str, LogEntries], None] = lambda _, __: None
    rests: int = 0

    def position(self, namespace: str) -> int:
        return self.kept.positions[namespace]

    def process(self, namespace: str, chapter: LogEntries) -> None:
        self.attempts.append(time.monotonic())
        self.before(namespace, chapter)
        if self.away:
            raise RetryLater("as the test wants it")
        if self.faults_left:
            self.faults_left -= 1
            raise ValueError("as the test wants it")
        for entry in chapter:
            if entry.lsn in self.poisoned and not isinstance(entry, NoOp):
                raise ValueError("a secret that was said")
        self.chapters.append((namespace, len(chapter)))
        self.kept.effects[namespace] += [entry.lsn for entry in chapter if not _says_nothing(entry)]
        self.kept.positions[namespace] = chapter[-1].lsn

    def maintain(self, idle: bool) -> bool:  # noqa: ARG002 - it has no chores
        self.rests += 1
        return False


def _says_nothing(entry: LogEntry) -> bool:
    return isinstance(entry, NoOp)


def a_runner(journal: Journal, *tasks: Noting, linger_seconds: float = 0.0) -> Runner:
    pulse = CommitSignal(journal)
    return Runner(
        journal, pulse, BackgroundThrottle(lambda: False, ThrottleConfig(1.0, 1.0, 1.0)), list(tasks), linger_seconds
    )


@contextmanager
def running(journal: Journal, *tasks: Noting, linger_seconds: float = 0.0) -> Iterator[Runner]:
    runner = a_runner(journal, *tasks, linger_seconds=linger_seconds)
    runner.start()
    try:
        yield runner
    finally:
        runner.stop()


def say(journal: Journal, namespace: str, *contents: str, session: str = "s") -> list[int]:
    """The lsns of the messages."""
    before = journal.stats().last_lsn
    carry_out(journal, Append(SessionKey(namespace, session), "", [draft(content) for content in contents]))
    return list(range(before + 1, journal.stats().last_lsn + 1))
