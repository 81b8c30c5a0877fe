"""A session as a whole: whose it is, where it stands, how it prunes itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

DEFAULT_NAMESPACE = "default"


class SessionKey(NamedTuple):
    namespace: str
    session_id: str


class Strategy(IntEnum):
    """How to choose what leaves the window. The numbers are the contract's."""

    RECENCY = 1
    TURNS = 2
    WINDOW = 3
    IMPORTANCE = 4


@dataclass(frozen=True, slots=True)
class Policy:
    """How a session prunes itself; zero tokens: never. `summarize`: what is pruned is summarised first."""

    auto_prune_tokens: int = 0
    strategy: Strategy = Strategy.RECENCY
    model: str = ""
    summarize: bool = False


@dataclass(slots=True)
class SessionHead:
    """Where a session stands after its entry `version` of the log. Published heads are never changed, only replaced.

    `counts` and `tokens` are of the window, one number for each role in the order of `Role`.
    `window_start` is at or before the oldest message of the window that is not a system message.
    `open_calls` maps a tool call's id to the messages that made it and have no answer to it yet, oldest first.
    """

    key: SessionKey
    row_id: int
    user_id: str = ""
    version: int = 0
    last_sequence: int = 0
    window_start: int = 1
    pruned_count: int = 0
    counts: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    tokens: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    create_time_us: int = 0
    last_active_us: int = 0
    policy: Policy | None = None
    open_calls: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def message_count(self) -> int:
        return sum(self.counts)

    @property
    def total_tokens(self) -> int:
        return sum(self.tokens)

    def copy(self) -> "SessionHead":
        return SessionHead(
            self.key,
            self.row_id,
            self.user_id,
            self.version,
            self.last_sequence,
            self.window_start,
            self.pruned_count,
            self.counts[:],
            self.tokens[:],
            self.create_time_us,
            self.last_active_us,
            self.policy,
            self.open_calls,
        )

    def count(self, role: int, tokens: int, sign: int = 1) -> None:
        """Take one message into the window's sums, or out of them."""
        self.counts[role - 1] += sign
        self.tokens[role - 1] += sign * tokens
