"""Compare Adds with the same Adds while 10,000 messages are erased, by retention and by ForgetUser.

`python -m benchmarks.erasures`
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import grpc

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.retrieval.watching import until_quiet
from benchmarks.servers import Running, Shape, sidecar
from memsidecar.layers.retention.schedule import CALM_SECONDS
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import memory_pb2_grpc, session_pb2, session_pb2_grpc

SESSIONS = 20
BATCH_MESSAGES = 250
ADDS_PER_SECOND = 200.0
CALLERS = 4
USER = "forgotten"
QUIET = ("--log-calls", "none")
LAST = session_pb2.Retention(messages=session_pb2.RetentionLimits(max_count=1))


@dataclass(frozen=True)
class ErasureEffort:
    rounds: int
    seconds: float
    messages: int


FULL = ErasureEffort(rounds=5, seconds=8.0, messages=10_000)
QUICK = ErasureEffort(rounds=1, seconds=0.5, messages=500)


class Tenants:
    """One tenant adds at an even rate. The messages of another, in a new namespace each time, are erased."""

    def __init__(self, server: Running, folder: Path, effort: ErasureEffort, channel: grpc.Channel) -> None:
        self.server, self._folder, self.effort = server, folder, effort
        self._numbers = count(1)
        self._memory: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        self._sessions: Any = session_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]

    def p99_us(self) -> float:
        adds = int(self.effort.seconds * ADDS_PER_SECOND) + 10
        path = requests.write(self._folder / "adds", requests.adds(adds, ["a", "b", "c", "d"], next(self._numbers)))
        shape = Shape(CALLERS, CALLERS, self.effort.seconds, ADDS_PER_SECOND)
        return self.server.load("Add", path, shape, repeat=False).p99_us

    def fill(self) -> str:
        """Add the messages that will be erased, and return their namespace."""
        number = next(self._numbers)
        namespace, source = f"erased-{number}", random.Random(number)
        for batch in range(self.effort.messages // BATCH_MESSAGES):
            messages = [requests.message(source) for _ in range(BATCH_MESSAGES)]
            session_id = f"s{batch % SESSIONS}"
            self._memory.AddBatch(
                pb.AddBatchRequest(namespace=namespace, user_id=USER, session_id=session_id, messages=messages),
                timeout=60,
            )
        until_quiet(self.server)
        return namespace

    def retain(self, namespace: str) -> None:
        policy = session_pb2.SessionPolicy(retention=LAST)
        self._sessions.SetPolicy(session_pb2.SetPolicyRequest(namespace=namespace, policy=policy), timeout=60)

    def forget(self, namespace: str) -> None:
        self._sessions.ForgetUser(session_pb2.ForgetUserRequest(namespace=namespace, user_id=USER), timeout=60)

    def left(self, namespace: str) -> int:
        listed = self._sessions.ListSessions(session_pb2.ListSessionsRequest(namespace=namespace), timeout=60)
        return sum(session.stats.message_count for session in listed.sessions)


def everything(effort: ErasureEffort) -> Iterator[Result]:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="memsidecar-bench-")))
        server = opened.enter_context(sidecar(folder / "data", "--retention-interval-seconds", "1", *QUIET))
        tenants = Tenants(server, folder, effort, opened.enter_context(grpc.insecure_channel(server.address)))
        tenants.p99_us()
        yield _compared("retention erases", tenants, tenants.retain, effort.rounds)
        yield _compared("ForgetUser erases them", tenants, tenants.forget, effort.rounds)


def _compared(what: str, tenants: Tenants, erase: Callable[[str], None], rounds: int) -> Result:
    alone, meanwhile, erased = [], [], []
    with ThreadPoolExecutor(1) as background:
        for _ in range(rounds):
            namespace = tenants.fill()
            alone.append(tenants.p99_us())
            until_quiet(tenants.server)
            erasure = background.submit(erase, namespace)
            meanwhile.append(tenants.p99_us())
            erasure.result()
            erased.append(tenants.effort.messages - tenants.left(namespace))
            while tenants.left(namespace) > SESSIONS:
                time.sleep(2 * CALM_SECONDS)
    before, during = statistics.median(alone), statistics.median(meanwhile)
    details = {"alone_p99_us": before, "meanwhile_p99_us": during, "erased_meanwhile": statistics.median(erased)}
    return Result(f"Add, p99 while {what} / alone", during / before, 1.5, at_most=True, details=details)


if __name__ == "__main__":
    for result in everything(FULL):
        print(result)
