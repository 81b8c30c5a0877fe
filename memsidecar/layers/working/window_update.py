"""PruneRequest/PruneResult; optimistic commit with retry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memsidecar.domain.errors import Overloaded
from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.pruning import NO_RELEVANCE
from memsidecar.domain.session import SessionHead, SessionKey, Strategy
from memsidecar.layers.working.validation import tokens_of
from memsidecar.stores.contract import Journal, PendingCommand, UpdateWindow, UpdateWindowExclusive, VersionConflict
from memsidecar.tokens.contract import Counter
from memsidecar.v1.message_pb2 import Message

Relevance = Callable[[SessionHead, str], Mapping[int, float]]
"How much each message of a session has to do with a text: 0 to 1 by sequence, absent where it has nothing."


SummarizeUpTo = Callable[[SessionHead, int], str]
"Bring a session's summary up to a message, at once; the summary's id."

PLANS_BEFORE_WAITING = 3

UpdatePlan = Callable[[], UpdateWindow | None]
"What is to become of a session as it stands now; None where there is no such session."


def no_summary(_head: SessionHead, _last: int) -> str:
    """Where nobody summarises."""
    return ""


def no_relevance(_head: SessionHead, _text: str) -> Mapping[int, float]:
    """For a memory that cannot tell."""
    return NO_RELEVANCE


@dataclass(frozen=True, slots=True)
class PruneRequest:
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
class PruneResult:
    removed_count: int = 0
    removed_ids: Sequence[str] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    remaining_count: int = 0
    over_budget: bool = False
    shortened_ids: Sequence[str] = ()
    summary_id: str = ""


@dataclass(frozen=True)
class WindowUpdater:
    """Plans on the caller's thread against one moment, and commits only if the session still stands there.

    A session that is written to without a pause would never stand still long enough; after a few tries the plan is
    made on the journal's own thread, where nothing moves.
    """

    journal: Journal

    def __call__(self, key: SessionKey, plan: UpdatePlan) -> None:
        for _ in range(PLANS_BEFORE_WAITING):
            try:
                return self._outside(plan)
            except VersionConflict:
                continue
        return self._while_nothing_moves(key, plan)

    def _outside(self, plan: UpdatePlan) -> None:
        trim = plan()
        if trim is not None and (trim.removed or trim.shortened):
            self._commit(trim)

    def _while_nothing_moves(self, key: SessionKey, plan: UpdatePlan) -> None:
        def decide() -> UpdateWindow:
            trim = plan()
            if trim is None:
                raise Overloaded("the session was erased meanwhile")
            return trim

        self._commit(UpdateWindowExclusive(key, decide))

    def _commit(self, command: UpdateWindow | UpdateWindowExclusive) -> None:
        ticket = PendingCommand(command)
        self.journal.submit(ticket)
        ticket.wait()


def truncated_copy(text: str, one: StoredMessage, message: Message, counter: Counter) -> StoredMessage:
    """A message as the window is to show it, with a shorter text of ours in place of its own; it is changed."""
    message.content, message.synthetic = text, True
    message.tokens = tokens_of(message, counter)
    return one._replace(tokens=message.tokens, flags=one.flags | Flag.SHORTENED, body=message.SerializeToString())
