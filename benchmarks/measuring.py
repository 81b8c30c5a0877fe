"""Benchmarks of calls: each compares two sides, alternating in one run, and reports their ratio."""

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from benchmarks import requests
from benchmarks.retrieval.watching import until_quiet
from benchmarks.servers import Figures, Running, Shape, empty_handler, sidecar
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import memory_pb2_grpc
from memsidecar.v1.message_pb2 import ROLE_USER, Message

CALLERS = 16
BATCH = 100
SHORT, LONG = 1_000, 100_000
ADDS_PER_SECOND_AT_MOST = 12_000
SESSIONS = [f"bench-{n}" for n in range(CALLERS)]


@dataclass(frozen=True)
class Effort:
    """Durations and repetitions. Rounds alternate between the two sides, so that a slow minute affects both."""

    seconds: float
    rounds: int
    long_session: int
    repetitions: int


FULL = Effort(seconds=3, rounds=5, long_session=LONG, repetitions=400)
QUICK = Effort(seconds=0.5, rounds=1, long_session=5_000, repetitions=50)


@dataclass(frozen=True)
class Result:
    """A measured ratio, its target (`at_most` or at least), and the figures behind it."""

    name: str
    value: float
    target: float
    at_most: bool = False
    unit: str = "x"
    details: dict[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return self.value <= self.target if self.at_most else self.value >= self.target


class Bench:
    """Two empty handlers, one that only writes and syncs, and one sidecar, all running."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self._stack = ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="memsidecar-bench-")))
        self._seeds = iter(range(1, 1_000_000))

    def __enter__(self) -> "Bench":
        self.empty = {kind: self._stack.enter_context(empty_handler(kind)) for kind in ("threads", "asyncio")}
        self.syncing = self._stack.enter_context(empty_handler("syncing"))
        self.sidecar = self._stack.enter_context(sidecar(self.folder / "data"))
        self._channel = grpc.insecure_channel(self.sidecar.address)
        self.stub = memory_pb2_grpc.MemoryServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self.stub.Add(pb.AddRequest(session_id="first", message=Message(role=ROLE_USER, content="hello")), timeout=30)
        self.first_add_mb = self.sidecar.resident_mb
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()
        self._stack.close()

    def all(self) -> Iterator[Result]:
        yield from self.start()
        yield from self.add(1, 1, 0.40)
        yield self.bare_sync()
        yield from self.add(CALLERS, 1, 0.65)
        yield from self.add(CALLERS, CALLERS, 0.65)
        yield from self.add_batch()
        yield from self.get_recent()
        yield from self.long_session()

    # -- start and memory

    def start(self) -> Iterator[Result]:
        yield Result("seconds from start to the ready line", self.sidecar.ready_seconds, 1.0, at_most=True, unit="s")
        yield Result("resident memory after the first exact Add", self.first_add_mb, 150, at_most=True, unit="MB")

    # -- compared with the empty handlers

    def add(self, callers: int, connections: int, target: float) -> Iterator[Result]:
        count = int(self.effort.seconds * ADDS_PER_SECOND_AT_MOST)
        shape = f"{callers} caller{'s' * (callers > 1)} on {connections} connection{'s' * (connections > 1)}"
        mine, others = self._in_turn(
            lambda: self._adds(count),
            lambda side, path, again: self._load(side, "Add", path, (callers, connections), again),
        )
        yield from self._ratios(f"Add, {shape}", mine, others, target)
        spread = statistics.median(one.p99_us / one.p50_us for one in mine)
        yield Result(f"Add, {shape}: p99 / p50", spread, 4, at_most=True)

    def bare_sync(self) -> Result:
        """Return the ratio of a handler that only writes and syncs like an Add: an upper bound for one caller."""
        rates: dict[str, list[float]] = {"syncing": [], "empty": []}
        for _ in range(self.effort.rounds):
            path = self._adds(1_000)
            until_quiet(self.sidecar)
            for kind, side in (("empty", self.empty["threads"]), ("syncing", self.syncing)):
                rates[kind].append(self._load(side, "Add", path, (1, 1), True).calls_per_second)
        ratio = statistics.median(a / b for a, b in zip(rates["syncing"], rates["empty"], strict=True))
        details = {f"{kind}_calls_per_second": statistics.median(taken) for kind, taken in rates.items()}
        return Result(
            "1 caller: a handler that only writes and syncs as an Add does (threads)", ratio, 0.4, details=details
        )

    def add_batch(self) -> Iterator[Result]:
        count = max(4, int(self.effort.seconds * 300))
        mine, others = self._in_turn(
            lambda: requests.write(self.folder / "batch", requests.batches(count, BATCH, SESSIONS, next(self._seeds))),
            lambda side, path, again: self._load(
                side, "Add" if again else "AddBatch", self._adds(1_000) if again else path, (CALLERS, 1), again
            ),
        )
        yield from self._ratios(
            f"AddBatch of {BATCH}, messages for each call of the empty handler", mine, others, 3, BATCH
        )

    def get_recent(self) -> Iterator[Result]:
        for session in SESSIONS:
            self._fill(session, 60)
        path = requests.write(
            self.folder / "recent", [pb.GetRecentRequest(session_id=one, n=50).SerializeToString() for one in SESSIONS]
        )
        mine, others = self._in_turn(
            lambda: path, lambda side, path, _: self._load(side, "GetRecent", path, (CALLERS, 1), True)
        )
        yield from self._ratios("GetRecent(50), beside a prebuilt answer", mine, others, 0.95)

    def _adds(self, count: int) -> Path:
        return requests.write(self.folder / "adds", requests.adds(count, SESSIONS, next(self._seeds)))

    def _load(self, side: Running, method: str, path: Path, shape: tuple[int, int], repeat: bool) -> Figures:
        return side.load(method, path, Shape(*shape, self.effort.seconds), repeat)

    def _in_turn(
        self, prepare: Callable[[], Path], load: Callable[[Running, Path, bool], Figures]
    ) -> tuple[list[Figures], dict[str, list[Figures]]]:
        """Run rounds of each empty handler, then the sidecar, with new requests.

        Each round begins when the sidecar's background tasks are idle, so that they do not slow down the other side.
        """
        mine: list[Figures] = []
        others: dict[str, list[Figures]] = {kind: [] for kind in self.empty}
        for _ in range(self.effort.rounds):
            path = prepare()
            until_quiet(self.sidecar)
            for kind, server in self.empty.items():
                others[kind].append(load(server, path, True))
            path = prepare()
            mine.append(load(self.sidecar, path, False))
        return mine, others

    def _ratios(
        self, name: str, mine: list[Figures], others: dict[str, list[Figures]], target: float, factor: int = 1
    ) -> Iterator[Result]:
        """Yield the ratios to grpcio's default server, a thread pool, and to its asyncio server, the harder target."""
        rate = statistics.median(one.calls_per_second for one in mine)
        for kind, theirs in others.items():
            ratio = statistics.median(
                factor * a.calls_per_second / b.calls_per_second for a, b in zip(mine, theirs, strict=True)
            )
            details = {
                "calls_per_second": rate,
                "empty_calls_per_second": statistics.median(one.calls_per_second for one in theirs),
                "p50_us": statistics.median(one.p50_us for one in mine),
                "p99_us": statistics.median(one.p99_us for one in mine),
                "client_cpu_share": max(one.client_cpu_share for one in mine),
            }
            yield Result(f"{name} ({kind})", ratio, target, details=details)

    # -- a long session compared with a short one

    def long_session(self) -> Iterator[Result]:
        long = self.effort.long_session
        self._fill("short", SHORT)
        self._fill("long", long)
        for name, call in (("Add", self._one_add), ("GetRecent(50)", self._one_recent), ("Count", self._one_count)):
            yield self._grown(name, call)
        yield self._grown("Prune of ten messages", self._one_prune)

    def _fill(self, session: str, count: int) -> None:
        source = random.Random(next(self._seeds))
        for start in range(0, count, 500):
            batch = [requests.message(source) for _ in range(min(500, count - start))]
            self.stub.AddBatch(pb.AddBatchRequest(session_id=session, messages=batch), timeout=60)

    def _grown(self, name: str, call: Callable[[str], float]) -> Result:
        """Measure both sessions in turn; use medians, so that a single checkpoint does not decide."""
        times: dict[str, list[float]] = {"short": [], "long": []}
        for _ in range(self.effort.repetitions):
            for session, taken in times.items():
                taken.append(call(session))
        short, long = statistics.median(times["short"]), statistics.median(times["long"])
        details = {"short_us": short * 1e6, "long_us": long * 1e6}
        return Result(
            f"{name}: {self.effort.long_session:,} messages / {SHORT:,}", long / short, 1.3, True, details=details
        )

    def _one_add(self, session: str) -> float:
        request = pb.AddRequest(session_id=session, message=requests.message(random.Random(next(self._seeds))))
        return _seconds(lambda: self.stub.Add(request, timeout=30))

    def _one_recent(self, session: str) -> float:
        return _seconds(lambda: self.stub.GetRecent(pb.GetRecentRequest(session_id=session, n=50), timeout=30))

    def _one_count(self, session: str) -> float:
        return _seconds(lambda: self.stub.Count(pb.CountRequest(session_id=session), timeout=30))

    def _one_prune(self, session: str) -> float:
        """Add ten messages, then prune to a budget without the ten oldest."""
        self._fill(session, 10)
        total = self.stub.Count(pb.CountRequest(session_id=session), timeout=30).stats.tokens
        oldest = self.stub.GetAll(pb.GetAllRequest(session_id=session, page_size=10), timeout=30).messages
        budget = total - sum(one.tokens for one in oldest)
        request = pb.PruneRequest(session_id=session, max_tokens=budget)
        return _seconds(lambda: self._pruned_ten(request))

    def _pruned_ten(self, request: pb.PruneRequest) -> None:
        answer = self.stub.Prune(request, timeout=30)
        if answer.removed_count != 10:
            raise RuntimeError(f"the prune removed {answer.removed_count} messages instead of 10")


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
