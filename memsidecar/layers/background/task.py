"""Task protocol, checkpointing of offsets, watermarks by session."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import AdvanceWatermark, Journal, LogEntries, PendingCommand, Progress

CHECKPOINT_ENTRIES = 2_000
"How much of the log is read again after a crash, at most."

CompletedLsn = Callable[[str], int | None]
"Up to which entry of a namespace's log a task is done; None where that is not known yet. Asked on any thread."


class RetryLater(SidecarError):
    """Something the task needs is away; nobody's message is to blame, and the same will work later."""


class Task(Protocol):
    """Follows the log of each namespace in order, and keeps its position where it keeps its result: in one commit.

    So a crash neither loses nor repeats an effect. All methods are called on the runner's thread.
    """

    name: str

    def position(self, namespace: str) -> int:
        """The last entry whose effect is kept. Raises NotNow."""

    def process(self, namespace: str, chapter: LogEntries) -> None:
        """Make the effect of these entries durable, and with it the position.

        Raises NotNow to be called again later with the same entries. Any other exception is laid at the entries'
        door: they are tried one by one, and the one that fails again and again is set aside.
        """

    def maintain(self, idle: bool) -> bool:
        """Chores between chapters; `idle` when the log is quiet. True if there is more to do at once."""


@dataclass
class OffsetTracker:
    """For tasks whose effect is the same when the log is read again. A mark is on disk, a position in RAM."""

    journal: Journal
    task: str
    _positions: dict[str, int] = field(default_factory=dict)
    _marked: dict[str, int] = field(default_factory=dict)

    def position(self, namespace: str) -> int:
        if namespace not in self._positions:
            mark = self.journal.watermark(self.task, namespace)
            self._positions[namespace] = self._marked[namespace] = mark
        return self._positions[namespace]

    def reached(self, namespace: str) -> int:
        """The position for whoever asks, on any thread: of a namespace that was not read yet, the mark."""
        position = self._positions.get(namespace)
        return self.journal.watermark(self.task, namespace) if position is None else position

    def move(self, namespace: str, lsn: int) -> None:
        self._positions[namespace] = lsn

    def namespaces(self) -> list[str]:
        """Those that were read."""
        return list(self._positions)

    def is_due(self, namespace: str, done: int, idle: bool) -> bool:
        """Whether to mark what is done: much of it, or when there is nothing else to do."""
        ahead = done - self._marked[namespace]
        return ahead >= CHECKPOINT_ENTRIES or (idle and ahead > 0)

    def progress(self, namespace: str, done: int) -> Progress:
        """The mark as a part of the command that keeps the effect."""
        self._marked[namespace] = max(self._marked[namespace], done)
        return Progress(self.task, done)

    def mark(self, namespace: str, done: int) -> None:
        self._marked[namespace] = done
        submit_and_wait(self.journal, PendingCommand(AdvanceWatermark(self.task, namespace, done)))


def submit_and_wait(journal: Journal, ticket: PendingCommand) -> None:
    """Hand in a command, and wait until it is durable."""
    journal.submit(ticket)
    ticket.wait()


@dataclass(frozen=True)
class SessionWatermarks:
    journal: Journal
    tasks: Mapping[str, CompletedLsn]

    def __call__(self, namespace: str, heads: Sequence[SessionHead]) -> Sequence[Mapping[str, int]]:
        """For each of these sessions of the namespace, by task; with one read for all of them."""
        lsns = {task: lsn for task, reached in self.tasks.items() if (lsn := reached(namespace)) is not None}
        sequences = iter(self.journal.sequences_at([(head, lsn) for head in heads for lsn in lsns.values()]))
        return [dict(zip(lsns, islice(sequences, len(lsns)), strict=True)) for _ in heads]
