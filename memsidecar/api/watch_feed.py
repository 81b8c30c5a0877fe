"""What the watchers of a namespace share: wake-ups, names of erasures, and pages of events."""

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

from memsidecar.api.watch_throttle import DeliveryThrottle
from memsidecar.domain.errors import ShuttingDown
from memsidecar.stores.contract import ErasedNames, EventFeed, EventPage, LogChanges, Owner, Scope

log = logging.getLogger(__name__)

PAGE_EVENTS = 256
MAX_SHARED_PAGES = 8
MAX_ERASURES = 10_000
"Erasures whose names are kept for watchers that have not reached them yet. A watcher that is further behind gets none."
INDEX_POLL_SECONDS = 0.2

IndexedLsn = Callable[[str], Awaitable[int | None]]
"Returns the lsn up to which a namespace is indexed; None if that is not known, or without an index."
ReadEvents = Callable[[Scope, int, int], Awaitable[EventPage]]
"`EventFeed.read_events` on a thread."
Place = tuple[Scope, int]


class SharedPage(NamedTuple):
    """A page of events, and how many commits there had been when it was read."""

    page: EventPage
    commits: int


class Watcher(Protocol):
    @property
    def lsn(self) -> int:
        """The lsn that the watcher has reached."""

    @property
    def awaits_index(self) -> bool:
        """Whether the watcher has delivered messages that were not indexed yet."""


class NamespaceFeed:
    """Belongs to one event loop; only `committed` is called on the journal's thread."""

    def __init__(self, read_events: ReadEvents, throttle: DeliveryThrottle) -> None:
        self.throttle = throttle
        self.commits = 0
        "Commits since the first watcher came. It changes before a read sees the commit."
        self.indexed_lsn = 0
        self.has_failed_poll = False
        "Whether the last poll of the index failed. Only the first failure is logged."
        self.stopped = False
        self.watchers: list[Watcher] = []
        self._loop = asyncio.get_running_loop()
        self._erasures: dict[int, Owner] = {}
        self._read_events = read_events
        self._pages: OrderedDict[Place, asyncio.Task[SharedPage]] = OrderedDict()
        self._waiters: set[asyncio.Future[None]] = set()
        self._is_awaited = False

    def committed(self, erasures: Sequence[ErasedNames], erases: bool) -> None:
        """Count a commit and wake the watchers. Cheap, because every write waits for it."""
        for erasure in erasures:
            self._erasures[erasure.lsn] = erasure.owner
        self.commits += 1
        if self._is_awaited or erases:
            self._is_awaited = False
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it every watcher
                self._loop.call_soon_threadsafe(self._commit_seen, erases)

    def check_running(self) -> None:
        if self.stopped:
            raise ShuttingDown()

    def erased_owner(self, lsn: int) -> Owner | None:
        """Return the names of an erasure while a watcher may need them. Any thread may call it."""
        return self._erasures.get(lsn)

    def _commit_seen(self, erases: bool) -> None:
        if erases:
            self._pages.clear()  # they may name what was erased
            self.forget_passed_erasures()
        self.wake()

    def forget_passed_erasures(self) -> None:
        reached = min((watcher.lsn for watcher in self.watchers), default=0)
        passed = [lsn for lsn in list(self._erasures) if lsn <= reached]
        for lsn in passed or list(self._erasures)[: max(0, len(self._erasures) - MAX_ERASURES)]:
            self._erasures.pop(lsn, None)

    def wake(self) -> None:
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self, seen_commits: int, seconds: float) -> None:
        """Wait until `commits` changes, the index advances, `stop`, or the time is over."""
        self._is_awaited = True
        if self.commits != seen_commits or self.stopped:
            return
        waiter = self._loop.create_future()
        self._waiters.add(waiter)
        timer = self._loop.call_later(max(0.0, seconds), _end, waiter)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiters.discard(waiter)

    async def read(self, scope: Scope, after_lsn: int) -> SharedPage:
        """Return the next page of events; watchers at the same place share it. A read takes a turn."""
        place = (scope, after_lsn)
        task = self._pages.get(place)
        if task is None:
            task = self._pages[place] = asyncio.ensure_future(self._read_in_turn(place))
            if len(self._pages) > MAX_SHARED_PAGES:
                self._pages.popitem(last=False)
        return await asyncio.shield(task)

    async def _read_in_turn(self, place: Place) -> SharedPage:
        page = None
        try:
            await self.throttle.turn()
            commits = self.commits
            page = await self._read_events(*place, PAGE_EVENTS)
            return SharedPage(page, commits)
        finally:
            if page is None or not page.events:  # the next read may find more
                self._pages.pop(place, None)


def _end(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class WatchHub:
    """The feeds of all namespaces that are watched. It listens to the log only while there is a watcher."""

    def __init__(
        self, journal: EventFeed, read_events: ReadEvents, indexed_lsn: IndexedLsn, throttle: DeliveryThrottle
    ) -> None:
        self._journal = journal
        self._read_events = read_events
        self._indexed_lsn = indexed_lsn
        self._throttle = throttle
        self._feeds: dict[str, NamespaceFeed] = {}
        self._unsubscribe: Callable[[], None] | None = None
        self._index_poll: asyncio.Task[None] | None = None
        self._stopped = False

    @contextlib.contextmanager
    def watching(self, watcher: Watcher, namespace: str) -> Iterator[NamespaceFeed]:
        """Yield the feed of a namespace, which the watcher belongs to while the block runs."""
        if self._stopped:
            raise ShuttingDown()
        feed = self._feeds.get(namespace)
        if feed is None:
            feed = self._feeds[namespace] = NamespaceFeed(self._read_events, self._throttle)
        if self._unsubscribe is None:
            self._unsubscribe = self._journal.subscribe_log(self._committed)
            self._index_poll = asyncio.ensure_future(self._poll_index())
        feed.watchers.append(watcher)
        try:
            yield feed
        finally:
            feed.watchers.remove(watcher)
            if not feed.watchers:
                del self._feeds[namespace]
            if not self._feeds:
                self._rest()

    def _rest(self) -> None:
        """Unsubscribe after the last watcher."""
        if self._unsubscribe is not None and self._index_poll is not None:
            self._unsubscribe()
            self._index_poll.cancel()
        self._unsubscribe = self._index_poll = None

    def stop(self) -> None:
        """End all streams with ShuttingDown, and accept no new ones."""
        self._stopped = True
        self._throttle.stop()
        for feed in self._feeds.values():
            feed.stopped = True
            feed.wake()

    def _committed(self, changes: LogChanges) -> None:
        """Tell the feeds. Runs on the journal's thread."""
        for namespace in changes.namespaces:
            feed = self._feeds.get(namespace)
            if feed is not None:
                erasures = [each for each in changes.erasures if each.owner.namespace == namespace]
                feed.committed(erasures, changes.erases)

    async def _poll_index(self) -> None:
        """Wake watchers when the index has advanced. The index sends no notification."""
        while True:
            await asyncio.sleep(INDEX_POLL_SECONDS)
            for namespace, feed in list(self._feeds.items()):
                if any(watcher.awaits_index for watcher in feed.watchers):
                    await self._poll_namespace(namespace, feed)

    async def _poll_namespace(self, namespace: str, feed: NamespaceFeed) -> None:
        try:
            lsn = await self._indexed_lsn(namespace)
        except Exception:  # the edge of the loop: the next poll tries again
            if not feed.has_failed_poll:
                log.exception("the state of the index cannot be read, so INDEXED events are late")
            feed.has_failed_poll = True
            return
        feed.has_failed_poll = False
        if lsn is not None and lsn > feed.indexed_lsn:
            feed.indexed_lsn = lsn
            feed.wake()
