"""A journal that records its commands, so that they can be replayed on the reference, or interfered with."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import (
    Append,
    Command,
    Erase,
    Journal,
    MessagePage,
    MessageQuery,
    PendingCommand,
    UpdateMessage,
    UpdateWindow,
    UpdateWindowExclusive,
)
from memsidecar.stores.volatile.journal import VolatileJournal


class RecordingJournal:
    """Record all commands of a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.tickets: list[PendingCommand] = []
        self.decided: dict[int, UpdateWindow] = {}

    def submit(self, ticket: PendingCommand) -> None:
        if isinstance(ticket.command, UpdateWindowExclusive):
            ticket.command = self._noted(ticket, ticket.command)
        self.tickets.append(ticket)
        self._journal.submit(ticket)

    def _noted(self, ticket: PendingCommand, command: UpdateWindowExclusive) -> UpdateWindowExclusive:
        def decide() -> UpdateWindow:
            self.decided[id(ticket)] = command.decide()
            return self.decided[id(ticket)]

        return UpdateWindowExclusive(command.key, decide)

    def __getattr__(self, name: str) -> object:
        return getattr(self._journal, name)

    def committed(self) -> Iterator[Command]:
        """What took effect, in the order in which it did: by the version that each left its session at."""
        done = [ticket for ticket in self.tickets if ticket.error is None and ticket.result().head is not None]
        for ticket in sorted(done, key=lambda ticket: ticket.result().head.version):
            yield self.decided.get(id(ticket), ticket.command)


def replayed(commands: Iterable[Command]) -> VolatileJournal:
    oracle = VolatileJournal()
    for command in commands:
        ticket = PendingCommand(aligned(oracle, command))
        oracle.submit(ticket)
        ticket.wait()
    return oracle


def aligned(oracle: VolatileJournal, command: Command) -> Command:
    """A trim names the version it was planned for; the oracle counts versions on its own."""
    if not isinstance(command, UpdateWindow):
        assert isinstance(command, Append | UpdateMessage | Erase)
        return command
    head = oracle.head(command.key)
    assert head is not None
    return replace(command, expected_version=head.version)


def figures(head: SessionHead | None) -> tuple[object, ...]:
    assert head is not None
    return head.last_sequence, head.pruned_count, head.counts, head.tokens, head.open_calls


def stored(journal: Journal, key: SessionKey) -> list[StoredMessage]:
    selection = MessageQuery(limit=1 << 30, include_pruned=True, max_bytes=1 << 40)
    return list(journal.messages(key, selection).messages)


class InterferingJournal(RecordingJournal):
    """Call `interfere` when messages are read the next time."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self.interfere: Callable[[], None] | None = None

    def messages(self, key: SessionKey, selection: MessageQuery) -> MessagePage:
        interfere, self.interfere = self.interfere, None
        if interfere is not None:
            interfere()
        return self._journal.messages(key, selection)
