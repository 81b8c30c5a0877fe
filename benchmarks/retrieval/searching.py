"""Compare Search over gRPC in one large namespace with the same rows in LanceDB and, if installed, in Chroma.

Rounds alternate between the sides. The sidecar's figure includes the network and the computation of the query vector.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.retrieval import corpus
from benchmarks.retrieval.bare import LIMIT, BareLance, Chroma, Side, Vectors
from benchmarks.retrieval.effort import Effort
from benchmarks.retrieval.watching import IndexFiles, until_indexed, until_quiet, until_ready
from benchmarks.servers import Running, Shape, sidecar
from memsidecar.embedding.static import StaticEmbedder
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import memory_pb2_grpc

QUESTIONS = 500
CALLERS = 8
BESIDE_BARE = {corpus.SOME: 0.35, corpus.MOST: 0.25}
COLD_BESIDE_BARE, CALLERS_BESIDE_ONE, CHROMA_BESIDE_MINE = 50, 6, 10
SETTLED_MB, PEAK_MB = 420, 500


def searching(effort: Effort, folder: Path) -> Iterator[Result]:
    bench = SearchBench(effort, folder)
    with running(folder) as server:
        bench.fill(server)
        for user in (corpus.SOME, corpus.MOST):
            yield from bench.hot(server, user)
        yield from bench.memory(server)
    yield from bench.cold()


@contextmanager
def running(folder: Path, *flags: str) -> Iterator[Running]:
    """Run a sidecar, and yield it when its retrieval is ready."""
    with sidecar(folder / "data", "--index", "lancedb", *flags) as server:
        until_ready(server)
        yield server


@contextmanager
def stub_of(server: Running) -> Iterator[Any]:
    with grpc.insecure_channel(server.address) as channel:
        yield memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]


def load(server: Running, turns: Sequence[corpus.Turn]) -> None:
    with stub_of(server) as stub:
        for batch in corpus.batches(turns):
            stub.AddBatch(batch, timeout=60)


@dataclass
class SearchBench:
    effort: Effort
    folder: Path
    sides: list[Side] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._embedder = StaticEmbedder()
        self._questions = corpus.queries(QUESTIONS)
        self._vectors = self._embedder.embed(self._questions)

    def fill(self, server: Running) -> None:
        """Load the same rows on all sides, and wait until the sidecar is idle."""
        turns = corpus.turns(self.effort.messages)
        self.counts = {user: sum(turn.user == user for turn in turns) for user in BESIDE_BARE}
        load(server, turns)
        vectors = self._embedder.embed([turn.text for turn in turns])
        self.sides = [BareLance(self.folder / "bare", turns, vectors)]
        if Chroma.is_installed():
            self.sides.append(Chroma(self.folder / "chroma", turns, vectors))
        until_indexed(IndexFiles.of(self.folder / "data"), len(turns))
        until_quiet(server)

    # -- a user in RAM

    def hot(self, server: Running, user: str) -> Iterator[Result]:
        self._check(server, user)
        path = requests.write(self.folder / "searches", corpus.searches(user, self._questions, LIMIT))
        mine: list[float] = []
        crowded: list[float] = []
        theirs: dict[str, list[float]] = {side.name: [] for side in self.sides}
        for _ in range(self.effort.rounds):
            mine.append(self._p50(server, path, 1))
            for side in self.sides:
                theirs[side.name].append(self._p50_of(side, user))
            crowded.append(self._p50(server, path, CALLERS))
        name = f"Search, a user with {self.counts[user]:,} of {self.effort.messages:,} messages"
        details = {"p50_us": statistics.median(mine), "p50_us_crowded": statistics.median(crowded)}
        details |= {f"p50_us {other}": statistics.median(times) for other, times in theirs.items()}
        yield _ratio(f"{name}: p50 / bare LanceDB's", mine, theirs[BareLance.name], BESIDE_BARE[user], details)
        if Chroma.name in theirs:
            speedup = statistics.median(b / a for a, b in zip(mine, theirs[Chroma.name], strict=True))
            yield Result(f"{name}: Chroma's p50 / p50", speedup, CHROMA_BESIDE_MINE, details=details)
        yield _ratio(f"{name}: p50 of {CALLERS} callers / of one", crowded, mine, CALLERS_BESIDE_ONE, details)

    def _check(self, server: Running, user: str) -> None:
        """Verify that the response is complete; this also loads the user's partition."""
        with stub_of(server) as stub:
            for question in self._questions[:3]:
                answer = _search(stub, user, question)
                if len(answer.hits) < LIMIT or answer.degraded:
                    raise RuntimeError(f"{len(answer.hits)} hits, degraded by {list(answer.degraded)}")

    def _p50(self, server: Running, path: Path, callers: int) -> float:
        return server.load("Search", path, Shape(callers, callers, self.effort.seconds), repeat=True).p50_us

    def _p50_of(self, side: Side, user: str) -> float:
        """Run one query after another for the duration of a round."""
        times: list[float] = []
        end = time.perf_counter() + self.effort.seconds
        while not times or time.perf_counter() < end:
            at = len(times) % QUESTIONS
            times.append(_micros(lambda at=at: self._ask(side, user, at)))  # type: ignore[misc]
        return statistics.median(times)

    def _ask(self, side: Side, user: str, at: int) -> None:
        vector: Vectors = self._vectors[at]
        if not side.search(user, self._questions[at], vector):
            raise RuntimeError(f"{side.name} finds nothing")

    # -- memory

    def memory(self, server: Running) -> Iterator[Result]:
        """Measure after the searches above and some by small users."""
        with stub_of(server) as stub:
            for user in corpus.CROWD:
                _search(stub, user, self._questions[0])
        time.sleep(self.effort.idle_seconds)
        at = f"resident memory at {self.effort.messages:,} messages"
        yield Result(f"{at}, settled", server.resident_mb, SETTLED_MB, at_most=True, unit="MB")
        yield Result(f"{at}, at its peak", server.peak_mb, PEAK_MB, at_most=True, unit="MB")

    # -- a user who is not in RAM

    def cold(self) -> Iterator[Result]:
        """Measure the first search of each user after a restart; another user's search has opened the table."""
        first: dict[str, list[float]] = {user: [] for user in BESIDE_BARE}
        bare: dict[str, list[float]] = {user: [] for user in BESIDE_BARE}
        for _ in range(self.effort.cold_rounds):
            with running(self.folder) as server, stub_of(server) as stub:
                _search(stub, corpus.CROWD[0], self._questions[0])
                until_quiet(server)
                for user, times in first.items():
                    bare[user].append(self._p50_of(self.sides[0], user))
                    times.append(_micros(lambda user=user: _search(stub, user, self._questions[1])))  # type: ignore[misc]
        for user, times in first.items():
            name = f"Search, a user with {self.counts[user]:,} messages, not yet in RAM: time / bare LanceDB's p50"
            details = {"us": statistics.median(times), "p50_us bare LanceDB": statistics.median(bare[user])}
            yield _ratio(name, times, bare[user], COLD_BESIDE_BARE, details)


def _search(stub: Any, user: str, question: str) -> pb.SearchResponse:
    request = pb.SearchRequest(namespace=corpus.NAMESPACE, user_id=user, query=question, limit=LIMIT)
    answer: pb.SearchResponse = stub.Search(request, timeout=60)
    return answer


def _ratio(
    name: str, mine: Sequence[float], theirs: Sequence[float], target: float, details: dict[str, float]
) -> Result:
    value = statistics.median(a / b for a, b in zip(mine, theirs, strict=True))
    return Result(name, value, target, at_most=True, details=details)


def _micros(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6
