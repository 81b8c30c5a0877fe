"""Search, mode SUBSTRING: a scan of the log, newest first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from google.protobuf.struct_pb2 import Struct

from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES, matches_metadata
from memsidecar.stores.contract import LocatedMessage, MessageReader, Scope
from memsidecar.v1.message_pb2 import Message

SCAN_MESSAGES = 2_000


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Conditions on a hit. Times in microseconds, exclusive: later than `after_us`, earlier than `before_us`."""

    substring: str
    roles: frozenset[int] = frozenset()
    metadata: Struct | None = None
    after_us: int | None = None
    before_us: int | None = None

    def matches(self, located: LocatedMessage) -> bool:
        stored = located.message
        if self.roles and stored.role not in self.roles:
            return False
        if self.after_us is not None and stored.time_us <= self.after_us:
            return False
        if self.before_us is not None and stored.time_us >= self.before_us:
            return False
        message = Message.FromString(stored.body)
        if self.substring.casefold() not in message.content.casefold():
            return False
        return self.metadata is None or matches_metadata(message.metadata, self.metadata)

    def matches_metadata(self, located: LocatedMessage) -> bool:
        """Check the metadata only: an index query has applied the other conditions."""
        if self.metadata is None:
            return True
        return matches_metadata(Message.FromString(located.message.body).metadata, self.metadata)


@dataclass(frozen=True)
class SubstringSearch:
    journal: MessageReader

    def __call__(
        self,
        scope: Scope,
        message_filter: MessageFilter,
        limit: int,
        before_lsn: int | None,
        go_on: Callable[[], bool],
    ) -> tuple[Sequence[LocatedMessage], int | None]:
        """Return up to `limit` hits below `before_lsn`, and the lsn of the next page, None if there are no more.

        `go_on` is called between scans: it returns False when the client has cancelled the call.
        """
        hits: list[LocatedMessage] = []
        size = 0
        while go_on():
            scanned = self.journal.scan(scope, before_lsn, SCAN_MESSAGES)
            for located in scanned:
                if message_filter.matches(located):
                    size += len(located.message.body)
                    if len(hits) == limit or (hits and size > MAX_RESPONSE_BYTES):
                        return hits, hits[-1].lsn
                    hits.append(located)
            if not scanned:
                break
            before_lsn = scanned[-1].lsn
        return hits, None
