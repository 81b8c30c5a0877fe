"""Search, mode SUBSTRING."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from google.protobuf.struct_pb2 import Struct

from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES, matches_metadata
from memsidecar.stores.contract import Journal, LocatedMessage, Scope
from memsidecar.v1.message_pb2 import Message

SCANNED_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """What a hit must be. Times in microseconds: later than `after_us` and earlier than `before_us`."""

    substring: str
    roles: frozenset[int] = frozenset()
    metadata: Struct | None = None
    after_us: int | None = None
    before_us: int | None = None

    def matches(self, found: LocatedMessage) -> bool:
        one = found.message
        if self.roles and one.role not in self.roles:
            return False
        if self.after_us is not None and one.time_us <= self.after_us:
            return False
        if self.before_us is not None and one.time_us >= self.before_us:
            return False
        message = Message.FromString(one.body)
        if self.substring.casefold() not in message.content.casefold():
            return False
        return self.metadata is None or matches_metadata(message.metadata, self.metadata)

    def matches_metadata(self, found: LocatedMessage) -> bool:
        """The metadata alone: for those who have seen to the rest."""
        return self.metadata is None or matches_metadata(Message.FromString(found.message.body).metadata, self.metadata)


@dataclass(frozen=True)
class SubstringSearch:
    journal: Journal

    def __call__(
        self, scope: Scope, wanted: MessageFilter, limit: int, before_lsn: int | None, go_on: Callable[[], bool]
    ) -> tuple[Sequence[LocatedMessage], int | None]:
        """Up to `limit` hits below `before_lsn`, and the lsn to go on below, if there may be more.

        `go_on` is asked between steps, so that a caller who is gone does not keep a thread busy.
        """
        hits: list[LocatedMessage] = []
        size = 0
        while go_on():
            found = self.journal.scan(scope, before_lsn, SCANNED_AT_ONCE)
            for one in found:
                if wanted.matches(one):
                    size += len(one.message.body)
                    if len(hits) == limit or (hits and size > MAX_RESPONSE_BYTES):
                        return hits, hits[-1].lsn
                    hits.append(one)
            if not found:
                break
            before_lsn = found[-1].lsn
        return hits, None
