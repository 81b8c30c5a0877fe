"""Measure the cost of indexing for an Add, and the index lag: two sidecars, with and without an index, in turn."""

import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.retrieval.effort import Effort
from benchmarks.retrieval.searching import stub_of
from benchmarks.retrieval.watching import IndexFiles, entries_logged, until_indexed, until_quiet, until_ready
from benchmarks.servers import Figures, Running, Shape, sidecar
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message

PER_SECOND = 400
PACED_CALLERS = 64
"Enough callers that a call is seldom late because all of them wait."
CALLERS = 16
SESSIONS = [f"bench-{n}" for n in range(CALLERS)]
MOST_PER_SECOND = 6_000
LOOK_SECONDS = 0.25
PER_BACKLOG = 10_000
FEW = 1_000
WATCHED_TIMES_AS_LONG = 3
SATURATED = f"Add, {CALLERS} callers, as fast as it goes"
_SEEDS = count(1_000_000)


def adding(effort: Effort, folder: Path) -> Iterator[Result]:
    with ExitStack() as stack:
        on = stack.enter_context(sidecar(folder / "on", "--index", "lancedb"))
        off = stack.enter_context(sidecar(folder / "off", "--index", "off"))
        until_ready(on)
        bench = AddBench(effort, folder, on, off)
        bench.warm()
        yield from bench.paced()
        yield from bench.lag()
        yield from bench.saturated()
        yield from bench.watched()


@dataclass
class AddBench:
    effort: Effort
    folder: Path
    on: Running
    off: Running
    added: int = field(default=0, init=False)
    "Connects to the sidecar with an index."

    def __post_init__(self) -> None:
        self.files = IndexFiles.of(self.folder / "on")

    def warm(self) -> None:
        """Warm up: the first Add loads the tokenizer, and the first batch loads the embedder."""
        for side in (self.on, self.off):
            self._load(side, self._requests(CALLERS * 20), Shape(CALLERS, 1, self.effort.add_seconds))
        self._drained()
        until_quiet(self.on)

    # -- at a rate below capacity

    def paced(self) -> Iterator[Result]:
        on, off = self._in_turn(self._paced)
        ratio = statistics.median(a.p99_us / b.p99_us for a, b in zip(on, off, strict=True))
        details = {"p99_us": _median(on, "p99_us"), "p99_us without": _median(off, "p99_us")}
        details |= {"p50_us": _median(on, "p50_us"), "p50_us without": _median(off, "p50_us")}
        name = f"Add at {PER_SECOND}/s: p99 with indexing / without"
        yield Result(name, ratio, 1.5, at_most=True, details=details)

    def lag(self) -> Iterator[Result]:
        """Return the largest age of the newest indexed message, of many samples.

        Sampling has a cost, so this is a separate run.
        """
        lags: list[float] = []
        path = self._requests(self._paced_adds())
        newest = _now_us()

        def look() -> None:
            nonlocal newest
            newest = self.files.newest_us(newest)
            lags.append((_now_us() - newest) / 1e6)

        with _meanwhile(look), self.off.paused():
            self._load(self.on, path, self._paced_shape())
        self._drained()
        details = {"median_s": statistics.median(lags), "looks": len(lags)}
        name = f"Add at {PER_SECOND}/s: index lag, largest of all looks"
        yield Result(name, max(lags), 2, at_most=True, unit="s", details=details)

    # -- at full speed

    def saturated(self) -> Iterator[Result]:
        backlogs: list[int] = []
        seconds: list[float] = []

        def load(side: Running) -> Figures:
            figures = self._saturating(side)
            if side is self.on:
                backlogs.append(max(0, self.added - self.files.rows()))
                seconds.append(self._drained())
            return figures

        on, off = self._in_turn(load)
        ratio = statistics.median(a.calls_per_second / b.calls_per_second for a, b in zip(on, off, strict=True))
        details = {"adds_per_second": _median(on, "calls_per_second"), "without": _median(off, "calls_per_second")}
        yield Result(f"{SATURATED}: with indexing / without", ratio, 0.85, details=details)
        drained = sum(seconds) / max(sum(backlogs), 1) * PER_BACKLOG
        details = {"seconds": sum(seconds), "messages": float(sum(backlogs))}
        yield Result(f"{SATURATED}: backlog drained, for each {PER_BACKLOG:,}", drained, 60, True, "s", details)

    def watched(self) -> Iterator[Result]:
        """Repeat with sampling: measure the growth of the backlog, and whether Search reports missing messages.

        Sampling slows down the Adds, so this is a separate run. It is longer, because the throttle delays the index
        during a burst.
        """
        seen = {"found": 0.0, "said": 0.0, "hidden": 0.0}
        looks: list[tuple[float, int]] = []
        before = self._entries_beyond_the_rows()

        def look() -> None:
            looks.append((time.monotonic() - start, self._entries_beyond_the_rows() - before))
            self._probe(stub, seen)

        with stub_of(self.on) as stub:
            path = self._requests(WATCHED_TIMES_AS_LONG * self._most_adds())
            start = time.monotonic()
            with _meanwhile(look), self.off.paused():
                shape = Shape(CALLERS, 1, WATCHED_TIMES_AS_LONG * self.effort.add_seconds)
                figures = self._load(self.on, path, shape)
            look()
        self._drained()
        yield _growing(looks, figures)
        name = "Search meanwhile: answers that lack the newest message and do not say so"
        yield Result(name, seen["hidden"], 0, at_most=True, unit="", details=seen)

    def _entries_beyond_the_rows(self) -> int:
        """Return the unindexed entries; rows are read first, so entries added meanwhile count as unindexed."""
        indexed = self.files.rows()
        return entries_logged(self.folder / "on") - indexed

    def _probe(self, stub: Any, seen: dict[str, float]) -> None:
        """Add a word and search for it at once: the search must find it, or report the degradation."""
        word = f"probe{next(_SEEDS)}"
        message = Message(role=ROLE_USER, content=f"remember {word} for me")
        stub.Add(pb.AddRequest(user_id="probe", session_id="probe", message=message), timeout=60)
        self.added += 1
        answer = stub.Search(pb.SearchRequest(user_id="probe", query=word), timeout=60)
        found = any(word in hit.message.content for hit in answer.hits)
        seen["said" if answer.degraded else "found" if found else "hidden"] += 1

    # -- both

    def _in_turn(self, load: Callable[[Running], Figures]) -> tuple[list[Figures], list[Figures]]:
        """Load one side, then the other, each with an idle index and while the other process is stopped.

        Both have background work afterwards.
        """
        on: list[Figures] = []
        off: list[Figures] = []
        for number in range(self.effort.add_rounds):
            for side, other in ((self.on, self.off), (self.off, self.on))[:: 1 if number % 2 else -1]:
                with other.paused():
                    (on if side is self.on else off).append(load(side))
            self._drained()
            until_quiet(self.on)
        return on, off

    def _paced(self, side: Running) -> Figures:
        return self._load(side, self._requests(self._paced_adds()), self._paced_shape())

    def _paced_adds(self) -> int:
        return int(PER_SECOND * self.effort.add_seconds) + PACED_CALLERS

    def _paced_shape(self) -> Shape:
        return Shape(PACED_CALLERS, 1, self.effort.add_seconds, PER_SECOND)

    def _saturating(self, side: Running) -> Figures:
        return self._load(side, self._requests(self._most_adds()), self._saturating_shape())

    def _most_adds(self) -> int:
        return int(MOST_PER_SECOND * self.effort.add_seconds)

    def _saturating_shape(self) -> Shape:
        return Shape(CALLERS, 1, self.effort.add_seconds)

    def _requests(self, calls: int) -> Path:
        return requests.write(self.folder / "adds", requests.adds(calls, SESSIONS, next(_SEEDS)))

    def _load(self, side: Running, path: Path, shape: Shape) -> Figures:
        figures = side.load("Add", path, shape, repeat=False)
        self.added += figures.calls if side is self.on else 0
        return figures

    def _drained(self) -> float:
        return until_indexed(self.files, self.added)


def _growing(looks: list[tuple[float, int]], figures: Figures) -> Result:
    """Return the backlog at the end relative to half time. 2: unbounded growth. Below `FEW` entries: no backlog."""
    whole = figures.calls / figures.calls_per_second
    half, end = (min(looks, key=lambda one: abs(one[0] - when))[1] for when in (whole / 2, whole))
    details = {"half": float(half), "end": float(end), "added": float(figures.calls)}
    details["growth_per_second"] = (end - half) / (whole / 2)
    name = f"{SATURATED}: backlog at the end / at half time (2: without bound)"
    return Result(name, end / max(half, FEW), 1.5, at_most=True, details=details)


@contextmanager
def _meanwhile(look: Callable[[], None]) -> Iterator[None]:
    """Call a function periodically on another thread, until the block ends."""
    over = Event()

    def run() -> None:
        while not over.wait(LOOK_SECONDS):
            look()

    with ThreadPoolExecutor(1) as thread:
        looking = thread.submit(run)
        try:
            yield
        finally:
            over.set()
        looking.result()


def _now_us() -> int:
    return time.time_ns() // 1_000


def _median(figures: list[Figures], name: str) -> float:
    return statistics.median(float(getattr(one, name)) for one in figures)
