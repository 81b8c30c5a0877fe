"""Recent, by role, paged, window."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.struct_pb2 import Struct

from memsidecar.domain.message import StoredMessage
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.field_checks import matches_metadata
from memsidecar.layers.ownership import check_owner
from memsidecar.layers.working.session_cache import FRAMES_PER_MESSAGE, SessionCache, SessionSnapshot, encode_frames
from memsidecar.stores.contract import Journal, MessagePage, MessageQuery, VersionConflict
from memsidecar.v1.message_pb2 import Message

MAX_RESPONSE_BYTES = 3 << 20
"""No answer exceeds gRPC's default of 4 MiB; this leaves room for what stands around the messages."""


@dataclass(frozen=True, slots=True)
class MessageSlice:
    """Messages, framed, oldest first. `truncated`: fewer than asked for, because of a limit on tokens or bytes."""

    frames: Sequence[bytes] = ()
    truncated: bool = False
    last_sequence: int = 0


@dataclass(frozen=True, slots=True)
class MessagePageRequest:
    """Which page of a session: up to `size` messages after a sequence that match the tags, if any are wanted."""

    after: int
    size: int
    include_pruned: bool = False
    wanted: Struct | None = None


@dataclass(frozen=True)
class SessionReader:
    """Each read is of one moment. The `hot_` ones answer from RAM without waiting, or say None."""

    journal: Journal
    session_cache: SessionCache

    def head(self, key: SessionKey, user_id: str) -> SessionHead | None:
        view = self.session_cache.get(key)
        check_owner(view.head if view else None, user_id)
        return view.head if view else None

    def cached_head(self, key: SessionKey, user_id: str) -> SessionHead | None:
        view = self.session_cache.cached(key)
        if view is not None:
            check_owner(view.head, user_id)
            return view.head
        return None

    def cached_recent(self, key: SessionKey, user_id: str, n: int, max_tokens: int) -> MessageSlice | None:
        view = self.session_cache.cached(key)
        if view is None or (n > view.end and not view.complete):
            return None
        check_owner(view.head, user_id)
        return _newest_of(view, n, max_tokens)

    def recent(self, key: SessionKey, user_id: str, n: int, max_tokens: int) -> MessageSlice:
        page = self.journal.messages(key, MessageQuery(limit=n, newest_first=True, max_bytes=MAX_RESPONSE_BYTES))
        check_owner(page.head, user_id)
        kept = list(_within(page.messages, max_tokens))
        return MessageSlice(encode_frames(reversed(kept)), page.truncated or len(kept) < len(page.messages))

    def by_role(self, key: SessionKey, user_id: str, role: int, limit: int) -> MessageSlice:
        """The newest `limit` messages of the role; 0: all that fit into one answer."""
        selection = MessageQuery(role=role, limit=limit or _NO_LIMIT, newest_first=True, max_bytes=MAX_RESPONSE_BYTES)
        page = self.journal.messages(key, selection)
        check_owner(page.head, user_id)
        return MessageSlice(encode_frames(reversed(page.messages)), page.truncated)

    def page(self, key: SessionKey, user_id: str, turn: MessagePageRequest) -> tuple[MessageSlice, bool]:
        """Up to `size` messages after a sequence, and whether there are more.

        With a filter, a page may be short of `size` although there are more: a page looks at a bounded number of
        messages, so that a filter that nothing matches cannot hold a thread.
        """
        limit = turn.size if turn.wanted is None else max(turn.size, _FILTERED_AT_ONCE)
        selection = MessageQuery(
            turn.after, limit=limit + 1, include_pruned=turn.include_pruned, max_bytes=MAX_RESPONSE_BYTES
        )
        page = self.journal.messages(key, selection)
        check_owner(page.head, user_id)
        kept, last = _matching(page.messages[:limit], turn.size, turn.wanted)
        more = page.truncated or bool(page.messages and last < page.messages[-1].sequence)
        return MessageSlice(encode_frames(kept), last_sequence=last), more

    def window(self, head: SessionHead, bodies: bool, while_growing: bool = False) -> Iterator[StoredMessage]:
        """The window of the session as it stands at `head`, oldest first, in short reads and only as far as asked.

        Raises Stale when the session has moved on in between; `while_growing` takes no offence at mere additions.
        """
        same = require_unpruned if while_growing else require_version
        after, step = 0, _FIRST_STEP
        while True:
            selection = MessageQuery(after, head.last_sequence + 1, limit=step, bodies=bodies)
            page = same(head, self.journal.messages(head.key, selection))
            yield from page.messages
            if len(page.messages) < step and not page.truncated:
                return
            after, step = page.messages[-1].sequence, min(2 * step, _LONGEST_STEP)


def require_unpruned(head: SessionHead, page: MessagePage) -> MessagePage:
    """The page, if nothing left the window since `head`, or came back to it; else Stale."""
    if page.head is None or (page.head.row_id, page.head.pruned_count) != (head.row_id, head.pruned_count):
        raise VersionConflict("the window has changed")
    return page


def require_version(head: SessionHead, page: MessagePage) -> MessagePage:
    """The page, if it shows the session as it stands at `head`; else Stale."""
    if page.head is None or page.head.version != head.version:
        raise VersionConflict("the session has moved on")
    return page


_FILTERED_AT_ONCE = 2_000
_NO_LIMIT = 1 << 31
_FIRST_STEP, _LONGEST_STEP = 32, 1_024  # most prunes remove a few messages, some remove nearly all


def _newest_of(view: SessionSnapshot, n: int, max_tokens: int) -> MessageSlice:
    start = max(0, view.end - n)
    if max_tokens:
        kept = sum(1 for _ in _within(reversed(view.entries[start : view.end]), max_tokens))
        return _bounded(view.frames_from(view.end - kept), kept < view.end - start)
    return _bounded(view.frames_from(start), False)


def _bounded(pieces: list[bytes], truncated: bool) -> MessageSlice:
    """Without the oldest messages where they are too large together; the newest stays in any case."""
    excess = sum(map(len, pieces)) - MAX_RESPONSE_BYTES
    dropped = 0
    while excess > 0 and dropped < len(pieces) - FRAMES_PER_MESSAGE:
        excess -= sum(map(len, pieces[dropped : dropped + FRAMES_PER_MESSAGE]))
        dropped += FRAMES_PER_MESSAGE
    return MessageSlice(pieces[dropped:], truncated or dropped > 0)


def _within(
    newest_first: Sequence[StoredMessage] | Iterator[StoredMessage], max_tokens: int
) -> Iterator[StoredMessage]:
    """Whole messages, newest first, while they fit; 0: all."""
    left = max_tokens
    for one in newest_first:
        left -= one.tokens
        if max_tokens and left < 0:
            return
        yield one


def _matching(messages: Sequence[StoredMessage], size: int, wanted: Struct | None) -> tuple[list[StoredMessage], int]:
    """The first `size` messages that match, and the last sequence that was looked at."""
    kept: list[StoredMessage] = []
    last = 0
    for one in messages:
        last = one.sequence
        if wanted is None or matches_metadata(Message.FromString(one.body).metadata, wanted):
            kept.append(one)
            if len(kept) == size:
                break
    return kept, last
