"""Watch: a stream of events, read from the journal's log at the pace of the caller."""

import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memsidecar.api.executors import Executors
from memsidecar.api.page_tokens import PageTokens, RequestTokens
from memsidecar.api.watch_feed import NamespaceFeed, WatchHub
from memsidecar.api.wire import namespace_of
from memsidecar.domain.errors import InvalidField, SlowReader
from memsidecar.domain.ids import optional_id
from memsidecar.stores.contract import ChangeFeed, Event, EventFeed, EventKind, Owner, Scope
from memsidecar.v1 import session_pb2 as pb

_KINDS = {
    EventKind.ADDED: pb.EVENT_KIND_ADDED,
    EventKind.PRUNED: pb.EVENT_KIND_PRUNED,
    EventKind.CLEARED: pb.EVENT_KIND_CLEARED,
    EventKind.ANNOTATED: pb.EVENT_KIND_ANNOTATED,
    EventKind.FACT: pb.EVENT_KIND_FACT,
    EventKind.SUMMARY: pb.EVENT_KIND_SUMMARY,
    EventKind.FORGOTTEN: pb.EVENT_KIND_FORGOTTEN,
}


class WatchedJournal(ChangeFeed, EventFeed, Protocol):
    """The roles of the journal that Watch needs."""


class Position(NamedTuple):
    """The content of a cursor: the lsn of the last event, and the lsn up to which INDEXED was told."""

    lsn: int
    indexed_lsn: int


class Delivery(NamedTuple):
    """A response to be sent, and the position after it. A heartbeat has no event."""

    kind: pb.EventKind
    position: Position
    event: Event | None = None


@dataclass(frozen=True)
class EventStreams:
    """The handler of Watch. `is_indexed` if there is an index that catches up with messages."""

    journal: WatchedJournal
    executors: Executors
    page_tokens: PageTokens
    hub: WatchHub
    heartbeat_seconds: float
    is_indexed: bool

    async def watch(self, request: pb.WatchRequest) -> AsyncGenerator[bytes, None]:
        scope = Scope(
            namespace_of(request),
            optional_id("user_id", request.user_id),
            optional_id("session_id", request.session_id),
        )
        stream = EventStream(self, scope, self.page_tokens.of_request(request))
        with self.hub.watching(stream, scope.namespace) as feed:
            await stream.start(request.cursor)
            while True:
                for delivery in await stream.next_deliveries(feed):
                    await feed.throttle.turn()
                    feed.check_running()
                    try:
                        yield stream.encode(delivery)
                    except SlowReader:
                        raise SlowReader(stream.cursor()) from None
                    stream.delivered(delivery)


class EventStream:
    """The position of one caller of Watch, and its reads. Implements `watch_feed.Watcher`."""

    def __init__(self, streams: EventStreams, scope: Scope, cursors: RequestTokens) -> None:
        self._streams = streams
        self._scope = scope
        self._cursors = cursors
        self._position = Position(0, 0)
        self._newest_message = 0
        self._heartbeat_at = 0.0

    @property
    def lsn(self) -> int:
        return self._position.lsn

    @property
    def awaits_index(self) -> bool:
        return self._streams.is_indexed and self._position.indexed_lsn < self._newest_message

    def cursor(self) -> str:
        return self._cursors.encode(self._position)

    async def start(self, cursor: str) -> None:
        """Begin at the cursor; without one, at the end of the log."""
        last_lsn = await self._streams.executors.run_read(self._streams.journal.log_end, self._scope.namespace)
        self._position = Position(last_lsn, last_lsn)
        if cursor:
            self._position = Position._make(self._cursors.decode("cursor", cursor, (int, int)))
            if self._position.lsn > last_lsn:
                raise InvalidField("cursor", "is ahead of the log: it is of a later state of this journal")
            # Any message up to the position may have been delivered before it was indexed.
            self._newest_message = self._position.lsn

    async def next_deliveries(self, feed: NamespaceFeed) -> Sequence[Delivery]:
        """Wait for the next responses: events, or a heartbeat if there are none. The very first is a heartbeat."""
        while time.monotonic() < self._heartbeat_at:
            feed.check_running()
            if indexed := await self._indexed(feed):
                return indexed
            page, commits = await feed.read(self._scope, self._position.lsn)
            if deliveries := self._changes(feed, page.events):
                return deliveries
            self._position = self._position._replace(lsn=page.lsn)
            if page.is_last:
                await feed.wait(commits, self._heartbeat_at - time.monotonic())
        return [Delivery(pb.EVENT_KIND_HEARTBEAT, self._position)]

    def delivered(self, delivery: Delivery) -> None:
        """Record that the transport has taken a response."""
        self._position = delivery.position
        if delivery.kind == pb.EVENT_KIND_ADDED:
            self._newest_message = delivery.position.lsn
        self._heartbeat_at = time.monotonic() + self._streams.heartbeat_seconds

    def _changes(self, feed: NamespaceFeed, events: Sequence[Event]) -> list[Delivery]:
        found = [_with_names(event, feed.erased_owner(event.lsn)) for event in events]
        return [
            Delivery(_KINDS[event.kind], self._position._replace(lsn=event.lsn), event)
            for event in found
            if self._concerns_caller(event)
        ]

    def _concerns_caller(self, event: Event) -> bool:
        """Return whether to deliver the event. The journal cannot tell for an erasure, whose names it has forgotten."""
        scope = self._scope
        return scope.user_id in ("", event.user_id) and scope.session_id in ("", event.session_id)

    async def _indexed(self, feed: NamespaceFeed) -> list[Delivery]:
        """Return an INDEXED for each session with messages that are indexed now, in the order of their last ones."""
        newest: dict[str, Event] = {}
        while not newest and (end := min(feed.indexed_lsn, self._position.lsn)) > self._position.indexed_lsn:
            page, _ = await feed.read(self._scope, self._position.indexed_lsn)
            for event in page.events:
                if event.kind is EventKind.ADDED and event.lsn <= end:
                    newest.pop(event.session_id, None)
                    newest[event.session_id] = event._replace(id="", time_us=time.time_ns() // 1000)
            if not newest:
                self._position = self._position._replace(indexed_lsn=min(page.lsn, end))
        return [
            Delivery(pb.EVENT_KIND_INDEXED, self._position._replace(indexed_lsn=event.lsn), event)
            for event in newest.values()
        ]

    def encode(self, delivery: Delivery) -> bytes:
        kind, position, event = delivery
        response = pb.WatchResponse(kind=kind, cursor=self._cursors.encode(position))
        time_us = event.time_us if event else time.time_ns() // 1000
        response.time.seconds, response.time.nanos = time_us // 1_000_000, 1000 * (time_us % 1_000_000)
        if event is not None:
            response.user_id, response.session_id = event.user_id, event.session_id
            response.sequence, response.id = event.sequence, event.id
        return response.SerializeToString()


def _with_names(event: Event, erased: Owner | None) -> Event:
    """Return the event of an erasure with the names of what was erased, if they are still known."""
    return event._replace(user_id=erased.user_id, session_id=erased.session_id) if erased else event
