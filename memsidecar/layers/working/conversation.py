"""Newest whole turns for a context."""

from collections.abc import Sequence
from dataclasses import dataclass

from memsidecar.domain.errors import Overloaded
from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.ownership import check_owner
from memsidecar.layers.working.reads import SessionReader, require_unpruned
from memsidecar.stores.contract import MessageQuery, VersionConflict

TRIES = 20
MOST_BYTES = 3 << 20
"An answer holds no more, so nothing beyond is read; the last messages are, whatever their size."
_STEP = 256


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages of the window, oldest first; the system messages apart, all of them. No head: no such session.

    `question` is the newest message of a user, also where it is not among those: behind it may be a long run of tools.
    """

    head: SessionHead | None = None
    messages: Sequence[StoredMessage] = ()
    system: Sequence[StoredMessage] = ()
    question: StoredMessage | None = None


@dataclass(frozen=True)
class ConversationReader:
    reading: SessionReader

    def __call__(self, key: SessionKey, user_id: str, turns: int, tokens: int) -> Conversation:
        """At least so many turns or so many tokens by the default tokenizer, or all there is."""
        for _ in range(TRIES):
            try:
                return self._read(key, user_id, turns, tokens)
            except VersionConflict:
                continue
        raise Overloaded("the session is pruned faster than it can be read")

    def _read(self, key: SessionKey, user_id: str, turns: int, tokens: int) -> Conversation:
        view = self.reading.session_cache.get(key)
        if view is None:
            return Conversation()
        check_owner(view.head, user_id)
        tail, complete = view.messages(), view.complete
        spoken, enough = _newest(tail, turns, tokens)
        while not enough and not complete:
            older = self._before(view.head, tail[0].sequence if tail else None)
            complete = not older
            tail = [*older, *tail]
            spoken, enough = _newest(tail, turns, tokens)
        system, question = self._system(view.head, tail, complete), self._question(view.head, tail)
        return Conversation(view.head, spoken, system, question)

    def _before(self, head: SessionHead, sequence: int | None) -> Sequence[StoredMessage]:
        selection = MessageQuery(before=sequence or head.last_sequence + 1, limit=_STEP, newest_first=True)
        return require_unpruned(head, self.reading.journal.messages(head.key, selection)).messages[::-1]

    def _system(self, head: SessionHead, tail: Sequence[StoredMessage], complete: bool) -> Sequence[StoredMessage]:
        there = [one for one in tail if one.role == Role.SYSTEM]
        if complete or len(there) == head.counts[Role.SYSTEM - 1]:
            return there
        page = self.reading.journal.messages(head.key, MessageQuery(role=Role.SYSTEM, limit=1 << 31))
        return require_unpruned(head, page).messages

    def _question(self, head: SessionHead, tail: Sequence[StoredMessage]) -> StoredMessage | None:
        for one in reversed(tail):
            if one.role == Role.USER:
                return one
        if not head.counts[Role.USER - 1]:
            return None
        selection = MessageQuery(before=head.last_sequence + 1, role=Role.USER, limit=1, newest_first=True)
        return next(iter(require_unpruned(head, self.reading.journal.messages(head.key, selection)).messages), None)


def _newest(tail: Sequence[StoredMessage], turns: int, tokens: int) -> tuple[Sequence[StoredMessage], bool]:
    """From the newest back to the beginning of a turn, and whether that is enough: else more must be read.

    Of a turn that is too long by itself, back to where no exchange is split.
    """
    size, left, seen, first_call = 0, tokens, 0, 1 << 62
    for at in range(len(tail) - 1, -1, -1):
        one = tail[at]
        if one.role == Role.SYSTEM:
            continue
        left, size = left - one.tokens, size + len(one.body)
        first_call = min(first_call, one.exchange or first_call)
        seen += one.role == Role.USER
        too_much = left < 0 or size > MOST_BYTES
        whole = first_call >= one.sequence
        if whole and ((one.role == Role.USER and (seen >= turns or too_much)) or (too_much and left < -tokens)):
            return _without_system(tail[at:]), True
    return _without_system(tail), False


def _without_system(messages: Sequence[StoredMessage]) -> list[StoredMessage]:
    return [one for one in messages if one.role != Role.SYSTEM]
