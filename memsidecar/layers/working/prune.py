"""Prune: plan which messages leave the window and which are shortened, then commit the plan."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memsidecar.domain.message import Flag, Role, StoredMessage
from memsidecar.domain.pruning import NO_RELEVANCE, RemovalCriteria, WindowView, plan_removal, truncate_middle
from memsidecar.domain.session import SessionHead, SessionKey, Strategy
from memsidecar.layers.ownership import check_owner
from memsidecar.layers.working.reads import WorkingMemoryReader, newest_by_user, require_version
from memsidecar.layers.working.session_cache import SessionSnapshot
from memsidecar.layers.working.token_counts import ModelTokenCounts
from memsidecar.layers.working.validation import tokens_of
from memsidecar.layers.working.window_update import (
    PruneRequest,
    PruneResult,
    Relevance,
    SummarizeTo,
    WindowUpdater,
    no_relevance,
    no_summary,
    truncated_copy,
)
from memsidecar.stores.contract import MessageQuery, MessageReader, UpdateWindow, VersionConflict
from memsidecar.v1.message_pb2 import Message

MAX_REPORTED_IDS = 1_000
MAX_TURN_CHARACTERS = 2_000


@dataclass(slots=True)
class PrunePlan:
    """Changes of a window at version `head`."""

    head: SessionHead
    tokens_before: int
    tokens_after: int
    removed: list[int] = field(default_factory=list)
    shortened: list[StoredMessage] = field(default_factory=list)

    def update(self, key: SessionKey) -> UpdateWindow:
        return UpdateWindow(key, self.head.version, self.removed, self.shortened, result=self)


@dataclass(frozen=True)
class Pruner:
    journal: MessageReader
    reader: WorkingMemoryReader
    token_counts: ModelTokenCounts
    window_updater: WindowUpdater
    overflow_keep_tokens: int
    relevance: Relevance = no_relevance
    summarize: SummarizeTo = no_summary
    overflow_target_share: float = 0.8

    def __call__(self, key: SessionKey, user_id: str, request: PruneRequest) -> PruneResult:
        if request.strategy == Strategy.IMPORTANCE and not request.only_over_budget:
            request = replace(request, relevance=self._relevance(key, user_id, request))

        def plan_update() -> UpdateWindow | None:
            plan = self._plan(key, user_id, request)
            if plan is None:
                return None
            return UpdateWindow(key, plan.head.version, result=plan) if request.dry_run else plan.update(key)

        if request.summarize and not request.dry_run:
            # Summarize before the removal, so that a removed message is always covered. Messages that the committed
            # plan removes on top of this one are summarized right after it.
            with suppress(VersionConflict):
                self._summarize_removed(request, self._plan(key, user_id, request))
        plan: PrunePlan | None = self.window_updater(key, plan_update)
        result = self._result(key, request, plan) if plan else PruneResult()
        return replace(result, summary_id=self._summarize_removed(request, plan))

    def _summarize_removed(self, request: PruneRequest, plan: PrunePlan | None) -> str:
        """Summarize the messages that the plan removes; return the id of the summary, empty for none."""
        if not request.summarize or request.dry_run or plan is None or not plan.removed:
            return ""
        return self.summarize(plan.head, plan.removed[-1])

    def _relevance(self, key: SessionKey, user_id: str, request: PruneRequest) -> Mapping[int, float]:
        """Return the relevance of each message for the newest turn.

        It is computed once, before planning, because the index may be slow, and only if the window is over budget. A
        message that exceeds the budget later is planned without it.
        """
        snapshot = self.reader.session_cache.get(key)
        if snapshot is None:
            return NO_RELEVANCE
        check_owner(snapshot.head, user_id)
        if not self._is_over_budget(key, snapshot, request):
            return NO_RELEVANCE
        return self.relevance(snapshot.head, _newest_turn(snapshot))

    def _is_over_budget(self, key: SessionKey, snapshot: SessionSnapshot, request: PruneRequest) -> bool:
        """Whether the window exceeds the budget; true if the session changed while it was counted."""
        try:
            return self._total(key, snapshot, request) > request.max_tokens
        except VersionConflict:
            return True

    def _total(self, key: SessionKey, snapshot: SessionSnapshot, request: PruneRequest) -> int:
        if request.model and self.token_counts.differs(key.namespace, request.model):
            return self._recounted(key, snapshot, request)[1]
        return snapshot.head.total_tokens

    def _plan(self, key: SessionKey, user_id: str, request: PruneRequest) -> PrunePlan | None:
        snapshot = self.reader.session_cache.get(key)
        if snapshot is None:
            return None
        check_owner(snapshot.head, user_id)
        window, total = self._window(key, snapshot, request)
        plan = PrunePlan(snapshot.head, total, total)
        if total <= request.max_tokens and (request.only_over_budget or request.strategy != Strategy.WINDOW):
            return plan
        if request.overflow and request.max_tokens:
            window = self._shorten_results(key, request, plan, window)
        if request.strategy == Strategy.WINDOW or plan.tokens_after > request.max_tokens:
            self._remove(request, plan, window)
        return plan

    def _window(self, key: SessionKey, snapshot: SessionSnapshot, request: PruneRequest) -> tuple[WindowView, int]:
        head = snapshot.head
        if request.model and self.token_counts.differs(key.namespace, request.model):
            return self._recounted(key, snapshot, request)
        if snapshot.complete:
            return _window_in_ram(snapshot.messages(), head.total_tokens), head.total_tokens
        view = WindowView(
            message_count=head.message_count,
            total_tokens=head.total_tokens,
            oldest_first=self.reader.window(head, bodies=False),
            newest=self._newest(key, snapshot, request),
            exchange_end=lambda exchange: self.journal.exchange_end(key, exchange),
            task=_sequence_of(self.reader.newest_user_message(head, snapshot.messages())),
        )
        return view, head.total_tokens

    def _recounted(self, key: SessionKey, snapshot: SessionSnapshot, request: PruneRequest) -> tuple[WindowView, int]:
        head = snapshot.head
        messages: Iterable[StoredMessage] = (
            snapshot.messages() if snapshot.complete else self.reader.window(head, bodies=True)
        )
        counter = self.token_counts.counter(key.namespace, request.model)
        recounted = list(self.token_counts.recount(counter, head, messages))
        total = sum(message.tokens for message in recounted)
        self.token_counts.remember_total(counter, head, total)
        return _window_in_ram(recounted, total), total

    def _newest(self, key: SessionKey, snapshot: SessionSnapshot, request: PruneRequest) -> Sequence[StoredMessage]:
        """Return the newest messages, at least as many as the request protects. The cached tail is usually enough."""
        needed = max(request.min_messages, request.window if request.strategy == Strategy.WINDOW else 0)
        if snapshot.end >= needed:
            return snapshot.messages()
        page = self.journal.messages(key, MessageQuery(limit=needed, newest_first=True, bodies=False))
        return require_version(snapshot.head, page).messages[::-1]

    def _shorten_results(
        self, key: SessionKey, request: PruneRequest, plan: PrunePlan, window: WindowView
    ) -> WindowView:
        """Shorten large tool results, oldest first, until the window fits or none is left."""
        counter = self.token_counts.counter(key.namespace, request.model)
        messages = list(window.oldest_first)
        for at, message in enumerate(messages):
            if plan.tokens_after <= request.max_tokens:
                break
            shortened = self._shortened(key, message)
            if shortened is not None:
                plan.shortened.append(shortened)
                tokens = tokens_of(Message.FromString(shortened.body), counter)
                plan.tokens_after -= message.tokens - tokens
                messages[at] = shortened._replace(tokens=tokens)
        return _window_in_ram(messages, plan.tokens_after)

    def _shortened(self, key: SessionKey, stored: StoredMessage) -> StoredMessage | None:
        is_large = stored.tokens > 2 * self.overflow_keep_tokens
        if stored.role != Role.TOOL or stored.flags & Flag.SHORTENED or not is_large:
            return None
        # Only the few large bodies are read: a long session is never loaded as a whole.
        query = MessageQuery(stored.sequence - 1, stored.sequence + 1)
        (with_body,) = self.journal.messages(key, query).messages or (stored,)
        message = Message.FromString(with_body.body)
        counter = self.token_counts.counters.default
        text = truncate_middle(message.content, self.overflow_keep_tokens, counter.count)
        return None if text is None else truncated_copy(text, stored, message, counter)

    def _remove(self, request: PruneRequest, plan: PrunePlan, window: WindowView) -> None:
        share = min(request.target_share, self.overflow_target_share if request.overflow else 1.0)
        max_tokens = int(request.max_tokens * share) or request.max_tokens
        criteria = RemovalCriteria(request.strategy, max_tokens, request.window, request.min_messages)
        removal = plan_removal(window, criteria, relevance=request.relevance)
        removed = set(removal.sequences)
        plan.removed = removal.sequences
        plan.shortened = [message for message in plan.shortened if message.sequence not in removed]
        plan.tokens_after -= removal.tokens

    def _result(self, key: SessionKey, request: PruneRequest, plan: PrunePlan) -> PruneResult:
        return PruneResult(
            removed_count=len(plan.removed),
            removed_ids=self._ids(key, plan.removed[:MAX_REPORTED_IDS]),
            tokens_before=plan.tokens_before,
            tokens_after=plan.tokens_after,
            remaining_count=plan.head.message_count - len(plan.removed),
            over_budget=0 < request.max_tokens < plan.tokens_after,
            shortened_ids=[Message.FromString(message.body).id for message in plan.shortened],
        )

    def _ids(self, key: SessionKey, sequences: Sequence[int]) -> list[str]:
        """Return the ids of the messages with these ascending sequences."""
        wanted, ids = set(sequences), list[str]()
        after = sequences[0] - 1 if sequences else 0
        while len(ids) < len(wanted):
            page = self.journal.messages(key, MessageQuery(after, sequences[-1] + 1, limit=1000, include_pruned=True))
            ids += [Message.FromString(message.body).id for message in page.messages if message.sequence in wanted]
            if not page.messages:
                break
            after = page.messages[-1].sequence
        return ids


def _window_in_ram(messages: Sequence[StoredMessage], total_tokens: int) -> WindowView:
    return WindowView(
        message_count=len(messages),
        total_tokens=total_tokens,
        oldest_first=messages,
        newest=messages,
        exchange_end=_exchange_ends(messages),
        task=_sequence_of(newest_by_user(messages)),
    )


def _sequence_of(message: StoredMessage | None) -> int:
    return message.sequence if message else 0


def _exchange_ends(messages: Sequence[StoredMessage]) -> Callable[[int], int]:
    ends = {message.exchange: message.sequence for message in messages if message.exchange}
    return lambda exchange: ends.get(exchange, 0)


def _newest_turn(snapshot: SessionSnapshot) -> str:
    """Return the text since the newest user message, that message included."""
    texts: list[str] = []
    for message in reversed(snapshot.messages()):
        if message.role == Role.SYSTEM:
            continue
        texts.append(Message.FromString(message.body).content[:MAX_TURN_CHARACTERS])
        if message.role == Role.USER:
            break
    return "\n".join(reversed(texts))[-MAX_TURN_CHARACTERS:]
