"""Compare writes to a long session after a restart of the sidecar with those before it, when ids are still in RAM."""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import grpc

from benchmarks import requests
from benchmarks.measuring import Effort, Result
from benchmarks.retrieval.watching import until_quiet
from benchmarks.servers import sidecar
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import memory_pb2_grpc

SESSION = "long"
BATCH = 1_000
REPETITIONS = 15
TARGETS = {"Add": 1.3, f"AddBatch of {BATCH:,}": 1.3, "its retry": 2.0}


@dataclass
class Writer:
    """Writes to the session, and takes the time of each call."""

    memory: Any
    seeds: Iterator[int]
    seconds: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in TARGETS})

    def fill(self, messages: int) -> None:
        for _ in range(0, messages, BATCH):
            self.memory.AddBatch(self._batch(), timeout=120)

    def measure(self) -> dict[str, float]:
        """Return the median of each call."""
        for _ in range(REPETITIONS):
            add = pb.AddRequest(session_id=SESSION, message=requests.message(Random(next(self.seeds))))
            batch = self._batch()
            calls = ((self.memory.Add, add), (self.memory.AddBatch, batch), (self.memory.AddBatch, batch))
            for name, (call, request) in zip(TARGETS, calls, strict=True):
                self.seconds[name].append(_taken(call, request))
        return {name: statistics.median(taken) for name, taken in self.seconds.items()}

    def _batch(self) -> pb.AddBatchRequest:
        source = Random(next(self.seeds))
        return pb.AddBatchRequest(session_id=SESSION, messages=[requests.message(source) for _ in range(BATCH)])


def restarted(effort: Effort) -> Iterator[Result]:
    seeds = count(1_000_000)
    with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as folder:
        before = _measured(Path(folder), seeds, effort.long_session)
        after = _measured(Path(folder), seeds, 0)
    for name, target in TARGETS.items():
        title = f"{name}, after a restart / before, a session of {effort.long_session:,} messages"
        details = {"before_us": before[name] * 1e6, "after_us": after[name] * 1e6}
        yield Result(title, after[name] / before[name], target, at_most=True, details=details)


def _measured(folder: Path, seeds: Iterator[int], messages: int) -> dict[str, float]:
    """Start a sidecar, add messages to the session, and return the median of each call."""
    with sidecar(folder / "data", "--index", "off") as server, grpc.insecure_channel(server.address) as channel:
        writer = Writer(memory_pb2_grpc.MemoryServiceStub(channel), seeds)  # type: ignore[no-untyped-call]
        writer.fill(messages)
        until_quiet(server)
        return writer.measure()


def _taken(call: Callable[..., object], request: object) -> float:
    start = time.perf_counter()
    call(request, timeout=120)
    return time.perf_counter() - start
