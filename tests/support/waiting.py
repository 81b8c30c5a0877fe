"""Waiting for what is begun in one thread and settled in another."""

import threading
from collections.abc import Callable
from typing import Any

from memsidecar.stores.contract import PendingCommand

PATIENCE_SECONDS = 30


def outcome_of(begin: Callable[[Callable[[PendingCommand], None]], PendingCommand]) -> Any:
    """What becomes of a ticket that is begun with the callback it is given."""
    settled = threading.Event()
    ticket = begin(lambda _: settled.set())
    assert settled.wait(PATIENCE_SECONDS)
    return ticket.result()
