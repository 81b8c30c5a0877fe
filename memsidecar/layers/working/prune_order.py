"""What a caller asks of pruning, what it answers, and whom it asks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memsidecar.domain.pruning import NO_RELEVANCE
from memsidecar.domain.session import Head, Strategy

Relevance = Callable[[Head, str], Mapping[int, float]]
"How much each message of a session has to do with a text: 0 to 1 by sequence, absent where it has nothing."


SummarizeUpTo = Callable[[Head, int], str]
"Bring a session's summary up to a message, at once; the summary's id."


def never_summarized(_head: Head, _last: int) -> str:
    """Where nobody summarises."""
    return ""


def irrelevant(_head: Head, _text: str) -> Mapping[int, float]:
    """For a memory that cannot tell."""
    return NO_RELEVANCE


@dataclass(frozen=True, slots=True)
class PruneOrder:
    """What a caller asks for. `leave_share` is the share of max_tokens that pruning, once needed, leaves in use.

    `when_over`: only when max_tokens are passed, whatever the strategy, and without asking what is relevant, because an
    Add waits for it. `relevance` is filled in for IMPORTANCE otherwise.
    """

    max_tokens: int
    strategy: Strategy
    window: int
    min_messages: int
    dry_run: bool = False
    overflow: bool = False
    model: str = ""
    summarize: bool = False
    leave_share: float = 1.0
    when_over: bool = False
    relevance: Mapping[int, float] = field(default_factory=lambda: NO_RELEVANCE)


@dataclass(frozen=True, slots=True)
class Pruned:
    removed_count: int = 0
    removed_ids: Sequence[str] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    remaining_count: int = 0
    over_budget: bool = False
    shortened_ids: Sequence[str] = ()
    summary_id: str = ""
