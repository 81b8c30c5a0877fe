"""Recent, by role, paged, window."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.struct_pb2 import Struct

from memsidecar.domain.message import Stored
from memsidecar.domain.session import Head, SessionKey
from memsidecar.layers.field_checks import matches
from memsidecar.layers.ownership import check_owner
from memsidecar.layers.working.session_cache import PIECES, View, Views, framed
from memsidecar.stores.contract import Journal, Page, Selection, Stale
from memsidecar.v1.message_pb2 import Message

ANSWER_BYTES = 3 << 20
"""No answer exceeds gRPC's default of 4 MiB; this leaves room for what stands around the messages."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Messages, framed, oldest first. `truncated`: fewer than asked for, because of a limit on tokens or bytes."""

    pieces: Sequence[bytes] = ()
    truncated: bool = False
    last_sequence: int = 0


@dataclass(frozen=True, slots=True)
class PageTurn:
    """Which page of a session: up to `size` messages after a sequence that match the tags, if any are wanted."""

    after: int
    size: int
    include_pruned: bool = False
    wanted: Struct | None = None


@dataclass(frozen=True)
class Reading:
    """Each read is of one moment. The `hot_` ones answer from RAM without waiting, or say None."""

    journal: Journal
    views: Views

    def head(self, key: SessionKey, user_id: str) -> Head | None:
        view = self.views.get(key)
        check_owner(view.head if view else None, user_id)
        return view.head if view else None

    def hot_head(self, key: SessionKey, user_id: str) -> Head | None:
        view = self.views.hot(key)
        if view is not None:
            check_owner(view.head, user_id)
            return view.head
        return None

    def hot_recent(self, key: SessionKey, user_id: str, n: int, max_tokens: int) -> Slice | None:
        view = self.views.hot(key)
        if view is None or (n > view.end and not view.complete):
            return None
        check_owner(view.head, user_id)
        return _newest_of(view, n, max_tokens)

    def recent(self, key: SessionKey, user_id: str, n: int, max_tokens: int) -> Slice:
        page = self.journal.messages(key, Selection(limit=n, newest_first=True, max_bytes=ANSWER_BYTES))
        check_owner(page.head, user_id)
        kept = list(_within(page.messages, max_tokens))
        return Slice(framed(reversed(kept)), page.cut or len(kept) < len(page.messages))

    def by_role(self, key: SessionKey, user_id: str, role: int, limit: int) -> Slice:
        """The newest `limit` messages of the role; 0: all that fit into one answer."""
        selection = Selection(role=role, limit=limit or _NO_LIMIT, newest_first=True, max_bytes=ANSWER_BYTES)
        page = self.journal.messages(key, selection)
        check_owner(page.head, user_id)
        return Slice(framed(reversed(page.messages)), page.cut)

    def page(self, key: SessionKey, user_id: str, turn: PageTurn) -> tuple[Slice, bool]:
        """Up to `size` messages after a sequence, and whether there are more.

        With a filter, a page may be short of `size` although there are more: a page looks at a bounded number of
        messages, so that a filter that nothing matches cannot hold a thread.
        """
        limit = turn.size if turn.wanted is None else max(turn.size, _FILTERED_AT_ONCE)
        selection = Selection(turn.after, limit=limit + 1, include_pruned=turn.include_pruned, max_bytes=ANSWER_BYTES)
        page = self.journal.messages(key, selection)
        check_owner(page.head, user_id)
        kept, last = _matching(page.messages[:limit], turn.size, turn.wanted)
        more = page.cut or bool(page.messages and last < page.messages[-1].sequence)
        return Slice(framed(kept), last_sequence=last), more

    def window(self, head: Head, bodies: bool, while_growing: bool = False) -> Iterator[Stored]:
        """The window of the session as it stands at `head`, oldest first, in short reads and only as far as asked.

        Raises Stale when the session has moved on in between; `while_growing` takes no offence at mere additions.
        """
        same = same_past if while_growing else same_moment
        after, step = 0, _FIRST_STEP
        while True:
            selection = Selection(after, head.last_sequence + 1, limit=step, bodies=bodies)
            page = same(head, self.journal.messages(head.key, selection))
            yield from page.messages
            if len(page.messages) < step and not page.cut:
                return
            after, step = page.messages[-1].sequence, min(2 * step, _LONGEST_STEP)


def same_past(head: Head, page: Page) -> Page:
    """The page, if nothing left the window since `head`, or came back to it; else Stale."""
    if page.head is None or (page.head.number, page.head.pruned_count) != (head.number, head.pruned_count):
        raise Stale("the window has changed")
    return page


def same_moment(head: Head, page: Page) -> Page:
    """The page, if it shows the session as it stands at `head`; else Stale."""
    if page.head is None or page.head.version != head.version:
        raise Stale("the session has moved on")
    return page


_FILTERED_AT_ONCE = 2_000
_NO_LIMIT = 1 << 31
_FIRST_STEP, _LONGEST_STEP = 32, 1_024  # most prunes remove a few messages, some remove nearly all


def _newest_of(view: View, n: int, max_tokens: int) -> Slice:
    start = max(0, view.end - n)
    if max_tokens:
        kept = sum(1 for _ in _within(reversed(view.entries[start : view.end]), max_tokens))
        return _bounded(view.framed(view.end - kept), kept < view.end - start)
    return _bounded(view.framed(start), False)


def _bounded(pieces: list[bytes], truncated: bool) -> Slice:
    """Without the oldest messages where they are too large together; the newest stays in any case."""
    excess = sum(map(len, pieces)) - ANSWER_BYTES
    dropped = 0
    while excess > 0 and dropped < len(pieces) - PIECES:
        excess -= sum(map(len, pieces[dropped : dropped + PIECES]))
        dropped += PIECES
    return Slice(pieces[dropped:], truncated or dropped > 0)


def _within(newest_first: Sequence[Stored] | Iterator[Stored], max_tokens: int) -> Iterator[Stored]:
    """Whole messages, newest first, while they fit; 0: all."""
    left = max_tokens
    for one in newest_first:
        left -= one.tokens
        if max_tokens and left < 0:
            return
        yield one


def _matching(messages: Sequence[Stored], size: int, wanted: Struct | None) -> tuple[list[Stored], int]:
    """The first `size` messages that match, and the last sequence that was looked at."""
    kept: list[Stored] = []
    last = 0
    for one in messages:
        last = one.sequence
        if wanted is None or matches(Message.FromString(one.body).metadata, wanted):
            kept.append(one)
            if len(kept) == size:
                break
    return kept, last
