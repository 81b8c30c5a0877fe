"""Summary updates: when one is due, through which message, and by which summarizer."""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memsidecar.domain.errors import NotFound
from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.domain.text import strip_injected
from memsidecar.language.contract import MalformedAnswer, ModelUnavailable, Summarizer, Utterance
from memsidecar.layers.summaries.store import RollingSummary, SummaryDraft, SummaryStore, new_summary
from memsidecar.stores.contract import MessageQuery, MessageReader
from memsidecar.v1.message_pb2 import Message

log = logging.getLogger(__name__)

BATCH_CHARACTERS = 1 << 18
"""Text that one summarizer call gets: a session may be larger than the RAM."""

_READ_MESSAGES = 500
_TURN_MESSAGES = 2
_MAX_EXAMINED_MESSAGES = 10_000
_MAX_MESSAGES_NOW, _MAX_TOKENS_NOW = 200, 20_000
"""Bounds on an update for which a client waits; larger ones are left to the background task."""
_NO_EXCHANGE = sys.maxsize


@dataclass(frozen=True)
class SummaryUpdater:
    """Extends the summary of a session.

    `fallback` needs no model. It is used where a client waits, and for a first summary if the model is unavailable.
    """

    journal: MessageReader
    store: SummaryStore
    summarizer: Summarizer
    fallback: Summarizer
    count: Callable[[str], int]
    max_tokens: int

    @property
    def uses_model(self) -> bool:
        return self.summarizer is not self.fallback

    def update_to(self, head: SessionHead, last: int, max_tokens: int = 0) -> RollingSummary | None:
        """Update the summary through the message `last`; return the one that is stored then.

        Raise ModelUnavailable or MalformedAnswer if there is a summary already; the fallback makes the first one.
        """
        known, limit = self.store.get(head.key), max_tokens or self.max_tokens
        try:
            return self._save(head, self._extended(known, head, last, self.summarizer, limit))
        except (ModelUnavailable, MalformedAnswer) as failure:
            if known is not None:
                raise
            log.warning("a first summary is made without the model: %s", failure)
            return self._save(head, self._extended(known, head, last, self.fallback, limit))

    def update_without_model(self, head: SessionHead, last: int) -> str:
        """Update without a model; return the id of the summary, empty if there is nothing to summarize."""
        draft = self._extended(self.store.get(head.key), head, last, self.fallback, self.max_tokens)
        summary = self._save(head, draft)
        return summary.id if summary else ""

    def update_async(self, head: SessionHead, last: int, *, dry_run: bool) -> RollingSummary | None:
        """Update without a model; return the summary without waiting for its commit. A dry run does not save it."""
        known = self.store.get(head.key)
        draft = self._extended(known, head, last, self.fallback, self.max_tokens)
        if draft is not None and draft.summary is not known and not dry_run:
            self.store.submit_save(head.key, head.row_id, draft)
        return draft.summary if draft else None

    def _extended(
        self, known: RollingSummary | None, head: SessionHead, last: int, summarizer: Summarizer, limit: int
    ) -> SummaryDraft | None:
        unchanged = SummaryDraft(known, known.id) if known else None
        covered = known.last_sequence if known else 0
        if known is not None and last <= covered and known.tokens <= limit:
            return unchanged
        text = known.text if known else ""
        sequences: list[int] = []
        for batch in self._batches(head.key, covered, last, sequences):
            text = summarizer.summarize(text, batch, limit).strip() or text
        if not text:
            return unchanged
        span = (known.first_sequence if known else 1, max(last, covered))
        summary = new_summary(text, self.count(text), span, time.time_ns() // 1000, summarizer.origin)
        return SummaryDraft(summary, known.id if known else "", sequences)

    def _batches(self, key: SessionKey, after: int, last: int, sequences: list[int]) -> Iterator[list[Utterance]]:
        """Yield at least one batch: a summary may have to be shortened although there are no new messages.

        The sequences of the messages are added to `sequences`.
        """
        batch: list[Utterance] = []
        size = 0
        for utterance in self._utterances(key, after, last, sequences):
            batch.append(utterance)
            size += len(utterance.text)
            if size >= BATCH_CHARACTERS:
                yield batch
                batch, size = [], 0
        yield batch

    def _utterances(self, key: SessionKey, after: int, last: int, sequences: list[int]) -> Iterator[Utterance]:
        """Yield the messages after a sequence, pruned ones included, system messages excluded."""
        while after < last:
            query = MessageQuery(after, last + 1, limit=_READ_MESSAGES, include_pruned=True, max_bytes=BATCH_CHARACTERS)
            messages = self.journal.messages(key, query).messages
            if not messages:
                return
            for message in messages:
                if message.role != Role.SYSTEM:
                    sequences.append(message.sequence)
                    yield _utterance(message)
            after = messages[-1].sequence

    def _save(self, head: SessionHead, draft: SummaryDraft | None) -> RollingSummary | None:
        try:
            return self.store.save(head.key, head.row_id, draft) if draft else None
        except NotFound:
            return None


def _utterance(stored: StoredMessage) -> Utterance:
    message = Message.FromString(stored.body)
    return Utterance(message.id, stored.role, message.name, strip_injected(message.content), stored.time_us)


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    """An update is due after `every_messages`, or when the messages without a summary exceed `tail_tokens`.

    The newest `keep_messages` are not summarized.
    """

    every_messages: int = 12
    tail_tokens: int = 3_000
    keep_messages: int = 6

    def is_due(self, messages: Sequence[StoredMessage], has_summary: bool) -> bool:
        is_enough = len(messages) >= self.required_messages(has_summary)
        return is_enough or sum(message.tokens for message in messages) > self.tail_tokens

    def required_messages(self, has_summary: bool) -> int:
        """Return how many messages make an update due.

        After the first summary, the messages that it left out and the current turn come on top.
        """
        return self.every_messages + (self.keep_messages + _TURN_MESSAGES if has_summary else 0)


@dataclass(frozen=True)
class SummarySchedule:
    """Updates summaries when the policy says that they are due."""

    updater: SummaryUpdater
    policy: SummaryPolicy

    def update(self, head: SessionHead, last_sequence: int) -> RollingSummary | None:
        """Return the summary, updated if that is due, with messages up to `last_sequence` only.

        Raises ModelUnavailable, MalformedAnswer.
        """
        known, last, _ = self._due(head, last_sequence)
        return self.updater.update_to(head, last) if last else known

    def make_again(self, head: SessionHead) -> RollingSummary | None:
        """Make the summary that an erasure removed: as far as one is due, and at least of what left the window.

        Raises ModelUnavailable, MalformedAnswer.
        """
        known, last, _ = self._due(head, head.last_sequence)
        if known is None and head.pruned_count:
            last = max(last, head.window_start - 1)
        return self.updater.update_to(head, last) if last else known

    def update_if_fast(self, head: SessionHead, *, dry_run: bool) -> RollingSummary | None:
        """Return the summary, updated if that is due and fast: without a model, a long history or a commit.

        A context waits for it. A summary that came a turn later would change the beginning of two prompts, not of one.
        """
        known = self.updater.store.get(head.key)
        ahead = head.last_sequence - (known.last_sequence if known else 0)
        # Messages are not read to see whether an update is due by tokens alone: that is left to the background task.
        is_due = self.policy.required_messages(bool(known)) <= ahead <= _MAX_MESSAGES_NOW
        if not is_due or self.updater.uses_model:
            return known
        known, last, tokens = self._due(head, head.last_sequence)
        return self.updater.update_async(head, last, dry_run=dry_run) if last and tokens <= _MAX_TOKENS_NOW else known

    def _due(self, head: SessionHead, last_sequence: int) -> tuple[RollingSummary | None, int, int]:
        """Return the summary, the last message to summarize now (0 for none), and the tokens without a summary."""
        known = self.updater.store.get(head.key)
        covered = known.last_sequence if known else 0
        query = MessageQuery(covered, limit=_MAX_EXAMINED_MESSAGES, include_pruned=True, bodies=False)
        found = self.updater.journal.messages(head.key, query).messages
        messages = [each for each in found if each.role != Role.SYSTEM and each.sequence <= last_sequence]
        is_due = self.policy.is_due(messages, bool(known))
        last = summary_boundary(messages, self.policy.keep_messages) if is_due else 0
        return known, last, sum(message.tokens for message in messages)


def summary_boundary(messages: Sequence[StoredMessage], keep: int) -> int:
    """Return the last message to summarize, so that at least `keep` messages after it stay; 0 for none.

    It is the end of a turn. In a turn longer than that, it is the end of an exchange.
    """
    conversation = [message for message in messages if message.role != Role.SYSTEM]
    if len(conversation) <= keep:
        return 0
    earliest_exchanges = _earliest_exchanges(conversation)
    exchange_boundary = 0
    for at in range(len(conversation) - keep - 1, -1, -1):
        sequence = conversation[at].sequence
        ends_turn = at + 1 == len(conversation) or conversation[at + 1].role == Role.USER
        splits_exchange = earliest_exchanges[at + 1] <= sequence
        if splits_exchange:
            continue
        if ends_turn:
            return sequence
        exchange_boundary = exchange_boundary or sequence
    return exchange_boundary


def _earliest_exchanges(conversation: Sequence[StoredMessage]) -> list[int]:
    """Return, for each position, the earliest exchange of the messages from there on."""
    exchanges = (message.exchange or _NO_EXCHANGE for message in reversed(conversation))
    return list(accumulate(exchanges, min, initial=_NO_EXCHANGE))[::-1]
