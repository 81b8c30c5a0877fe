"""Calls of many threads to a session, with the start and end of each, and checks of linearizability.

The checks use only the order of calls that did not overlap. Calls that overlapped may have either order.
"""

import sys
import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from tests.support.waiting import until

T = TypeVar("T")


class Call(NamedTuple):
    start_ns: int
    end_ns: int


class AddCall(NamedTuple):
    call: Call
    sequences: tuple[int, ...]


class ReadCall(NamedTuple):
    """A read, with the sequences of its messages, oldest first."""

    call: Call
    reader: int
    sequences: tuple[int, ...]


class CountCall(NamedTuple):
    call: Call
    reader: int
    last_sequence: int
    message_count: int
    pruned_count: int


@dataclass
class SessionHistory:
    adds: list[AddCall] = field(default_factory=list)
    seen: list[ReadCall] = field(default_factory=list)
    counted: list[CountCall] = field(default_factory=list)
    clears: list[Call] = field(default_factory=list)

    def check(self) -> None:
        self._check_sequences()
        self._check_order_of_adds()
        self._check_counts()
        self._check_reads()
        self._check_readers_never_go_back()

    def _check_sequences(self) -> None:
        """Check that each sequence is used once, without a gap, and consecutively within a call."""
        given = sorted(sequence for add in self.adds for sequence in add.sequences)
        assert given == list(range(1, len(given) + 1))
        for add in self.adds:
            assert add.sequences == tuple(range(add.sequences[0], add.sequences[0] + len(add.sequences)))

    def _check_order_of_adds(self) -> None:
        """Check that an add that started after the response of another has the greater sequence."""
        answered = Highest((add.call.end_ns, add.sequences[-1]) for add in self.adds)
        for add in self.adds:
            assert add.sequences[0] > answered.before(add.call.start_ns)

    def _check_counts(self) -> None:
        answered = Highest((add.call.end_ns, add.sequences[-1]) for add in self.adds)
        started = Highest((add.call.start_ns, add.sequences[-1]) for add in self.adds)
        for counted in self.counted:
            assert (
                answered.before(counted.call.start_ns) <= counted.last_sequence <= started.before(counted.call.end_ns)
            )
            assert counted.message_count + counted.pruned_count <= counted.last_sequence

    def _check_reads(self) -> None:
        answered = Highest((add.call.end_ns, add.sequences[-1]) for add in self.adds)
        started = Highest((add.call.start_ns, add.sequences[-1]) for add in self.adds)
        add_of = {sequence: add.call for add in self.adds for sequence in add.sequences}
        cleared = Highest((clear.end_ns, clear.start_ns) for clear in self.clears)
        for read in self.seen:
            self._check_read(read, answered.before(read.call.start_ns), started.before(read.call.end_ns), add_of)
            for sequence in read.sequences:
                erased_ns = cleared.before(read.call.start_ns)
                assert add_of[sequence].end_ns > erased_ns, f"{sequence} was cleared before it was read"

    def _check_read(self, read: ReadCall, at_least: int, at_most: int, add_of: dict[int, Call]) -> None:
        newest = read.sequences[-1] if read.sequences else 0
        assert newest <= at_most, "a message was read before it was sent"
        first = read.sequences[0] if read.sequences else 1
        assert read.sequences == tuple(range(first, first + len(read.sequences))), "the window has a gap"
        if newest < at_least:
            # The newest message is never pruned, so a clear must have removed it.
            missed = add_of[at_least]
            assert any(c.end_ns > missed.start_ns and c.start_ns < read.call.end_ns for c in self.clears), (
                f"message {at_least} was acknowledged before this read started, and the read returned only {newest}"
            )

    def _check_readers_never_go_back(self) -> None:
        last: dict[int, int] = defaultdict(int)
        views = [(counted.call, counted.reader, counted.last_sequence) for counted in self.counted]
        views += [(read.call, read.reader, read.sequences[-1]) for read in self.seen if read.sequences]
        for _, reader, newest in sorted(views):
            assert newest >= last[reader], "a reader got an earlier state than before"
            last[reader] = newest


class Highest:
    """The highest value of all events before a time."""

    def __init__(self, events: Iterable[tuple[int, int]]) -> None:
        self._times, self._values, highest = list[int](), list[int](), 0
        for time_ns, value in sorted(events):
            highest = max(highest, value)
            self._times.append(time_ns)
            self._values.append(highest)

    def before(self, time_ns: int) -> int:
        at = bisect_left(self._times, time_ns)
        return self._values[at - 1] if at else 0


class History:
    """The histories of all sessions. Many threads append to the lists; each append is atomic."""

    def __init__(self, session_ids: Iterable[str]) -> None:
        self.sessions = {session_id: SessionHistory() for session_id in session_ids}

    def check(self) -> None:
        for history in self.sessions.values():
            history.check()


def timed(work: Callable[[], T]) -> tuple[Call, T]:
    start = time.monotonic_ns()
    result = work()
    return Call(start, time.monotonic_ns()), result


@contextmanager
def frequent_thread_switches() -> Iterator[None]:
    """Switch threads fifty times as often: more interleavings, and readers do not starve writers."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 50)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def run_all(workers: Sequence[Callable[[], None]], rounds: int) -> None:
    """Repeat each worker on its own thread until all have done this many rounds; raise the first failure."""
    failures: list[BaseException] = []
    done = [0] * len(workers)

    def repeat(at: int, work: Callable[[], None]) -> None:
        try:
            while min(done) < rounds and not failures:
                work()
                done[at] += 1
        except BaseException as failure:  # noqa: BLE001  raised below, where the test sees it
            failures.append(failure)

    threads = [threading.Thread(target=repeat, args=pair, daemon=True) for pair in enumerate(workers)]
    with frequent_thread_switches():
        for thread in threads:
            thread.start()
        until(lambda: not any(thread.is_alive() for thread in threads), "all rounds", progress=lambda: sum(done))
    if failures:
        raise failures[0]
