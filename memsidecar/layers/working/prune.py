"""Prune planning."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memsidecar.domain.message import Flag, Role, StoredMessage
from memsidecar.domain.pruning import NO_RELEVANCE, RemovalCriteria, WindowView, plan_removal, truncate_middle
from memsidecar.domain.session import SessionHead, SessionKey, Strategy
from memsidecar.layers.ownership import check_owner
from memsidecar.layers.working.reads import SessionReader, require_version
from memsidecar.layers.working.session_cache import SessionSnapshot
from memsidecar.layers.working.token_counts import ModelTokenCounts
from memsidecar.layers.working.validation import tokens_of
from memsidecar.layers.working.window_update import (
    PruneRequest,
    PruneResult,
    Relevance,
    SummarizeUpTo,
    WindowUpdater,
    no_relevance,
    no_summary,
    truncated_copy,
)
from memsidecar.stores.contract import Journal, MessageQuery, UpdateWindow, VersionConflict
from memsidecar.v1.message_pb2 import Message

IDS_TOLD = 1_000
TURN_CHARACTERS = 2_000


@dataclass(slots=True)
class PrunePlan:
    """What would happen to a session that stands at `head`."""

    head: SessionHead
    tokens_before: int
    tokens_after: int
    removed: list[int] = field(default_factory=list)
    shortened: list[StoredMessage] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not self.removed and not self.shortened

    def trim(self, key: SessionKey) -> UpdateWindow:
        return UpdateWindow(key, self.head.version, self.removed, self.shortened)


@dataclass(frozen=True)
class Pruner:
    """Makes the plans that `trim` carries out."""

    journal: Journal
    reading: SessionReader
    token_counts: ModelTokenCounts
    trim: WindowUpdater
    overflow_keep_tokens: int
    relevance: Relevance = no_relevance
    summarize: SummarizeUpTo = no_summary
    overflow_leave_share: float = 0.8

    def __call__(self, key: SessionKey, user_id: str, order: PruneRequest) -> PruneResult:
        if order.strategy == Strategy.IMPORTANCE and not order.when_over:
            order = replace(order, relevance=self._relevance(key, user_id, order))
        made: list[PrunePlan] = []

        def plan_now() -> UpdateWindow | None:
            plan = self._plan(key, user_id, order)
            made[:] = [plan] if plan else []
            if plan is None:
                return None
            return UpdateWindow(key, plan.head.version) if order.dry_run else plan.trim(key)

        if order.summarize and not order.dry_run:
            # First: what is pruned is spoken for already. What comes on top while this goes on, right behind it.
            with suppress(VersionConflict):
                plan_now()
            self._summarized(order, made)
        self.trim(key, plan_now)
        told = self._told(key, order, made[0]) if made else PruneResult()
        return replace(told, summary_id=self._summarized(order, made))

    def _summarized(self, order: PruneRequest, made: Sequence[PrunePlan]) -> str:
        """The summary that speaks for what the plan removes; empty for none."""
        if not order.summarize or order.dry_run or not made or not made[0].removed:
            return ""
        return self.summarize(made[0].head, made[0].removed[-1])

    def _relevance(self, key: SessionKey, user_id: str, order: PruneRequest) -> Mapping[int, float]:
        """To the newest turn. Asked for once, before anything is planned: what it asks may be far away.

        Not asked for where nothing is to be removed; whatever passes the budget after that is weighed without it.
        """
        view = self.reading.session_cache.get(key)
        if view is None:
            return NO_RELEVANCE
        check_owner(view.head, user_id)
        return self.relevance(view.head, _newest_turn(view)) if self._over(key, view, order) else NO_RELEVANCE

    def _over(self, key: SessionKey, view: SessionSnapshot, order: PruneRequest) -> bool:
        """Whether the budget is passed; yes, if the session moved while it was counted by another model."""
        try:
            return self._total(key, view, order) > order.max_tokens
        except VersionConflict:
            return True

    def _total(self, key: SessionKey, view: SessionSnapshot, order: PruneRequest) -> int:
        if order.model and self.token_counts.differs(key.namespace, order.model):
            return self._recounted(key, view, order)[1]
        return view.head.total_tokens

    # -- planning

    def _plan(self, key: SessionKey, user_id: str, order: PruneRequest) -> PrunePlan | None:
        view = self.reading.session_cache.get(key)
        if view is None:
            return None
        check_owner(view.head, user_id)
        window, total = self._window(key, view, order)
        plan = PrunePlan(view.head, total, total)
        if total <= order.max_tokens and (order.when_over or order.strategy != Strategy.WINDOW):
            return plan
        if order.overflow and order.max_tokens:
            window = self._with_shortened(key, order, plan, window)
        if order.strategy == Strategy.WINDOW or plan.tokens_after > order.max_tokens:
            self._remove(order, plan, window)
        return plan

    def _window(self, key: SessionKey, view: SessionSnapshot, order: PruneRequest) -> tuple[WindowView, int]:
        head = view.head
        if order.model and self.token_counts.differs(key.namespace, order.model):
            return self._recounted(key, view, order)
        if view.complete:
            messages = view.messages()
            return _window_in_ram(messages, head.total_tokens), head.total_tokens
        newest = self._newest(key, view, order)
        return (
            WindowView(
                message_count=head.message_count,
                total_tokens=head.total_tokens,
                oldest_first=self.reading.window(head, bodies=False),
                newest=newest,
                exchange_end=lambda exchange: self.journal.exchange_end(key, exchange),
            ),
            head.total_tokens,
        )

    def _recounted(self, key: SessionKey, view: SessionSnapshot, order: PruneRequest) -> tuple[WindowView, int]:
        messages: Iterable[StoredMessage] = (
            view.messages() if view.complete else self.reading.window(view.head, bodies=True)
        )
        counter = self.token_counts.counter(key.namespace, order.model)
        recounted = list(self.token_counts.recount(counter, view.head, messages))
        total = sum(one.tokens for one in recounted)
        self.token_counts.keep_total(counter, view.head, total)
        return _window_in_ram(recounted, total), total

    def _newest(self, key: SessionKey, view: SessionSnapshot, order: PruneRequest) -> Sequence[StoredMessage]:
        """The newest messages, as many as no order may touch; the tail in RAM is nearly always enough."""
        needed = max(order.min_messages, order.window if order.strategy == Strategy.WINDOW else 0)
        if view.end >= needed:
            return view.messages()
        page = self.journal.messages(key, MessageQuery(limit=needed, newest_first=True, bodies=False))
        return require_version(view.head, page).messages[::-1]

    def _with_shortened(self, key: SessionKey, order: PruneRequest, plan: PrunePlan, window: WindowView) -> WindowView:
        """Shorten the oldest large tool results until the rest fits, or until there is none left."""
        counter = self.token_counts.counter(key.namespace, order.model)
        messages = list(window.oldest_first)
        for at, one in enumerate(messages):
            if plan.tokens_after <= order.max_tokens:
                break
            short = self._shortened(key, one)
            if short is not None:
                plan.shortened.append(short)
                seen = tokens_of(Message.FromString(short.body), counter)
                plan.tokens_after -= one.tokens - seen
                messages[at] = short._replace(tokens=seen)
        return _window_in_ram(messages, plan.tokens_after)

    def _shortened(self, key: SessionKey, one: StoredMessage) -> StoredMessage | None:
        if one.role != Role.TOOL or one.flags & Flag.SHORTENED or one.tokens <= 2 * self.overflow_keep_tokens:
            return None
        # Bodies are read for the few that are large: a long session is never loaded as a whole.
        (whole,) = self.journal.messages(key, MessageQuery(one.sequence - 1, one.sequence + 1)).messages or (one,)
        message = Message.FromString(whole.body)
        counter = self.token_counts.counters.default
        text = truncate_middle(message.content, self.overflow_keep_tokens, counter.count)
        return None if text is None else truncated_copy(text, one, message, counter)

    def _remove(self, order: PruneRequest, plan: PrunePlan, window: WindowView) -> None:
        share = min(order.leave_share, self.overflow_leave_share if order.overflow else 1.0)
        max_tokens = int(order.max_tokens * share) or order.max_tokens
        wanted = RemovalCriteria(order.strategy, max_tokens, order.window, order.min_messages)
        removal = plan_removal(window, wanted, relevance=order.relevance)
        gone = set(removal.sequences)
        plan.removed = removal.sequences
        plan.shortened = [one for one in plan.shortened if one.sequence not in gone]
        plan.tokens_after -= removal.tokens

    # -- telling

    def _told(self, key: SessionKey, order: PruneRequest, plan: PrunePlan) -> PruneResult:
        return PruneResult(
            removed_count=len(plan.removed),
            removed_ids=self._ids(key, plan.removed[:IDS_TOLD]),
            tokens_before=plan.tokens_before,
            tokens_after=plan.tokens_after,
            remaining_count=plan.head.message_count - len(plan.removed),
            over_budget=0 < order.max_tokens < plan.tokens_after,
            shortened_ids=[Message.FromString(one.body).id for one in plan.shortened],
        )

    def _ids(self, key: SessionKey, sequences: Sequence[int]) -> list[str]:
        """The ids of messages by their sequences, which are ascending."""
        wanted, found = set(sequences), list[str]()
        after = sequences[0] - 1 if sequences else 0
        while len(found) < len(wanted):
            page = self.journal.messages(key, MessageQuery(after, sequences[-1] + 1, limit=1000, include_pruned=True))
            found += [Message.FromString(one.body).id for one in page.messages if one.sequence in wanted]
            if not page.messages:
                break
            after = page.messages[-1].sequence
        return found


def _window_in_ram(messages: Sequence[StoredMessage], total_tokens: int) -> WindowView:
    return WindowView(
        message_count=len(messages),
        total_tokens=total_tokens,
        oldest_first=messages,
        newest=messages,
        exchange_end=_ends(messages),
    )


def _ends(messages: Sequence[StoredMessage]) -> Callable[[int], int]:
    ends: dict[int, int] = {}
    for one in messages:
        if one.exchange:
            ends[one.exchange] = one.sequence
    return lambda exchange: ends.get(exchange, 0)


def _newest_turn(view: SessionSnapshot) -> str:
    """What was said since the user last spoke, their message included."""
    said: list[str] = []
    for one in reversed(view.messages()):
        if one.role == Role.SYSTEM:
            continue
        said.append(Message.FromString(one.body).content[:TURN_CHARACTERS])
        if one.role == Role.USER:
            break
    return "\n".join(reversed(said))[-TURN_CHARACTERS:]
