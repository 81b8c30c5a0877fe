"""A command between the one who gives it and the journal."""

import threading
from collections.abc import Callable
from typing import Any

from memsidecar.stores.contract.commands import Command


class Ticket:
    """A command on its way. `settled` is called once, on the journal's thread, when it is durable or refused.

    It must not raise: others wait behind it for their own answer.
    """

    __slots__ = ("_gate", "_settled", "command", "done", "error", "result")

    def __init__(self, command: Command, settled: Callable[["Ticket"], None] | None = None) -> None:
        self.command = command
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False
        self._settled = settled
        self._gate: threading.Lock | None = None
        if settled is None:
            self._gate = threading.Lock()
            self._gate.acquire()

    def settle(self, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error, self.done = result, error, True
        if self._gate is not None:
            self._gate.release()
        elif self._settled is not None:
            self._settled(self)

    def wait(self) -> Any:
        """Block until settled. Only for tickets without a `settled` callback, and only once."""
        assert self._gate is not None
        self._gate.acquire()
        return self.outcome()

    def outcome(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.result
