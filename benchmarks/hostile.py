"""Compare calls of a quiet user with the same calls while another user of the namespace sends hostile texts.

`python -m benchmarks.hostile ADDRESS` is that other user: it sends until it is terminated.
"""

import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import grpc

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.retrieval.watching import until_quiet
from benchmarks.servers import ROOT, Running, Shape, sidecar
from memsidecar.v1 import knowledge_pb2, knowledge_pb2_grpc, memory_pb2_grpc
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.hostile.texts import hostile_texts

NAMESPACE = "shared"
ADDS_PER_SECOND = 20.0
HOSTILE_BYTES = 128 << 10
POLL_SECONDS = 0.02
MAX_FACT_SECONDS = 120.0


@dataclass(frozen=True)
class HostileEffort:
    rounds: int
    seconds: float
    "Duration of the Adds of a round. A fact is timed after them."


FULL = HostileEffort(rounds=6, seconds=6.0)
QUICK = HostileEffort(rounds=1, seconds=0.5)


@dataclass(frozen=True)
class Round:
    p99_us: float
    fact_seconds: float
    resident_mb: float


class QuietUser:
    """Adds messages at an even rate, then one with a fact, and waits until the fact is listed."""

    def __init__(self, server: Running, folder: Path, effort: HostileEffort) -> None:
        self._server, self._folder, self._effort = server, folder, effort
        self._numbers = count(1)

    def measure(self) -> Round:
        number = next(self._numbers)
        adds = int(self._effort.seconds * ADDS_PER_SECOND) + 10
        path = requests.write(self._folder / "quiet", self._adds(adds, number))
        shape = Shape(1, 1, self._effort.seconds, ADDS_PER_SECOND)
        figures = self._server.load("Add", path, shape, repeat=False)
        return Round(figures.p99_us, self._fact_seconds(number), self._server.resident_mb)

    def _adds(self, number: int, seed: int) -> Iterator[bytes]:
        source = random.Random(seed)
        for _ in range(number):
            request = pb.AddRequest(namespace=NAMESPACE, session_id="s", message=requests.message(source))
            yield request.SerializeToString()

    def _fact_seconds(self, number: int) -> float:
        user = f"user {number}"
        request = knowledge_pb2.ListFactsRequest(namespace=NAMESPACE, user_id=user)
        with grpc.insecure_channel(self._server.address) as channel:
            memory: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
            knowledge: Any = knowledge_pb2_grpc.KnowledgeServiceStub(channel)  # type: ignore[no-untyped-call]
            message = Message(role=ROLE_USER, content="My name is Ada.")
            memory.Add(pb.AddRequest(namespace=NAMESPACE, user_id=user, session_id=user, message=message), timeout=60)
            start = time.monotonic()
            while not knowledge.ListFacts(request, timeout=60).facts:
                if time.monotonic() - start > MAX_FACT_SECONDS:
                    break
                time.sleep(POLL_SECONDS)
        return time.monotonic() - start


def everything(effort: HostileEffort) -> Iterator[Result]:
    with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as name, sidecar(Path(name) / "data") as server:
        quiet = QuietUser(server, Path(name), effort)
        quiet.measure()  # loads tokenizers, and fills caches
        until_quiet(server)
        alone = [quiet.measure() for _ in range(effort.rounds)]
        with sending(server):
            quiet.measure()
            meanwhile = [quiet.measure() for _ in range(effort.rounds)]
    yield from compared(alone, meanwhile)


def compared(alone: list[Round], meanwhile: list[Round]) -> Iterator[Result]:
    before, during = (statistics.median(one.p99_us for one in rounds) for rounds in (alone, meanwhile))
    yield Result(
        "Add, p99 while another user sends hostile texts / alone",
        during / before,
        2,
        at_most=True,
        details={"alone_p99_us": before, "meanwhile_p99_us": during},
    )
    yield Result(
        "seconds until a fact is learned meanwhile, the longest",
        max(one.fact_seconds for one in meanwhile),
        10,
        at_most=True,
        unit="s",
        details={"alone_seconds": max(one.fact_seconds for one in alone)},
    )
    first, last = meanwhile[0].resident_mb, meanwhile[-1].resident_mb
    yield Result(
        "resident memory after the last round of hostile texts / the first",
        last / first,
        1.2,
        at_most=True,
        details={"alone_mb": alone[-1].resident_mb, "first_mb": first, "last_mb": last},
    )


@contextmanager
def sending(server: Running) -> Iterator[None]:
    """Send hostile texts from a process of their own."""
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.hostile", server.address], cwd=ROOT)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def send(address: str) -> None:
    texts = hostile_texts()
    with grpc.insecure_channel(address) as channel:
        memory: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        for number in count():
            message = Message(role=ROLE_USER, content=texts[number * 7 % len(texts)].of_size(HOSTILE_BYTES))
            request = pb.AddRequest(namespace=NAMESPACE, user_id="eve", session_id=f"s{number % 4}", message=message)
            memory.Add(request, timeout=60)


if __name__ == "__main__":
    send(sys.argv[1])
