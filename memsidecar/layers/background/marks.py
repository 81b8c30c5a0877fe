"""How far a task has read, and how far it need not read again: two places, for the sake of fewer commits."""

from dataclasses import dataclass, field

from memsidecar.stores.contract import Advance, Journal, Progress, Ticket

ENTRIES_BETWEEN_MARKS = 2_000
"How much of the log is read again after a crash, at most."


@dataclass
class Marks:
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
        return ahead >= ENTRIES_BETWEEN_MARKS or (idle and ahead > 0)

    def progress(self, namespace: str, done: int) -> Progress:
        """The mark as a part of the command that keeps the effect."""
        self._marked[namespace] = max(self._marked[namespace], done)
        return Progress(self.task, done)

    def mark(self, namespace: str, done: int) -> None:
        self._marked[namespace] = done
        tell(self.journal, Ticket(Advance(self.task, namespace, done)))


def tell(journal: Journal, ticket: Ticket) -> None:
    """Hand in a command, and wait until it is durable."""
    journal.submit(ticket)
    ticket.wait()
