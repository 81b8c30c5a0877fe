"""Hot session tails as wire bytes."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.message import StoredMessage, varint
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.stores.contract import CommitEvent, Journal, MessageQuery

TAIL_BYTES = 1 << 20
_ENTRY_BYTES = 280  # what a message costs in RAM besides its bytes: a tuple, numbers, two bytes objects, three places
_VIEW_BYTES = 1_000
_FIELD_1 = b"\x0a"
FRAMES_PER_MESSAGE = 2


def encode_frames(messages: Iterable[StoredMessage]) -> list[bytes]:
    """Messages as elements of field 1, where every answer has them: such an answer is these pieces, joined.

    Two for each message, and the second is its body itself: a copy would take as much RAM again.
    """
    return [piece for one in messages for piece in (_FIELD_1 + varint(len(one.body)), one.body)]


@dataclass(slots=True)
class SessionSnapshot:
    """`entries` and `pieces` are shared with later views, which only append: `end` is where this moment ends."""

    head: SessionHead
    entries: list[StoredMessage]
    frames: list[bytes]
    end: int
    size_bytes: int
    used: bool = False

    @property
    def complete(self) -> bool:
        """Whether this is the whole window."""
        return self.end == self.head.message_count

    def messages(self) -> list[StoredMessage]:
        return self.entries[: self.end]

    def frames_from(self, start: int) -> list[bytes]:
        """The messages from this place on, as they go over the wire."""
        return self.frames[FRAMES_PER_MESSAGE * start : FRAMES_PER_MESSAGE * self.end]


def snapshot_of(head: SessionHead, messages: Sequence[StoredMessage]) -> SessionSnapshot:
    size = _VIEW_BYTES + sum(_size(one) for one in messages)
    return SessionSnapshot(head, list(messages), encode_frames(messages), len(messages), size)


def _size(one: StoredMessage) -> int:
    """What a message holds in RAM: its body, and the objects around it."""
    return len(one.body) + _ENTRY_BYTES


class SessionCache:
    """Bounded in bytes; a view that was not used since its last turn goes first. Thread-safe."""

    def __init__(self, journal: Journal, max_bytes: int, tail_messages: int) -> None:
        self._journal = journal
        self._max_bytes = max_bytes
        self._tail_messages = tail_messages
        self._lock = threading.Lock()
        self._views: dict[SessionKey, SessionSnapshot] = {}
        self._loading: dict[SessionKey, object] = {}
        self._size_bytes = 0
        journal.subscribe(self._committed)

    def cached(self, key: SessionKey) -> SessionSnapshot | None:
        """The session's view if it is in RAM; never waits."""
        view = self._views.get(key)
        if view is not None:
            view.used = True
        return view

    def get(self, key: SessionKey) -> SessionSnapshot | None:
        """The session's view, read from the journal if need be; None when there is no such session."""
        return self.cached(key) or self._load(key)

    def _load(self, key: SessionKey) -> SessionSnapshot | None:
        """Read the tail, and keep it unless a commit came in between: that would have been missed."""
        token = object()
        with self._lock:
            self._loading[key] = token
        try:
            page = self._journal.messages(
                key, MessageQuery(limit=self._tail_messages, newest_first=True, max_bytes=TAIL_BYTES)
            )
        except SidecarError:
            self._loading.pop(key, None)
            raise
        view = None if page.head is None else snapshot_of(page.head, page.messages[::-1])
        with self._lock:
            if self._loading.get(key) is token:
                del self._loading[key]
                self._keep(key, view)
        return view

    def _keep(self, key: SessionKey, view: SessionSnapshot | None) -> None:
        if view is not None:
            self._put(key, view)
            self._make_room()

    # -- on the journal's thread

    def _committed(self, changes: Sequence[CommitEvent]) -> None:
        with self._lock:
            for change in changes:
                self._loading.pop(change.key, None)
                self._apply(change)
            self._make_room()

    def _apply(self, change: CommitEvent) -> None:
        head, view = change.head, self._views.get(change.key)
        if head is None or change.reload:
            self._drop(change.key)
        elif view is not None:
            self._put(change.key, self._next(view, head, change))
        elif head.message_count == len(change.appended):
            self._put(change.key, snapshot_of(head, change.appended))

    def _next(self, view: SessionSnapshot, head: SessionHead, change: CommitEvent) -> SessionSnapshot:
        if change.removed or change.replaced:
            return _revised(view, head, change)
        if view.end + len(change.appended) > 2 * self._tail_messages or view.size_bytes > 2 * TAIL_BYTES:
            view = _shortened(view, self._tail_messages)
        return _extended(view, head, change.appended)

    def _put(self, key: SessionKey, view: SessionSnapshot) -> None:
        self._drop(key)
        self._views[key] = view
        self._size_bytes += view.size_bytes

    def _drop(self, key: SessionKey) -> None:
        view = self._views.pop(key, None)
        if view is not None:
            self._size_bytes -= view.size_bytes

    def _make_room(self) -> None:
        while self._size_bytes > self._max_bytes and self._views:
            key, view = next(iter(self._views.items()))
            self._drop(key)
            if view.used:
                view.used = False
                self._put(key, view)


def _extended(view: SessionSnapshot, head: SessionHead, appended: Sequence[StoredMessage]) -> SessionSnapshot:
    view.entries.extend(appended)
    view.frames.extend(encode_frames(appended))
    size = view.size_bytes + sum(map(_size, appended))
    return SessionSnapshot(head, view.entries, view.frames, view.end + len(appended), size, view.used)


def _shortened(view: SessionSnapshot, tail_messages: int) -> SessionSnapshot:
    """The newest messages alone: as many as a tail holds, and not much more than its bytes."""
    kept: list[StoredMessage] = []
    size = 0
    for one in reversed(view.entries[max(0, view.end - tail_messages) : view.end]):
        size += len(one.body)
        if size > TAIL_BYTES and kept:
            break
        kept.append(one)
    return snapshot_of(view.head, kept[::-1])


def _revised(view: SessionSnapshot, head: SessionHead, change: CommitEvent) -> SessionSnapshot:
    removed = set(change.removed)
    replaced = {one.sequence: one for one in change.replaced}
    return snapshot_of(
        head, [replaced.get(one.sequence, one) for one in view.messages() if one.sequence not in removed]
    )
