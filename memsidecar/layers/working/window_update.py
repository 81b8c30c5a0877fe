"""Window updates: request and result of a prune, optimistic commit with retries."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.pruning import NO_RELEVANCE
from memsidecar.domain.session import SessionHead, SessionKey, Strategy
from memsidecar.layers.working.validation import tokens_of
from memsidecar.stores.contract import (
    JournalWriter,
    UpdateWindow,
    UpdateWindowExclusive,
    VersionConflict,
    WindowUpdated,
    submit_and_wait,
)
from memsidecar.tokens.contract import Counter
from memsidecar.v1.message_pb2 import Message

MAX_OPTIMISTIC_ATTEMPTS = 3

Relevance = Callable[[SessionHead, str], Mapping[int, float]]
"""Returns the relevance of the messages of a session for a text: sequence -> 0 to 1, only where it is above 0."""

SummarizeTo = Callable[[SessionHead, int], str]
"""Updates the summary of a session through a sequence and returns the id of the summary."""

UpdatePlan = Callable[[], UpdateWindow | None]
"""Returns the update for the current version of a session; None if there is no such session."""


def no_summary(_head: SessionHead, _last: int) -> str:
    """SummarizeTo without a summarizer."""
    return ""


def no_relevance(_head: SessionHead, _text: str) -> Mapping[int, float]:
    """Relevance without an index."""
    return NO_RELEVANCE


@dataclass(frozen=True, slots=True)
class PruneRequest:
    """Parsed request to prune a session.

    `target_share` is the share of `max_tokens` that remains in use after a removal.
    `only_over_budget` prunes only above `max_tokens`, whatever the strategy, and does not compute relevance: an Add
    waits for it. `relevance` is filled in for the other requests with strategy IMPORTANCE.
    """

    max_tokens: int
    strategy: Strategy
    window: int
    min_messages: int
    dry_run: bool = False
    overflow: bool = False
    model: str = ""
    summarize: bool = False
    target_share: float = 1.0
    only_over_budget: bool = False
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
    """Commits a plan with optimistic concurrency: the plan runs on the caller's thread, for one version of the session.

    A session with continuous writes would conflict forever. After a few conflicts the committer runs the plan itself,
    where no other write can interfere.
    """

    journal: JournalWriter

    def __call__(self, key: SessionKey, plan: UpdatePlan) -> Any:
        """Return the `result` of the update that was committed; None if there is no such session."""
        for _ in range(MAX_OPTIMISTIC_ATTEMPTS):
            try:
                return self._update_optimistically(plan)
            except VersionConflict:
                continue
        return self._update_exclusively(key, plan)

    def _update_optimistically(self, plan: UpdatePlan) -> Any:
        update = plan()
        if update is None or not (update.removed or update.shortened):
            return update and update.result
        return self._commit(update)

    def _update_exclusively(self, key: SessionKey, plan: UpdatePlan) -> Any:
        def decide() -> UpdateWindow:
            update = plan()
            if update is None:
                raise VersionConflict("the session was erased")
            return update

        try:
            return self._commit(UpdateWindowExclusive(key, decide))
        except VersionConflict:
            return None

    def _commit(self, command: UpdateWindow | UpdateWindowExclusive) -> Any:
        updated: WindowUpdated = submit_and_wait(self.journal, command)
        return updated.result


def truncated_copy(text: str, stored: StoredMessage, message: Message, counter: Counter) -> StoredMessage:
    """Return the stored message with a shorter text for the window. `message` is its decoded body, and is modified."""
    message.content, message.synthetic = text, True
    message.tokens = tokens_of(message, counter)
    return stored._replace(tokens=message.tokens, flags=stored.flags | Flag.SHORTENED, body=message.SerializeToString())
