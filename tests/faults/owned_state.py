"""State that one writer changes through RPCs, and its oracle: each later read returns a permitted state.

Permitted are the state after the last acknowledged change, and that after a change without response, which is stored
completely or not at all. Changes have times, so that the oracle also answers for a moment in the past.
"""

import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.support.process import Client


class NextChange(NamedTuple):
    """A change to make: the RPC, the state after it, and the call."""

    rpc: str
    state: Any
    send: Callable[[], Any]


class AnyState:
    """A state that only the server knows before it responds."""

    def __eq__(self, _: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@dataclass
class Change:
    rpc: str
    start_ns: int
    end_ns: int | None
    "None as long as there is no response."
    state: Any


class OwnedState(ABC):
    """A state of one owner, such as the facts of one user."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._numbers = 0
        self._changes = [Change("nothing", 0, 0, self.empty())]

    @property
    def state(self) -> Any:
        """The state after the last change."""
        return self._changes[-1].state

    @property
    def open_rpc(self) -> str:
        """The RPC of the change without response; empty if there is none."""
        last = self._changes[-1]
        return last.rpc if last.end_ns is None else ""

    @abstractmethod
    def empty(self) -> Any: ...

    @abstractmethod
    def read(self, client: Client) -> Any:
        """Read the whole state; fail if it contradicts itself."""

    @abstractmethod
    def next_change(self, client: Client, chance: random.Random) -> NextChange: ...

    def texts(self, found: Any) -> Any:
        """Return the part of a state that checksums protect."""
        return found

    def acknowledged(self, response: Any, expected: Any) -> Any:
        """Return the state that the response acknowledges."""
        del response
        return expected

    def new_word(self) -> str:
        """Return a word that no earlier change of this state has."""
        self._numbers += 1
        return f"{self.name}n{self._numbers}"

    def write(self, client: Client, chance: random.Random) -> None:
        rpc, expected, send = self.next_change(client, chance)
        change = Change(rpc, time.monotonic_ns(), None, expected)
        self._changes.append(change)
        response = send()
        change.end_ns = time.monotonic_ns()
        change.state = self.acknowledged(response, expected)

    def permitted(self, at_ns: int) -> list[Change]:
        """Return the changes that may be the last one at a time, in the order of the calls."""
        begun = [change for change in self._changes if change.start_ns <= at_ns]
        durable = max(at for at, change in enumerate(begun) if change.end_ns is not None and change.end_ns <= at_ns)
        return begun[durable:]

    def check(self, client: Client, at_ns: int | None = None) -> Any:
        """Compare what is stored with what is permitted at a time, by default now; return what is stored."""
        permitted = self.permitted(time.monotonic_ns() if at_ns is None else at_ns)
        found = self.read(client)
        expected = [(change.rpc, change.state) for change in permitted]
        assert any(change.state == found for change in permitted), (
            f"{self.name}: {found} is stored; after {expected[0][0]} expected {[state for _, state in expected]}"
        )
        return found

    def settle(self, client: Client) -> None:
        """Check, and continue from what is stored: it decides the change without response."""
        self._changes = [Change("nothing", 0, 0, self.check(client))]
