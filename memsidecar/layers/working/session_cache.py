"""Session cache: the newest messages of active sessions in RAM, encoded for the wire."""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.message import StoredMessage, varint
from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.domain.statistics import CacheStatistics
from memsidecar.stores.contract import CommitEvent, Journal, MessageQuery

TAIL_BYTES = 1 << 20
FRAMES_PER_MESSAGE = 2
_ENTRY_BYTES = 280  # RAM of a message besides its body: a tuple, numbers, two bytes objects, three list slots
_SNAPSHOT_BYTES = 1_000
_FIELD_1 = b"\x0a"


def encode_frames(messages: Iterable[StoredMessage]) -> list[bytes]:
    """Encode messages as elements of field 1, which is their field in every response: a response is the joined frames.

    Each message has two frames: a header and its body. The body is not copied, which would double the RAM.
    """
    return [frame for message in messages for frame in (_FIELD_1 + varint(len(message.body)), message.body)]


@dataclass(slots=True)
class SessionSnapshot:
    """Newest messages of a session at one version.

    `entries` and `frames` are shared with later snapshots, which only append: this snapshot ends at entry `end`.
    `used` is the reference bit of the cache.
    """

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

    def has_newest(self, n: int) -> bool:
        """Whether the snapshot has the newest `n` messages of the window, or all of it."""
        return n <= self.end or self.complete

    def messages(self) -> list[StoredMessage]:
        return self.entries[: self.end]

    def frames_from(self, start: int) -> list[bytes]:
        """Return the encoded messages from entry `start` on."""
        return self.frames[FRAMES_PER_MESSAGE * start : FRAMES_PER_MESSAGE * self.end]


def snapshot_of(head: SessionHead, messages: Sequence[StoredMessage]) -> SessionSnapshot:
    size = _SNAPSHOT_BYTES + sum(map(_size, messages))
    return SessionSnapshot(head, list(messages), encode_frames(messages), len(messages), size)


def _size(message: StoredMessage) -> int:
    return len(message.body) + _ENTRY_BYTES


class SessionCache:
    """Cache of session snapshots, bounded in bytes, evicted by second chance. Commits update it. Thread-safe.

    Other processes may write to a shared journal: there a snapshot is confirmed by the journal before it is returned.
    """

    def __init__(self, journal: Journal, max_bytes: int, tail_messages: int) -> None:
        self._journal = journal
        self._max_bytes = max_bytes
        self._tail_messages = tail_messages
        self._lock = threading.Lock()
        self._snapshots: dict[SessionKey, SessionSnapshot] = {}
        self._loading: dict[SessionKey, object] = {}
        self._size_bytes = 0
        self.statistics = CacheStatistics()
        journal.subscribe(self._committed)

    @property
    def size_bytes(self) -> int:
        return self._size_bytes

    @property
    def max_bytes(self) -> int:
        return self._max_bytes

    def cached(self, key: SessionKey) -> SessionSnapshot | None:
        """Return the snapshot of the session if it is in RAM and known to be current. Never blocks.

        The caller counts a hit if it suffices.
        """
        return None if self._journal.is_shared else self._find(key)

    def cached_at(self, head: SessionHead) -> SessionSnapshot | None:
        """Return the snapshot of the session at the version of `head` if it is in RAM. Never blocks."""
        snapshot = self._find(head.key)
        return snapshot if snapshot is not None and snapshot.head.version == head.version else None

    def get(self, key: SessionKey, n: int = 0) -> SessionSnapshot | None:
        """Return the snapshot of the session, read from the journal if needed; None if there is no such session.

        The snapshot may have less than the newest `n` messages, which counts as a miss.
        """
        snapshot = self._find(key)
        if snapshot is None or self._journal.is_shared:
            return self._load(key, snapshot, n)
        self._count(snapshot, n)
        return snapshot

    def _find(self, key: SessionKey) -> SessionSnapshot | None:
        snapshot = self._snapshots.get(key)
        if snapshot is not None:
            snapshot.used = True
        return snapshot

    def _load(self, key: SessionKey, known: SessionSnapshot | None, n: int) -> SessionSnapshot | None:
        """Read the tail, unless the known snapshot is current.

        Cache the tail only if no commit came during the read: the snapshot would miss that commit.
        """
        token = object()
        with self._lock:
            self._loading[key] = token
        query = MessageQuery(
            limit=self._tail_messages,
            newest_first=True,
            max_bytes=TAIL_BYTES,
            unless_version=known.head.version if known else None,
        )
        try:
            page = self._journal.messages(key, query)
        except SidecarError:
            self._loading.pop(key, None)
            raise
        if known is not None and page.head is not None and page.head.version == known.head.version:
            snapshot: SessionSnapshot | None = replace(known, head=page.head)
            self._count(known, n)
        else:
            snapshot = None if page.head is None else snapshot_of(page.head, page.messages[::-1])
            self.statistics.miss()
        with self._lock:
            if self._loading.get(key) is token:
                del self._loading[key]
                self._remove(key)
                if snapshot is not None:
                    self._put(key, snapshot)
                    self._evict()
        return snapshot

    def _count(self, snapshot: SessionSnapshot, n: int) -> None:
        if snapshot.has_newest(n):
            self.statistics.hit()
        else:
            self.statistics.miss()

    # Called by the committer.

    def _committed(self, changes: Sequence[CommitEvent]) -> None:
        with self._lock:
            for change in changes:
                self._loading.pop(change.key, None)
                self._apply(change)
            self._evict()

    def _apply(self, change: CommitEvent) -> None:
        head, snapshot = change.head, self._snapshots.get(change.key)
        if snapshot is not None and change.previous_version not in (None, snapshot.head.version):
            self._remove(change.key)  # another process has changed the session since
            snapshot = None
        if head is None or change.reload:
            self._remove(change.key)
        elif snapshot is not None:
            self._put(change.key, self._next(snapshot, head, change))
        elif head.message_count == len(change.appended):
            self._put(change.key, snapshot_of(head, change.appended))

    def _next(self, snapshot: SessionSnapshot, head: SessionHead, change: CommitEvent) -> SessionSnapshot:
        if change.removed or change.replaced:
            return _updated(snapshot, head, change)
        if snapshot.end + len(change.appended) > 2 * self._tail_messages or snapshot.size_bytes > 2 * TAIL_BYTES:
            snapshot = _trimmed(snapshot, self._tail_messages)
        return _extended(snapshot, head, change.appended)

    def _put(self, key: SessionKey, snapshot: SessionSnapshot) -> None:
        self._remove(key)
        self._snapshots[key] = snapshot
        self._size_bytes += snapshot.size_bytes

    def _remove(self, key: SessionKey) -> None:
        snapshot = self._snapshots.pop(key, None)
        if snapshot is not None:
            self._size_bytes -= snapshot.size_bytes

    def _evict(self) -> None:
        while self._size_bytes > self._max_bytes and self._snapshots:
            key, snapshot = next(iter(self._snapshots.items()))
            self._remove(key)
            if snapshot.used:
                snapshot.used = False
                self._put(key, snapshot)


def _extended(snapshot: SessionSnapshot, head: SessionHead, appended: Sequence[StoredMessage]) -> SessionSnapshot:
    snapshot.entries.extend(appended)
    snapshot.frames.extend(encode_frames(appended))
    size = snapshot.size_bytes + sum(map(_size, appended))
    return SessionSnapshot(head, snapshot.entries, snapshot.frames, snapshot.end + len(appended), size, snapshot.used)


def _trimmed(snapshot: SessionSnapshot, tail_messages: int) -> SessionSnapshot:
    """Return the newest messages only: at most `tail_messages`, and not much more than TAIL_BYTES."""
    newest: list[StoredMessage] = []
    size = 0
    for message in reversed(snapshot.entries[max(0, snapshot.end - tail_messages) : snapshot.end]):
        size += len(message.body)
        if size > TAIL_BYTES and newest:
            break
        newest.append(message)
    return snapshot_of(snapshot.head, newest[::-1])


def _updated(snapshot: SessionSnapshot, head: SessionHead, change: CommitEvent) -> SessionSnapshot:
    removed = set(change.removed)
    replaced = {message.sequence: message for message in change.replaced}
    remaining = (message for message in snapshot.messages() if message.sequence not in removed)
    return snapshot_of(head, [replaced.get(message.sequence, message) for message in remaining])
