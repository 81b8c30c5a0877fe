"""A journal that records its commands, for a replay on the reference, or for interference."""

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
        self.submitted: list[PendingCommand] = []
        self.decided: dict[int, UpdateWindow] = {}

    def submit(self, pending: PendingCommand) -> None:
        if isinstance(pending.command, UpdateWindowExclusive):
            pending.command = self._recording_decision(pending, pending.command)
        self.submitted.append(pending)
        self._journal.submit(pending)

    def _recording_decision(self, pending: PendingCommand, command: UpdateWindowExclusive) -> UpdateWindowExclusive:
        def decide() -> UpdateWindow:
            self.decided[id(pending)] = command.decide()
            return self.decided[id(pending)]

        return UpdateWindowExclusive(command.key, decide)

    def __getattr__(self, name: str) -> object:
        return getattr(self._journal, name)

    def committed(self) -> Iterator[Command]:
        """Return the committed commands in commit order: by the version of their session."""
        done = [pending for pending in self.submitted if pending.error is None and pending.result().head is not None]
        for pending in sorted(done, key=lambda pending: pending.result().head.version):
            yield self.decided.get(id(pending), pending.command)


def replay(commands: Iterable[Command]) -> VolatileJournal:
    reference = VolatileJournal()
    for command in commands:
        pending = PendingCommand(aligned(reference, command))
        reference.submit(pending)
        pending.wait()
    return reference


def aligned(reference: VolatileJournal, command: Command) -> Command:
    """Replace the expected version of a window update by that of the reference."""
    if not isinstance(command, UpdateWindow):
        assert isinstance(command, Append | UpdateMessage | Erase)
        return command
    head = reference.head(command.key)
    assert head is not None
    return replace(command, expected_version=head.version)


def counts_of(head: SessionHead | None) -> tuple[object, ...]:
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
