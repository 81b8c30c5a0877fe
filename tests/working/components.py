"""Parts of the sidecar in this process, put together as `memsidecar.assembly` does it."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import Command, MessagePage, MessageQuery, PendingCommand
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.tokens.registry import Counters
from memsidecar.v1.message_pb2 import ROLE_USER, Message

QUICK = ("--tokenizer", "chars4")
"""Counting is not what these tests are about."""


class InterruptedJournal(SqliteJournal):
    """The real journal; what happens around one of its reads or commits is up to the test."""

    def __init__(self, folder: Path) -> None:
        self._before: Callable[[], object] | None = None
        self._after: Callable[[], object] | None = None
        self._committed: Callable[[], object] | None = None
        super().__init__(folder)

    def before_each_read(self, happens: Callable[[], object]) -> None:
        self._before = happens

    def after_the_next_read(self, happens: Callable[[], object]) -> None:
        self._after = happens

    def after_the_next_commit(self, happens: Callable[[], object]) -> None:
        """Once the next command is durable, and before it is answered; on the thread that submits it."""
        self._committed = happens

    def submit(self, ticket: PendingCommand) -> None:
        happens, self._committed = self._committed, None
        if happens is None:
            super().submit(ticket)
            return
        result = self.carry_out(ticket.command)
        happens()
        ticket.complete(result)

    def messages(self, key: SessionKey, selection: MessageQuery) -> MessagePage:
        if self._before is not None:
            self._before()
        page = super().messages(key, selection)
        happens, self._after = self._after, None
        if happens is not None:
            happens()
        return page

    def carry_out(self, command: Command) -> object:
        ticket = PendingCommand(command)
        self.submit(ticket)
        return ticket.wait()


@contextmanager
def journal_in(folder: Path) -> Iterator[InterruptedJournal]:
    with closing(InterruptedJournal(folder)) as journal:
        yield journal


def memory_over(journal: SqliteJournal, limits: WorkingLimits | None = None) -> WorkingMemory:
    return WorkingMemory(journal, Counters("chars4"), limits or WorkingLimits())


def said(*contents: str) -> list[Message]:
    return [Message(role=ROLE_USER, content=content) for content in contents]
