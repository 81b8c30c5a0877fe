"""A caller of Watch over a real socket."""

from collections.abc import Callable, Iterable
from typing import Any, Self

from memsidecar.v1 import session_pb2 as pb
from tests.support.process import CALL_SECONDS, Client

ADDED, PRUNED, CLEARED = pb.EVENT_KIND_ADDED, pb.EVENT_KIND_PRUNED, pb.EVENT_KIND_CLEARED
ANNOTATED, INDEXED, FACT = pb.EVENT_KIND_ANNOTATED, pb.EVENT_KIND_INDEXED, pb.EVENT_KIND_FACT
SUMMARY, FORGOTTEN, HEARTBEAT = pb.EVENT_KIND_SUMMARY, pb.EVENT_KIND_FORGOTTEN, pb.EVENT_KIND_HEARTBEAT


class WatchStream:
    """An open stream, at its first heartbeat. `cursor` is that of the last response that was read."""

    def __init__(self, client: Client, namespace: str, metadata: Any = None, **fields: Any) -> None:
        request = pb.WatchRequest(namespace=namespace, **fields)
        self.call = client.sessions.Watch(request, metadata=metadata, timeout=CALL_SECONDS)
        self.first = self.next()

    def next(self) -> pb.WatchResponse:
        response: pb.WatchResponse = next(self.call)
        self.cursor = response.cursor
        return response

    def events(self, count: int, kinds: Iterable[int] = (ADDED,)) -> list[pb.WatchResponse]:
        """Read until there are so many events of these kinds, and return them."""
        return self.until(lambda events: len(events) == count, kinds)

    def until(
        self, holds: Callable[[list[pb.WatchResponse]], object], kinds: Iterable[int] = (ADDED,)
    ) -> list[pb.WatchResponse]:
        wanted, found = tuple(kinds), list[pb.WatchResponse]()
        while not holds(found):
            response = self.next()
            if response.kind in wanted:
                found.append(response)
        return found

    def through(self, message_id: str) -> list[pb.WatchResponse]:
        """Read until this message was added, and return all responses, heartbeats included."""
        found = [self.next()]
        while found[-1].id != message_id:
            found.append(self.next())
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.call.cancel()


def shown(event: pb.WatchResponse) -> tuple[int, str, str, int, str]:
    return event.kind, event.user_id, event.session_id, event.sequence, event.id
