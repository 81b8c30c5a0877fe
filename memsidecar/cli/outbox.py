"""Records of an import between the file and the stream, kept until the sidecar has acknowledged them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from memsidecar.cli.archive_file import FileProblem
from memsidecar.cli.archive_source import LocatedRecord
from memsidecar.v1.session_pb2 import ArchiveRecord, ImportRequest

MAX_UNACKNOWLEDGED = 1_000
"Records that are sent before the sidecar has acknowledged earlier ones. They are kept, to be sent again."
MAX_UNACKNOWLEDGED_BYTES = 8 << 20


@dataclass
class Outbox:
    """The records of a file that are not acknowledged yet. A new stream sends them again, then the rest.

    One thread reads the file, ahead of the stream. No lock is held while it waits for standard input.
    """

    records: Iterator[LocatedRecord]
    namespace: str
    override_erasures: bool
    problem: BaseException | None = None
    _unacknowledged: deque[tuple[int, ImportRequest]] = field(default_factory=deque)
    _bytes: int = 0
    _sent: int = 0
    "How many of them the newest stream has sent."
    _stream: int = 0
    _is_complete: bool = False
    _is_ended: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def start(self) -> None:
        """Begin to read. The thread does not keep the process from ending: a read may last forever."""
        threading.Thread(target=self._read, name="archive-reader", daemon=True).start()

    def _read(self) -> None:
        try:
            for number, record in self.records:
                if not self._put(number, record):
                    return
        except FileProblem as problem:
            self.problem = problem
        finally:
            with self._changed:
                self._is_complete = True
                self._changed.notify_all()

    def _put(self, number: int, record: ArchiveRecord) -> bool:
        """Add a record when there is room for it; return whether more are wanted."""
        request = ImportRequest(namespace=self.namespace, record=record, override_erasures=self.override_erasures)
        with self._changed:
            self._changed.wait_for(lambda: self._is_ended or not self._is_full())
            self._unacknowledged.append((number, request))
            self._bytes += request.ByteSize()
            self._changed.notify_all()
            return not self._is_ended

    def _is_full(self) -> bool:
        return len(self._unacknowledged) >= MAX_UNACKNOWLEDGED or self._bytes > MAX_UNACKNOWLEDGED_BYTES

    def requests(self) -> Iterator[ImportRequest]:
        """Yield the requests of a new stream. Called on a thread of gRPC; an older stream ends."""
        with self._changed:
            self._stream += 1
            self._sent = 0
            stream = self._stream
            self._changed.notify_all()
        while (request := self._next(stream)) is not None:
            yield request

    def _next(self, stream: int) -> ImportRequest | None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_complete or stream != self._stream or self._has_unsent())
            if stream != self._stream or not self._has_unsent():
                return None
            self._sent += 1
            return self._unacknowledged[self._sent - 1][1]

    def _has_unsent(self) -> bool:
        return self._sent < len(self._unacknowledged)

    def acknowledge(self, count: int) -> None:
        with self._changed:
            for _ in range(count):
                self._bytes -= self._unacknowledged.popleft()[1].ByteSize()
            self._sent -= count
            self._changed.notify_all()

    def end(self) -> None:
        """End all streams, and the thread that reads as soon as it has read a record."""
        with self._changed:
            self._is_ended = True
            self._stream += 1
            self._changed.notify_all()

    @property
    def first_line(self) -> int:
        """The line of the first record that is not acknowledged; 0 if there is none."""
        with self._changed:
            return self._unacknowledged[0][0] if self._unacknowledged else 0
