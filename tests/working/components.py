"""Working memory in this process, assembled as in `memsidecar.assembly`."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import Command, Journal, MessagePage, MessageQuery, PendingCommand
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.message_pb2 import ROLE_USER, Message

QUICK = ("--tokenizer", "chars4")
"""A fast tokenizer: these tests are not about counting."""

COUNTERS = CounterRegistry("chars4")
"""CounterRegistry have no state but what they loaded. The classes of an estimate take 0.3 s."""


class HookedJournal(SqliteJournal):
    """The real journal, with hooks around its reads and commits."""

    def __init__(self, folder: Path) -> None:
        self._before: Callable[[], object] | None = None
        self._after: Callable[[], object] | None = None
        self._committed: Callable[[], object] | None = None
        super().__init__(folder)

    def before_each_read(self, hook: Callable[[], object]) -> None:
        self._before = hook

    def after_the_next_read(self, hook: Callable[[], object]) -> None:
        self._after = hook

    def after_the_next_commit(self, hook: Callable[[], object]) -> None:
        """Call the hook when the next command is durable and before it completes, on the submitting thread."""
        self._committed = hook

    def submit(self, pending: PendingCommand) -> None:
        hook, self._committed = self._committed, None
        if hook is None:
            super().submit(pending)
            return
        result = self.carry_out(pending.command)
        hook()
        pending.complete(result)

    def messages(self, key: SessionKey, query: MessageQuery) -> MessagePage:
        if self._before is not None:
            self._before()
        page = super().messages(key, query)
        hook, self._after = self._after, None
        if hook is not None:
            hook()
        return page

    def carry_out(self, command: Command) -> object:
        pending = PendingCommand(command)
        self.submit(pending)
        return pending.wait()


@contextmanager
def journal_in(folder: Path) -> Iterator[HookedJournal]:
    with closing(HookedJournal(folder)) as journal:
        yield journal


def memory_over(journal: Journal, limits: WorkingLimits | None = None) -> WorkingMemory:
    return WorkingMemory(journal, COUNTERS, limits or WorkingLimits())


def messages_of(*contents: str) -> list[Message]:
    return [Message(role=ROLE_USER, content=content) for content in contents]
