"""The task protocol, the offsets of tasks, and watermarks by session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import (
    AdvanceWatermark,
    ChangeFeed,
    JournalWriter,
    LogEntries,
    Progress,
    SessionReader,
    submit_and_wait,
)

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
