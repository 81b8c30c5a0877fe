"""The task protocol, the offsets of tasks, the entries that tasks skip, and watermarks by session."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    ChangeFeed,
    DeadLetter,
    JournalAdmin,
    JournalWriter,
    LogEntries,
    LogEntry,
    NoOp,
    Progress,
    SessionReader,
    submit_and_wait,
)
from memsidecar.stores.contract.change_feed import entry_bytes

log = logging.getLogger(__name__)

CHECKPOINT_ENTRIES = 2_000
"Limit on the entries that are processed again after a crash."

CompletedLsn = Callable[[str], int | None]
"Return the lsn up to which a task has processed a namespace; None while it is unknown. Called on any thread."


class RetryLater(SidecarError):
    """A task's dependency is unavailable. No entry is at fault: the same entries will succeed later."""


class Task(Protocol):
    """Consumes the change feed of each namespace in order. All methods are called on the runner's thread.

    A task commits its position together with its effect, or its effect is idempotent: a crash then neither loses nor
    repeats an effect.
    """

    name: str

    def position(self, namespace: str) -> int:
        """Return the lsn of the last entry whose effect is stored. Raises RetryLater."""

    def process(self, namespace: str, entries: LogEntries) -> None:
        """Make the effect of these entries durable, and the position with it.

        RetryLater: the same entries are processed again later. After any other exception the entries are retried one
        by one, and an entry that keeps failing becomes a dead letter.
        """

    def maintain(self, idle: bool) -> bool:
        """Do maintenance between batches; `idle` if the log is quiet. Return whether more is due at once."""


LARGE_ENTRY_BYTES = 16 << 10
MAX_DEATHS = 4
"A machine may kill a process again and again for other reasons: two deaths in one entry were chance more than once."
_HARMLESS = "harmless"


class _TaskJournal(ChangeFeed, JournalWriter, JournalAdmin, Protocol):
    """The roles of the journal that dead letters need."""


class DeadLetters:
    """The entries that tasks skip, and the attempts at entries that may have ended the process.

    A large entry that was in the log at the start may have been under way when the process died. Each attempt at it is
    stored before it begins, until one ends. After MAX_DEATHS attempts that never ended, the entry is skipped. Other
    entries cost no commit. Attempts are stored as dead letters of other task names, so that they need no table.
    """

    def __init__(self, journal: _TaskJournal, tasks: Sequence[Task]) -> None:
        self._journal = journal
        self._lsns_at_start = dict(journal.last_lsns())
        names = [task.name for task in tasks]
        self._skipped = {(name, letter.lsn) for name in names for letter in journal.dead_letters(name)}
        self._harmless = {(name, letter.lsn) for name in names for letter in self._marks(name, _HARMLESS)}
        attempts = [(name, str(number)) for name in names for number in range(1, MAX_DEATHS + 1)]
        self._attempts = Counter((name, letter.lsn) for name, mark in attempts for letter in self._marks(name, mark))

    def without_skipped(self, task: Task, entries: LogEntries) -> LogEntries:
        """Return the entries; those that the task skips are replaced."""
        return [NoOp(entry.lsn) if (task.name, entry.lsn) in self._skipped else entry for entry in entries]

    def add(self, task: Task, namespace: str, entry: LogEntry, reason: str) -> None:
        """Skip the entry from now on. The reason is no text of an error, which may have a client's content."""
        submit_and_wait(self._journal, AddDeadLetter(task.name, namespace, entry.lsn, reason))
        self._skipped.add((task.name, entry.lsn))
        log.error("%s skips entry %d: %s", task.name, entry.lsn, reason)

    def add_costly(self, task: Task, namespace: str, batch: LogEntries, cpu_seconds: float) -> None:
        """Skip an entry that took too long. A large one is alone in its batch; of several none can be blamed."""
        log.warning("%s took %.0f s of CPU for %d entries", task.name, cpu_seconds, len(batch))
        if len(batch) == 1:
            self.add(task, namespace, batch[0], "CpuTimeExceeded")

    def is_suspect(self, task: Task, namespace: str, entry: LogEntry) -> bool:
        """Return whether the process may have died because of this entry."""
        place = task.name, entry.lsn
        is_old = entry.lsn <= self._lsns_at_start.get(namespace, 0)
        is_large = entry_bytes(entry) >= LARGE_ENTRY_BYTES
        return is_old and is_large and place not in self._harmless and place not in self._skipped

    @contextmanager
    def attempt(self, task: Task, namespace: str, entry: LogEntry) -> Iterator[None]:
        """Store that an attempt at an entry begins, if it is suspect, and that the process survived it."""
        if not self.is_suspect(task, namespace, entry):
            yield
            return
        number = self._attempts[task.name, entry.lsn] + 1
        if number > MAX_DEATHS:
            self.add(task, namespace, entry, "ProcessDied")
            yield
            return
        self._mark(task, namespace, entry, str(number))
        try:
            yield
        finally:
            self._mark(task, namespace, entry, _HARMLESS)
            self._harmless.add((task.name, entry.lsn))

    def _mark(self, task: Task, namespace: str, entry: LogEntry, mark: str) -> None:
        submit_and_wait(self._journal, AddDeadLetter(f"{task.name}/{mark}", namespace, entry.lsn, "attempt"))

    def _marks(self, name: str, mark: str) -> Sequence[DeadLetter]:
        return self._journal.dead_letters(f"{name}/{mark}")


class _Journal(ChangeFeed, JournalWriter, Protocol):
    """The roles of the journal that offsets need."""


@dataclass
class OffsetTracker:
    """Positions of a task in RAM, and its committed watermarks on disk. For tasks with idempotent effects."""

    journal: _Journal
    task: str
    _positions: dict[str, int] = field(default_factory=dict)
    _committed: dict[str, int] = field(default_factory=dict)

    def position(self, namespace: str) -> int:
        if namespace not in self._positions:
            watermark = self.journal.watermark(self.task, namespace)
            self._positions[namespace] = self._committed[namespace] = watermark
        return self._positions[namespace]

    def completed_lsn(self, namespace: str) -> int:
        """Return the position; for a namespace that was not read yet, the watermark. Any thread may call it."""
        position = self._positions.get(namespace)
        return self.journal.watermark(self.task, namespace) if position is None else position

    def advance(self, namespace: str, lsn: int) -> None:
        self._positions[namespace] = lsn

    def namespaces(self) -> list[str]:
        """Return the namespaces that were read."""
        return list(self._positions)

    def is_due(self, namespace: str, done: int, idle: bool) -> bool:
        """Return whether to commit `done`: it is far ahead of the watermark, or the task is idle."""
        ahead = done - self._committed[namespace]
        return ahead >= CHECKPOINT_ENTRIES or (idle and ahead > 0)

    def progress(self, namespace: str, done: int) -> Progress:
        """Return the watermark as a part of the command that stores the effect."""
        self._committed[namespace] = max(self._committed[namespace], done)
        return Progress(self.task, done)

    def commit(self, namespace: str, done: int) -> None:
        """Store the watermark."""
        self._committed[namespace] = done
        submit_and_wait(self.journal, AdvanceWatermark(self.task, namespace, done))


@dataclass(frozen=True)
class SessionWatermarks:
    """The progress of all tasks as sequences of a session, for clients."""

    journal: SessionReader
    tasks: Mapping[str, CompletedLsn]

    def __call__(self, namespace: str, heads: Sequence[SessionHead]) -> Sequence[Mapping[str, int]]:
        """Return, for each of these sessions of the namespace, sequences by task; with one read for all of them."""
        lsns = {task: lsn for task, completed in self.tasks.items() if (lsn := completed(namespace)) is not None}
        sequences = iter(self.journal.sequences_at([(head, lsn) for head in heads for lsn in lsns.values()]))
        return [dict(zip(lsns, islice(sequences, len(lsns)), strict=True)) for _ in heads]
