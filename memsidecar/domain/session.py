"""Sessions: key, current state, policy."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from memsidecar.domain.errors import SessionOwnerMismatch
from memsidecar.domain.message import Role
from memsidecar.domain.retention import Retention

DEFAULT_NAMESPACE = "default"


class SessionKey(NamedTuple):
    namespace: str
    session_id: str


class Strategy(IntEnum):
    """Pruning strategy: which messages leave the window first. The numbers are those of the proto enum."""

    RECENCY = 1
    TURNS = 2
    WINDOW = 3
    IMPORTANCE = 4


@dataclass(frozen=True, slots=True)
class Policy:
    """Policy of a session or a namespace. `auto_prune_tokens` 0 means never.

    `summarize` updates the summary before messages leave. Without `retention`, that of the namespace or the settings
    is in force.
    """

    auto_prune_tokens: int = 0
    strategy: Strategy = Strategy.RECENCY
    model: str = ""
    summarize: bool = False
    retention: Retention | None = None


@dataclass(slots=True)
class SessionHead:
    """State of a session after log entry `version`. A published head is never modified, only replaced.

    `row_id` is the surrogate key: a session that is deleted and created again has another one.
    `counts` and `tokens` are of the window, one number for each role in the order of `Role`.
    `window_start` is at or before the oldest message of the window that is not a system message.
    `open_calls` maps the id of a tool call without a result to the messages that made it, oldest first.
    `default_policy` is that of the namespace. Only a shared journal reads it with the session.
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
    default_policy: Policy | None = None

    @property
    def message_count(self) -> int:
        return sum(self.counts)

    @property
    def total_tokens(self) -> int:
        return sum(self.tokens)

    @property
    def spoken_tokens(self) -> int:
        """Return the tokens of the window without system messages."""
        return self.total_tokens - self.tokens[Role.SYSTEM - 1]

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
            self.default_policy,
        )

    def count(self, role: int, tokens: int, sign: int = 1) -> None:
        """Add one message to the sums of the window, or subtract it with `sign` -1."""
        self.counts[role - 1] += sign
        self.tokens[role - 1] += sign * tokens


def claimed_copy(head: SessionHead, user_id: str) -> SessionHead:
    """Return a copy to change. The first request that names a user claims the session; another is refused."""
    if user_id and head.user_id and user_id != head.user_id:
        raise SessionOwnerMismatch()
    head = head.copy()
    head.user_id = head.user_id or user_id
    return head


def is_claim(before: SessionHead, after: SessionHead) -> bool:
    return after.user_id != before.user_id
