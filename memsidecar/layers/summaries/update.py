"""When a summary is due, and how it is brought forward."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memsidecar.domain.errors import NotFound
from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.domain.text import strip_injected
from memsidecar.language.contract import MalformedAnswer, ModelUnavailable, Summarizer, Utterance
from memsidecar.layers.summaries.store import RollingSummary, SummaryStore, new_summary
from memsidecar.stores.contract import Journal, MessageQuery
from memsidecar.v1.message_pb2 import Message

log = logging.getLogger(__name__)

_AT_ONCE = 500
_NEVER = 1 << 62
PART_CHARACTERS = 1 << 18
"Of what was said, so much is read at once: a session may have more than there is RAM."

_A_TURN = 2
_MOST_LOOKED_AT = 10_000
_MOST_AT_ONCE, _MOST_TOKENS_AT_ONCE = 200, 20_000
"Messages, and their tokens, that a caller waits for to be summarised; more are left to the background."


@dataclass(frozen=True)
class SummaryUpdater:
    """`fallback` speaks where the configured summarizer cannot and there is nothing yet to lose."""

    journal: Journal
    summaries: SummaryStore
    summarizer: Summarizer
    fallback: Summarizer
    count: Callable[[str], int]
    max_tokens: int

    @property
    def asks_a_model(self) -> bool:
        return self.summarizer is not self.fallback

    def up_to(self, head: SessionHead, last: int, max_tokens: int = 0) -> RollingSummary | None:
        """The summary of everything up to a message, or the one that was there where nothing better came of it.

        Raises ModelUnavailable, MalformedAnswer, unless there was none yet: then whoever needs nobody makes the first.
        """
        known = self.summaries.of(head.key)
        try:
            return self._kept(head, self._brought(known, head, last, self.summarizer, max_tokens or self.max_tokens))
        except (ModelUnavailable, MalformedAnswer) as failure:
            if known is not None:
                raise
            log.warning("a first summary is made without the model: %s", failure)
            return self._kept(head, self._brought(known, head, last, self.fallback, max_tokens or self.max_tokens))

    def at_once(self, head: SessionHead, last: int) -> str:
        """The same for those who cannot wait for a model; the summary's id, empty where there is nothing to say."""
        brought = self._brought(self.summaries.of(head.key), head, last, self.fallback, self.max_tokens)
        summary = self._kept(head, brought)
        return summary.id if summary else ""

    def soon(self, head: SessionHead, last: int) -> RollingSummary | None:
        """The same for those who cannot even wait for a commit: they have it now, the others in a moment."""
        known = self.summaries.of(head.key)
        summary = self._brought(known, head, last, self.fallback, self.max_tokens)
        if summary is not None and summary is not known:
            self.summaries.submit_save(head.key, head.row_id, summary)
        return summary

    def _brought(
        self, known: RollingSummary | None, head: SessionHead, last: int, by: Summarizer, limit: int
    ) -> RollingSummary | None:
        covered = known.last_sequence if known else 0
        if known is not None and last <= covered and known.tokens <= limit:
            return known
        text = known.text if known else ""
        for part in self._parts(head.key, covered, last):
            text = by.summarize(text, part, limit).strip() or text
        return _new(known, text, self.count(text), max(last, covered), by.origin) if text else known

    def _parts(self, key: SessionKey, after: int, last: int) -> Iterator[list[Utterance]]:
        """At least one: an old summary may be too long even where nothing was said since."""
        part: list[Utterance] = []
        size = 0
        for utterance in self._utterances(key, after, last):
            part.append(utterance)
            size += len(utterance.text)
            if size >= PART_CHARACTERS:
                yield part
                part, size = [], 0
        yield part

    def _utterances(self, key: SessionKey, after: int, last: int) -> Iterator[Utterance]:
        """Pruned messages, too: they left the window, not the memory."""
        while after < last:
            selection = MessageQuery(after, last + 1, limit=_AT_ONCE, include_pruned=True, max_bytes=PART_CHARACTERS)
            messages = self.journal.messages(key, selection).messages
            if not messages:
                return
            yield from (_utterance(one) for one in messages if one.role != Role.SYSTEM)
            after = messages[-1].sequence

    def _kept(self, head: SessionHead, summary: RollingSummary | None) -> RollingSummary | None:
        try:
            return self.summaries.keep(head.key, head.row_id, summary) if summary else None
        except NotFound:
            return None


def _new(known: RollingSummary | None, text: str, tokens: int, last: int, origin: str) -> RollingSummary:
    span = (known.first_sequence if known else 1, last)
    return new_summary(text, tokens, span, time.time_ns() // 1000, origin)


def _utterance(one: StoredMessage) -> Utterance:
    message = Message.FromString(one.body)
    return Utterance(message.id, one.role, message.name, strip_injected(message.content), one.time_us)


def boundary(messages: Sequence[StoredMessage], keep: int) -> int:
    """The last message to speak for: a turn's end, so that at least `keep` stay as they were said; 0 for none.

    Where one turn is longer than all that, the end of a whole exchange in it.
    """
    spoken = [one for one in messages if one.role != Role.SYSTEM]
    if len(spoken) <= keep:
        return 0
    first_calls = _first_calls_behind(spoken)
    whole = 0
    for at in range(len(spoken) - keep - 1, -1, -1):
        ends_a_turn = at + 1 == len(spoken) or spoken[at + 1].role == Role.USER
        if first_calls[at + 1] <= spoken[at].sequence:
            continue  # an exchange stands on both sides
        if ends_a_turn:
            return spoken[at].sequence
        whole = whole or spoken[at].sequence
    return whole


def _first_calls_behind(spoken: Sequence[StoredMessage]) -> list[int]:
    """For each place the earliest call that a message from there on belongs to."""
    calls = accumulate((one.exchange or _NEVER for one in reversed(spoken)), min, initial=_NEVER)
    return list(calls)[::-1]


@dataclass(frozen=True, slots=True)
class SummaryPolicy:
    """A summary is due after so many messages, or when what it does not speak for passes so many tokens."""

    every_messages: int = 12
    tail_tokens: int = 3_000
    keep_messages: int = 6

    def is_due(self, messages: Sequence[StoredMessage], known: bool) -> bool:
        """From the second on, what the one before left as it was said comes on top, and the turn that is under way."""
        return len(messages) >= self.enough(known) or sum(one.tokens for one in messages) > self.tail_tokens

    def enough(self, known: bool) -> int:
        return self.every_messages + (self.keep_messages + _A_TURN if known else 0)


@dataclass(frozen=True)
class SummarySchedule:
    summarize: SummaryUpdater
    rhythm: SummaryPolicy

    def __call__(self, head: SessionHead) -> RollingSummary | None:
        """The summary, brought up to date if that is due. Raises ModelUnavailable, MalformedAnswer."""
        known, last, _ = self._due(head)
        return self.summarize.up_to(head, last) if last else known

    def at_once(self, head: SessionHead) -> RollingSummary | None:
        """The same for a caller who waits: neither for a model, nor for a long history, nor for a commit.

        Between turns an agent waits for nothing else, and a summary that comes a turn late changes the beginning of
        two contexts instead of one.
        """
        known = self.summarize.summaries.of(head.key)
        ahead = head.last_sequence - (known.last_sequence if known else 0)
        # What is due by its tokens alone is left to the background: to know, it would have to be read at every call.
        if not self.rhythm.enough(bool(known)) <= ahead <= _MOST_AT_ONCE or self.summarize.asks_a_model:
            return known
        known, last, tokens = self._due(head)
        return self.summarize.soon(head, last) if last and tokens <= _MOST_TOKENS_AT_ONCE else known

    def _due(self, head: SessionHead) -> tuple[RollingSummary | None, int, int]:
        """What there is, up to which message to summarise now (0 for none), and the tokens it does not speak for."""
        known = self.summarize.summaries.of(head.key)
        covered = known.last_sequence if known else 0
        selection = MessageQuery(covered, limit=_MOST_LOOKED_AT, include_pruned=True, bodies=False)
        found = self.summarize.journal.messages(head.key, selection).messages
        messages = [one for one in found if one.role != Role.SYSTEM]
        last = boundary(messages, self.rhythm.keep_messages) if self.rhythm.is_due(messages, bool(known)) else 0
        return known, last, sum(one.tokens for one in messages)
