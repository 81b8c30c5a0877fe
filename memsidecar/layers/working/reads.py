"""Reads of a session: newest messages, by role, by page, the whole window."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from google.protobuf.struct_pb2 import Struct

from memsidecar.domain.message import Role, StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES, matches_metadata
from memsidecar.layers.ownership import check_owner
from memsidecar.layers.working.session_cache import FRAMES_PER_MESSAGE, SessionCache, SessionSnapshot, encode_frames
from memsidecar.stores.contract import LocatedMessage, MessagePage, MessageQuery, MessageReader, VersionConflict
from memsidecar.v1.message_pb2 import Message

_FILTERED_MESSAGES = 2_000
_NO_LIMIT = sys.maxsize
_NEAR_MESSAGES = 3
_NEAR_BYTES = 64 << 10
_MAX_TURN_MESSAGES = 48
"Messages before or after one in which the ends of its turn are looked for."
_MIN_READ_MESSAGES, _MAX_READ_MESSAGES = 32, 1_024  # most prunes remove a few messages, some remove nearly all


@dataclass(frozen=True, slots=True)
class MessageSlice:
    """Encoded messages, oldest first. `truncated`: fewer than requested, because of a limit on tokens or bytes."""

    frames: Sequence[bytes] = ()
    truncated: bool = False
    last_sequence: int = 0


@dataclass(frozen=True, slots=True)
class MessagePageRequest:
    """Up to `size` messages after the sequence `after`, only those with the `wanted` metadata if it is given."""

    after: int
    size: int
    include_pruned: bool = False
    wanted: Struct | None = None


@dataclass(frozen=True)
class WorkingMemoryReader:
    """Each read sees one version of the session. The `cached_` reads answer from RAM without blocking, or None."""

    journal: MessageReader
    session_cache: SessionCache

    def head(self, key: SessionKey, user_id: str) -> SessionHead | None:
        snapshot = self.session_cache.get(key)
        check_owner(snapshot.head if snapshot else None, user_id)
        return snapshot.head if snapshot else None

    def newest_user_message(self, head: SessionHead, tail: Sequence[StoredMessage]) -> StoredMessage | None:
        """Return the newest user message of the window; it is read only if `tail`, the newest messages, has none."""
        in_tail = newest_by_user(tail)
        if in_tail is not None or not head.counts[Role.USER - 1]:
            return in_tail
        query = MessageQuery(before=head.last_sequence + 1, role=Role.USER, limit=1, newest_first=True)
        return newest_by_user(require_unpruned(head, self.journal.messages(head.key, query)).messages)

    def cached_head(self, key: SessionKey, user_id: str) -> SessionHead | None:
        snapshot = self.session_cache.cached(key)
        if snapshot is not None:
            check_owner(snapshot.head, user_id)
            self.session_cache.statistics.hit()
            return snapshot.head
        return None

    def cached_recent(self, key: SessionKey, user_id: str, n: int, max_tokens: int) -> MessageSlice | None:
        snapshot = self.session_cache.cached(key)
        if snapshot is None or not snapshot.has_newest(n):
            return None
        check_owner(snapshot.head, user_id)
        self.session_cache.statistics.hit()
        return _newest_of(snapshot, n, max_tokens)

    def recent(self, key: SessionKey, user_id: str, n: int, max_tokens: int) -> MessageSlice:
        """Return the newest messages of a session, from the journal if RAM has too few."""
        snapshot = self.session_cache.get(key, n)
        if snapshot is not None and snapshot.has_newest(n):
            check_owner(snapshot.head, user_id)
            return _newest_of(snapshot, n, max_tokens)
        page = self.journal.messages(key, MessageQuery(limit=n, newest_first=True, max_bytes=MAX_RESPONSE_BYTES))
        check_owner(page.head, user_id)
        fitting = list(_within(page.messages, max_tokens))
        return MessageSlice(encode_frames(reversed(fitting)), page.truncated or len(fitting) < len(page.messages))

    def by_role(self, key: SessionKey, user_id: str, role: int, limit: int) -> MessageSlice:
        """Return the newest `limit` messages of the role; with 0, all that fit into one response."""
        query = MessageQuery(role=role, limit=limit or _NO_LIMIT, newest_first=True, max_bytes=MAX_RESPONSE_BYTES)
        page = self.journal.messages(key, query)
        check_owner(page.head, user_id)
        return MessageSlice(encode_frames(reversed(page.messages)), page.truncated)

    def page(self, key: SessionKey, user_id: str, request: MessagePageRequest) -> tuple[MessageSlice, bool]:
        """Return up to `size` messages after a sequence, and whether there are more.

        With a filter, a page may have fewer than `size` messages although there are more: a page reads a bounded number
        of messages, so that a filter without matches cannot occupy a thread.
        """
        limit = request.size if request.wanted is None else max(request.size, _FILTERED_MESSAGES)
        query = MessageQuery(
            request.after, limit=limit + 1, include_pruned=request.include_pruned, max_bytes=MAX_RESPONSE_BYTES
        )
        page = self.journal.messages(key, query)
        check_owner(page.head, user_id)
        matching, last = _matching(page.messages[:limit], request.size, request.wanted)
        more = page.truncated or bool(page.messages and last < page.messages[-1].sequence)
        return MessageSlice(encode_frames(matching), last_sequence=last), more

    def window(self, head: SessionHead, bodies: bool, allow_appends: bool = False) -> Iterator[StoredMessage]:
        """Yield the window of the session at `head`, oldest first, in short lazy reads.

        Raises VersionConflict if the session has changed since; with `allow_appends`, only if the window was pruned.
        """
        require = require_unpruned if allow_appends else require_version
        after, limit = 0, _MIN_READ_MESSAGES
        while True:
            query = MessageQuery(after, head.last_sequence + 1, limit=limit, bodies=bodies)
            page = require(head, self.journal.messages(head.key, query))
            yield from page.messages
            if len(page.messages) < limit and not page.truncated:
                return
            after, limit = page.messages[-1].sequence, min(2 * limit, _MAX_READ_MESSAGES)

    def surroundings(self, located: LocatedMessage) -> Sequence[StoredMessage]:
        """Return messages around one in order, itself included: a few before and after it.

        In a turn with tool calls, they also include the user message of the turn and its last answer.
        """
        key, at = located.key, located.message.sequence
        near = {message.sequence: message for message in self._near(key, at)}
        if any(message.exchange for message in near.values()):
            wide = MessageQuery(at - _MAX_TURN_MESSAGES, at + _MAX_TURN_MESSAGES, include_pruned=True, bodies=False)
            for sequence in _ends_of_turn(self.journal.messages(key, wide).messages, at) - near.keys():
                query = MessageQuery(sequence - 1, sequence + 1, include_pruned=True)
                near.update((message.sequence, message) for message in self.journal.messages(key, query).messages)
        return [near[sequence] for sequence in sorted(near)]

    def _near(self, key: SessionKey, at: int) -> Sequence[StoredMessage]:
        """Return a few messages before and after a sequence, in one read if all of them are small."""
        around = MessageQuery(
            at - 1 - _NEAR_MESSAGES, at + 1 + _NEAR_MESSAGES, include_pruned=True, max_bytes=_NEAR_BYTES
        )
        page = self.journal.messages(key, around)
        if not page.truncated:
            return page.messages
        # Each side from the message outwards: large messages must not displace nearer ones.
        before = self.journal.messages(key, replace(around, before=at, newest_first=True))
        after = self.journal.messages(key, replace(around, after=at - 1))
        return [*before.messages, *after.messages]


def _ends_of_turn(messages: Sequence[StoredMessage], at: int) -> set[int]:
    """Return the sequences of the user message before `at`, or at it, and of the last answer before the next one."""
    asked = [message.sequence for message in messages if message.role == Role.USER]
    begin = max((sequence for sequence in asked if sequence <= at), default=None)
    end = min((sequence for sequence in asked if sequence > at), default=sys.maxsize)
    answers = [each.sequence for each in messages if each.role == Role.ASSISTANT and at < each.sequence < end]
    return {sequence for sequence in (begin, max(answers, default=None)) if sequence is not None}


def newest_by_user(messages: Sequence[StoredMessage]) -> StoredMessage | None:
    return next((message for message in reversed(messages) if message.role == Role.USER), None)


def require_unpruned(head: SessionHead, page: MessagePage) -> MessagePage:
    """Return the page; raise VersionConflict if a message left the window since `head`, or returned to it."""
    if page.head is None or (page.head.row_id, page.head.pruned_count) != (head.row_id, head.pruned_count):
        raise VersionConflict("the window has changed")
    return page


def require_version(head: SessionHead, page: MessagePage) -> MessagePage:
    """Return the page; raise VersionConflict if it shows another version of the session than `head`."""
    if page.head is None or page.head.version != head.version:
        raise VersionConflict("the session has moved on")
    return page


def _newest_of(snapshot: SessionSnapshot, n: int, max_tokens: int) -> MessageSlice:
    start = max(0, snapshot.end - n)
    if max_tokens:
        fitting = sum(1 for _ in _within(reversed(snapshot.entries[start : snapshot.end]), max_tokens))
        return _bounded(snapshot.frames_from(snapshot.end - fitting), fitting < snapshot.end - start)
    return _bounded(snapshot.frames_from(start), False)


def _bounded(frames: list[bytes], truncated: bool) -> MessageSlice:
    """Drop the oldest messages until the rest fits into a response; the newest one always stays."""
    excess = sum(map(len, frames)) - MAX_RESPONSE_BYTES
    dropped = 0
    while excess > 0 and dropped < len(frames) - FRAMES_PER_MESSAGE:
        excess -= sum(map(len, frames[dropped : dropped + FRAMES_PER_MESSAGE]))
        dropped += FRAMES_PER_MESSAGE
    return MessageSlice(frames[dropped:], truncated or dropped > 0)


def _within(
    newest_first: Sequence[StoredMessage] | Iterator[StoredMessage], max_tokens: int
) -> Iterator[StoredMessage]:
    """Yield whole messages while they fit into `max_tokens`; with 0, all."""
    left = max_tokens
    for message in newest_first:
        left -= message.tokens
        if max_tokens and left < 0:
            return
        yield message


def _matching(messages: Sequence[StoredMessage], size: int, wanted: Struct | None) -> tuple[list[StoredMessage], int]:
    """Return the first `size` messages that match, and the last sequence that was examined."""
    matching: list[StoredMessage] = []
    last = 0
    for message in messages:
        last = message.sequence
        if wanted is None or matches_metadata(Message.FromString(message.body).metadata, wanted):
            matching.append(message)
            if len(matching) == size:
                break
    return matching, last
