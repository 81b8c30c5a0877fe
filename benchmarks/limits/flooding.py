"""Measure tenant B while tenant A floods, compared with B alone on the same sidecar directly before."""

import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import grpc

from benchmarks import requests
from benchmarks.servers import LOAD, SERVICE, Figures, Running, Shape, sidecar
from memsidecar.access.access_file import token_lines
from memsidecar.access.bearer_token import new_token
from memsidecar.access.policy import AccessRole
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1 import memory_pb2_grpc
from memsidecar.v1.context_pb2 import BuildContextRequest

FLOODS = ("BuildContext", "GetAll", "Add")
CALLERS = (16, 64)
SESSIONS, MESSAGES = 16, 60
CALLS_PER_SECOND = 25.0
"Even rate of B: far below the capacity of the sidecar, and below the quota."
RAMP_SECONDS = 0.5
SETTLING_SECONDS = 8.0
"Time for the background tasks to process the added messages."


@dataclass(frozen=True)
class FloodEffect:
    """Ratios relative to B alone. A `rate_quota` of 0 means none."""

    flood: str
    callers: int
    rate_quota: float
    p50_ratio: float
    p99_ratio: float
    alone: dict[str, Any]
    meanwhile: dict[str, Any]


@dataclass(frozen=True)
class Tenants:
    """Tenants A and B, each with a token for its own namespace."""

    server: Running
    tokens: dict[str, str]


@contextmanager
def sharing(folder: Path, rate_quota: float) -> Iterator[Tenants]:
    tokens = {namespace: new_token() for namespace in ("a", "b")}
    access = folder / f"access-{rate_quota:g}.toml"
    lines = (token_lines(token, namespace, [namespace], AccessRole.WRITE, None) for namespace, token in tokens.items())
    access.write_text("\n".join(lines))
    flags = ("--index", "volatile", "--access-file", str(access), "--quota-calls-per-second", str(rate_quota))
    with sidecar(folder / f"quota-{rate_quota:g}", *flags) as server:
        yield Tenants(server, {namespace: token.text for namespace, token in tokens.items()})


def fill(tenants: Tenants) -> None:
    source = random.Random(1)
    with grpc.insecure_channel(tenants.server.address) as channel:
        stub: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        for namespace, token in tenants.tokens.items():
            bearer = (("authorization", f"Bearer {token}"),)
            for session in _sessions():
                messages = [requests.message(source) for _ in range(MESSAGES)]
                batch = pb.AddBatchRequest(session_id=session, namespace=namespace, messages=messages)
                stub.AddBatch(batch, timeout=60, metadata=bearer)
                time.sleep(1 / CALLS_PER_SECOND)
    time.sleep(SETTLING_SECONDS)


def noticed(tenants: Tenants, folder: Path, rate_quota: float, seconds: float) -> Iterator[FloodEffect]:
    server, token = tenants.server, tenants.tokens["b"]
    quiet = requests.write(folder / "quiet", _asked("GetRecent", "b", 1))
    shape = Shape(4, 1, seconds, CALLS_PER_SECOND)
    for flood in FLOODS:
        for callers in CALLERS:
            alone = server.load("GetRecent", quiet, shape, repeat=True, token=token)
            with _flooding(tenants, flood, callers, folder, seconds + 2 * RAMP_SECONDS):
                meanwhile = server.load("GetRecent", quiet, shape, repeat=True, token=token)
            yield _compared(flood, callers, rate_quota, alone, meanwhile)


def _compared(flood: str, callers: int, rate_quota: float, alone: Figures, meanwhile: Figures) -> FloodEffect:
    return FloodEffect(
        flood,
        callers,
        rate_quota,
        meanwhile.p50_us / alone.p50_us,
        meanwhile.p99_us / alone.p99_us,
        asdict(alone),
        asdict(meanwhile),
    )


@contextmanager
def _flooding(tenants: Tenants, method: str, callers: int, folder: Path, seconds: float) -> Iterator[None]:
    """Send calls at full speed and ignore errors."""
    path = requests.write(folder / "flood", _asked(method, "a", int(seconds * 10_000) if method == "Add" else 1))
    command = [
        str(LOAD),
        "-address",
        tenants.server.address,
        "-token",
        tenants.tokens["a"],
        "-method",
        SERVICE + method,
        "-requests",
        str(path),
    ]
    command += ["-callers", str(callers), "-connections", "4", "-seconds", str(seconds), "-repeat=true"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        time.sleep(RAMP_SECONDS)
        yield
    finally:
        process.wait(60)


def _asked(method: str, namespace: str, rounds: int) -> Iterator[bytes]:
    source = random.Random(namespace + method)
    for number in range(max(rounds, SESSIONS)):
        session = f"s{number % SESSIONS}"
        if method == "Add":
            request: Any = pb.AddRequest(message=requests.message(source))
        elif method == "BuildContext":
            request = BuildContextRequest(query="was the invoice paid last week?")
        elif method == "GetAll":
            request = pb.GetAllRequest(page_size=100)
        else:
            request = pb.GetRecentRequest(n=50)
        request.session_id, request.namespace = session, namespace
        yield request.SerializeToString()


def _sessions() -> list[str]:
    return [f"s{number}" for number in range(SESSIONS)]
