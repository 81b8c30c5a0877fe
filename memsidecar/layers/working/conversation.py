"""Conversation reader: the newest whole turns of a session for a context."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from memsidecar.domain.errors import Overloaded
from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.layers.ownership import check_owner
from memsidecar.layers.working.reads import WorkingMemoryReader, require_unpruned
from memsidecar.stores.contract import MessageQuery, VersionConflict

MAX_ATTEMPTS = 20
_READ_MESSAGES = 256
_MAX_TURN_MESSAGES = 1_024
"How far back the beginning of an oversized turn is looked for."
_NO_EXCHANGE = sys.maxsize


@dataclass(frozen=True, slots=True)
class Conversation:
    """Newest messages of the window, oldest first; all system messages apart. `head` is None without a session.

    `question` is the newest user message of the window. It can be older than `messages` if many tool calls follow it.
    """

    head: SessionHead | None = None
    messages: Sequence[StoredMessage] = ()
    system: Sequence[StoredMessage] = ()
    question: StoredMessage | None = None


@dataclass(frozen=True, slots=True)
class ConversationLimits:
    """How far a conversation is read: at least `turns` turns or `tokens` tokens of the default tokenizer.

    A window that was not pruned is read whole if it has at most `whole_turns` turns and `whole_tokens` tokens.
    """

    turns: int
    tokens: int
    whole_turns: int = 0
    whole_tokens: int = 0

    def allow_whole(self, head: SessionHead) -> bool:
        is_short = head.counts[Role.USER - 1] <= self.whole_turns and head.spoken_tokens <= self.whole_tokens
        return is_short and self.whole_turns > 0 and not head.pruned_count


@dataclass(frozen=True)
class ConversationReader:
    reader: WorkingMemoryReader

    def __call__(self, key: SessionKey, user_id: str, limits: ConversationLimits) -> Conversation:
        for _ in range(MAX_ATTEMPTS):
            try:
                return self._read(key, user_id, limits)
            except VersionConflict:
                continue
        raise Overloaded("the session is pruned faster than it can be read")

    def _read(self, key: SessionKey, user_id: str, limits: ConversationLimits) -> Conversation:
        snapshot = self.reader.session_cache.get(key)
        if snapshot is None:
            return Conversation()
        head = snapshot.head
        check_owner(head, user_id)
        turns = sys.maxsize if limits.allow_whole(head) else limits.turns
        tail, complete = snapshot.messages(), snapshot.complete
        messages: Sequence[StoredMessage] = ()
        read_bytes = sum(len(message.body) for message in tail)
        while True:
            if turns == sys.maxsize and not complete and read_bytes <= MAX_RESPONSE_BYTES:
                enough = False  # the turns of a window that is read whole are looked for once
            else:
                messages, enough = _newest_turns(tail, turns, limits.tokens)
            if enough or complete:
                break
            older = self._read_before(head, tail[0].sequence if tail else None)
            complete = not older
            tail = [*older, *tail]
            read_bytes += sum(len(message.body) for message in older)
        return Conversation(
            head, messages, self._system(head, tail, complete), self.reader.newest_user_message(head, tail)
        )

    def _read_before(self, head: SessionHead, sequence: int | None) -> Sequence[StoredMessage]:
        query = MessageQuery(before=sequence or head.last_sequence + 1, limit=_READ_MESSAGES, newest_first=True)
        return require_unpruned(head, self.reader.journal.messages(head.key, query)).messages[::-1]

    def _system(self, head: SessionHead, tail: Sequence[StoredMessage], complete: bool) -> Sequence[StoredMessage]:
        in_tail = [message for message in tail if message.role == Role.SYSTEM]
        count = head.counts[Role.SYSTEM - 1]
        if complete or len(in_tail) == count:
            return in_tail
        page = self.reader.journal.messages(head.key, MessageQuery(role=Role.SYSTEM, limit=count))
        return require_unpruned(head, page).messages


def _newest_turns(tail: Sequence[StoredMessage], turns: int, tokens: int) -> tuple[Sequence[StoredMessage], bool]:
    """Return the newest messages from the start of a turn on, and whether they are enough.

    A response holds no more than MAX_RESPONSE_BYTES, so nothing beyond is read. A turn that is too long by itself is
    split where no exchange is; of its beginning, what the user said is returned.
    """
    tokens_used = bytes_used = turns_seen = 0
    earliest_exchange = _NO_EXCHANGE
    for at in range(len(tail) - 1, -1, -1):
        message = tail[at]
        if message.role == Role.SYSTEM:
            continue
        tokens_used += message.tokens
        bytes_used += len(message.body)
        turns_seen += message.role == Role.USER
        earliest_exchange = min(earliest_exchange, message.exchange or _NO_EXCHANGE)
        over_budget = tokens_used > tokens or bytes_used > MAX_RESPONSE_BYTES
        splits_no_exchange = earliest_exchange >= message.sequence
        ends_enough_turns = message.role == Role.USER and (turns_seen >= turns or over_budget)
        ends_oversized_turn = tokens_used > 2 * tokens
        if splits_no_exchange and ends_enough_turns:
            return _without_system(tail[at:]), True
        if splits_no_exchange and ends_oversized_turn:
            return _with_beginning(tail, at)
    return _without_system(tail), False


def _with_beginning(tail: Sequence[StoredMessage], split: int) -> tuple[Sequence[StoredMessage], bool]:
    """Return the messages from `split` on and the user message before it, which begins their turn."""
    farthest = max(0, split - _MAX_TURN_MESSAGES)
    spoken = next((at for at in range(split - 1, farthest - 1, -1) if tail[at].role == Role.USER), None)
    begin = [] if spoken is None else [tail[spoken]]
    return _without_system([*begin, *tail[split:]]), spoken is not None or farthest > 0


def _without_system(messages: Sequence[StoredMessage]) -> list[StoredMessage]:
    return [message for message in messages if message.role != Role.SYSTEM]
