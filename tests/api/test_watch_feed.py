"""Watchers of one process: what they share, what they miss when a commit comes during a read, and what they leave."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, closing

import pytest

from memsidecar.api.executors import Executors
from memsidecar.api.page_tokens import KEY_BYTES, PageTokens
from memsidecar.api.watch import EventStreams
from memsidecar.api.watch_feed import MAX_ERASURES, NamespaceFeed, WatchHub
from memsidecar.api.watch_throttle import DeliveryThrottle
from memsidecar.domain.errors import ShuttingDown
from memsidecar.stores.contract import ErasedNames, EventPage, LogListener, Owner, Scope
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1 import session_pb2 as pb
from tests.conformance.builders import append, draft, erase, forget
from tests.support.waiting import HANG_SECONDS

Stream = AsyncGenerator[bytes, None]

WATCHERS = 10
ALL = Scope("default")


class CountingJournal(VolatileJournal):
    """Counts its listeners of the log, and reads of events."""

    def __init__(self) -> None:
        super().__init__()
        self.listeners = 0
        self.reads = 0

    def subscribe_log(self, listener: LogListener) -> Callable[[], None]:
        unsubscribe = super().subscribe_log(listener)
        self.listeners += 1

        def count() -> None:
            self.listeners -= 1
            unsubscribe()

        return count

    def read_events(self, scope: Scope, after_lsn: int, limit: int) -> EventPage:
        self.reads += 1
        return super().read_events(scope, after_lsn, limit)


class Streams:
    """The handler of Watch with a journal in RAM and without an index."""

    def __init__(self, journal: CountingJournal) -> None:
        self.executors = Executors(2)

        async def read_events(scope: Scope, after_lsn: int, limit: int) -> EventPage:
            return await self.executors.run_read(journal.read_events, scope, after_lsn, limit)

        self.hub = WatchHub(journal, read_events, no_index, DeliveryThrottle(lambda: False))
        tokens = PageTokens(bytes(KEY_BYTES))
        self.handler = EventStreams(journal, self.executors, tokens, self.hub, 3600.0, is_indexed=False)

    def watch(self, cursor: str = "") -> "aclosing[Stream]":
        return aclosing(self.handler.watch(pb.WatchRequest(cursor=cursor)))


async def no_index(_namespace: str) -> int | None:
    return None


def run(test: Callable[[CountingJournal, Streams], Awaitable[None]]) -> None:
    async def in_time() -> None:
        with closing(CountingJournal()) as journal:
            streams = Streams(journal)
            try:
                async with asyncio.timeout(HANG_SECONDS):
                    await test(journal, streams)
            finally:
                streams.executors.close()

    asyncio.run(in_time())


async def next_kind(stream: Stream) -> int:
    return pb.WatchResponse.FromString(await anext(stream)).kind


def test_watchers_that_end_leave_no_task_and_no_listener() -> None:
    async def test(journal: CountingJournal, streams: Streams) -> None:
        before = asyncio.all_tasks()
        async with AsyncExitStack() as opened:
            watchers = [await opened.enter_async_context(streams.watch()) for _ in range(WATCHERS)]
            for watcher in watchers:
                assert await next_kind(watcher) == pb.EVENT_KIND_HEARTBEAT
            assert journal.listeners == 1
            waiting = [asyncio.ensure_future(next_kind(watcher)) for watcher in watchers]
            await asyncio.to_thread(append, journal, draft("a"))
            assert await asyncio.gather(*waiting) == [pb.EVENT_KIND_ADDED] * WATCHERS
            waiting = [asyncio.ensure_future(next_kind(watcher)) for watcher in watchers]
            await asyncio.sleep(0.01)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        assert journal.listeners == 0
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before

    run(test)


def test_watchers_at_the_same_place_share_a_read() -> None:
    async def test(journal: CountingJournal, streams: Streams) -> None:
        async with AsyncExitStack() as opened:
            watchers = [await opened.enter_async_context(streams.watch()) for _ in range(WATCHERS)]
            for watcher in watchers:
                await next_kind(watcher)
            await asyncio.to_thread(append, journal, draft("a"), draft("b"))
            before = journal.reads
            for _ in range(2):
                assert await asyncio.gather(*map(next_kind, watchers)) == [pb.EVENT_KIND_ADDED] * WATCHERS
            assert journal.reads - before == 1

    run(test)


def test_a_page_that_names_an_erased_message_is_not_shared_any_more() -> None:
    async def test(journal: CountingJournal, streams: Streams) -> None:
        async with streams.watch() as watcher:
            start = pb.WatchResponse.FromString(await anext(watcher)).cursor
            await asyncio.to_thread(append, journal, draft("a", message_id="ann"))
            assert await next_kind(watcher) == pb.EVENT_KIND_ADDED
            await asyncio.to_thread(forget, journal, "ann")
            async with streams.watch(start) as resumed:
                assert await next_kind(resumed) == pb.EVENT_KIND_HEARTBEAT
                event = pb.WatchResponse.FromString(await anext(resumed))
                assert (event.kind, event.id) == (pb.EVENT_KIND_FORGOTTEN, "")

    run(test)


def test_a_stopped_hub_ends_waiting_streams_and_refuses_new_ones() -> None:
    async def test(_journal: CountingJournal, streams: Streams) -> None:
        async with streams.watch() as watcher:
            await next_kind(watcher)
            waiting = asyncio.ensure_future(next_kind(watcher))
            await asyncio.sleep(0.01)
            streams.hub.stop()
            with pytest.raises(ShuttingDown):
                await waiting
        async with streams.watch() as watcher:
            with pytest.raises(ShuttingDown):
                await next_kind(watcher)

    run(test)


def test_a_commit_during_a_shared_read_is_not_missed() -> None:
    """The second watcher comes after the commit, and gets the page that was read before it."""

    async def run_race() -> None:
        may_end = asyncio.Event()

        async def read_events(_scope: Scope, after_lsn: int, _limit: int) -> EventPage:
            await may_end.wait()
            return EventPage((), after_lsn, is_last=True)

        feed = NamespaceFeed(read_events, DeliveryThrottle(lambda: False))
        first = asyncio.ensure_future(feed.read(ALL, 0))
        await asyncio.sleep(0.01)
        feed.committed((), erases=False)
        second = asyncio.ensure_future(feed.read(ALL, 0))
        await asyncio.sleep(0)
        may_end.set()
        for page, commits in await asyncio.gather(first, second):
            assert page.is_last
            async with asyncio.timeout(HANG_SECONDS):
                await feed.wait(commits, 2 * HANG_SECONDS)

    asyncio.run(run_race())


class Reader:
    """A watcher at a position."""

    def __init__(self, lsn: int, awaits_index: bool = False) -> None:
        self.lsn = lsn
        self.awaits_index = awaits_index


def test_a_failed_poll_of_the_index_is_logged_once_and_repeated(caplog: pytest.LogCaptureFixture) -> None:
    async def run_hub() -> None:
        failures = 2

        async def indexed_lsn(namespace: str) -> int | None:
            nonlocal failures
            if namespace == "broken":
                failures -= 1
                if failures >= 0:
                    raise OSError
            return 10

        with closing(VolatileJournal()) as journal:
            hub = WatchHub(journal, None, indexed_lsn, DeliveryThrottle(lambda: False))  # type: ignore[arg-type]
            watcher = Reader(1, awaits_index=True)
            with hub.watching(watcher, "broken") as broken, hub.watching(watcher, "other") as other:
                async with asyncio.timeout(HANG_SECONDS):
                    while not broken.indexed_lsn:
                        await broken.wait(broken.commits, HANG_SECONDS)
                assert (broken.indexed_lsn, other.indexed_lsn) == (10, 10)

    asyncio.run(run_hub())
    assert len(caplog.records) == 1


def test_the_names_of_an_erasure_are_kept_until_all_watchers_have_passed_it() -> None:
    async def run_feed() -> None:
        feed = NamespaceFeed(None, DeliveryThrottle(lambda: False))  # type: ignore[arg-type] # it does not read
        slow, fast = Reader(1), Reader(9)
        feed.watchers += [slow, fast]
        ann, bob = Owner("default", "ann"), Owner("default", "bob")
        feed.committed([ErasedNames(2, ann)], erases=True)
        await asyncio.sleep(0.01)
        assert feed.erased_owner(2) == ann
        slow.lsn = 2
        feed.committed([ErasedNames(3, bob)], erases=True)
        await asyncio.sleep(0.01)
        assert (feed.erased_owner(2), feed.erased_owner(3)) == (None, bob)
        feed.committed([ErasedNames(lsn, bob) for lsn in range(4, 4 + MAX_ERASURES)], erases=True)
        await asyncio.sleep(0.01)
        assert feed.erased_owner(3) is None, "the oldest of too many"
        assert feed.erased_owner(3 + MAX_ERASURES) == bob

    asyncio.run(run_feed())


def test_an_erased_session_is_named_for_a_watcher_that_reads_later() -> None:
    async def test(journal: CountingJournal, streams: Streams) -> None:
        async with streams.watch() as watcher:
            await next_kind(watcher)
            await asyncio.to_thread(append, journal, draft("a"), user_id="ann")
            await asyncio.to_thread(erase, journal, delete_session=True)
            event = pb.WatchResponse.FromString(await anext(watcher))
            assert (event.kind, event.user_id, event.session_id) == (pb.EVENT_KIND_FORGOTTEN, "ann", "s1")

    run(test)
