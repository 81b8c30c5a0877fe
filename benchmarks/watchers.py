"""Compare the throughput of Adds with that of Adds while 50 callers watch their namespace.

`python -m benchmarks.watchers` measures. `python -m benchmarks.watchers ADDRESS` is those callers: one never reads, one
cancels its stream and opens another, again and again, and the others read until they are terminated.
"""

import asyncio
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc.aio

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.retrieval.watching import until_quiet
from benchmarks.servers import ROOT, Figures, Running, Shape, sidecar
from memsidecar.v1.session_pb2 import WatchRequest, WatchResponse

WATCHERS = 50
CALLERS, CONNECTIONS = 32, 4
MAX_ADDS_PER_SECOND = 8_000
RECONNECT_SECONDS = 0.1
WATCH = "/memsidecar.v1.SessionService/Watch"


@dataclass(frozen=True)
class WatchEffort:
    rounds: int
    seconds: float


FULL = WatchEffort(rounds=6, seconds=5.0)
QUICK = WatchEffort(rounds=1, seconds=0.5)


def everything(effort: WatchEffort) -> Iterator[Result]:
    """Measure rounds without and with watchers in turn, so that both have the same conditions."""
    alone, watched = [], []
    with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as name, sidecar(Path(name) / "data") as server:
        _adds(server, Path(name), effort, 0)  # loads tokenizers, and fills caches
        for number in range(1, effort.rounds + 1):
            until_quiet(server)
            alone.append(_adds(server, Path(name), effort, 2 * number))
            until_quiet(server)
            with watching(server):
                watched.append(_adds(server, Path(name), effort, 2 * number + 1))
    yield compared(alone, watched)


def _adds(server: Running, folder: Path, effort: WatchEffort, seed: int) -> Figures:
    count = int(effort.seconds * MAX_ADDS_PER_SECOND)
    path = requests.write(folder / "adds", requests.adds(count, [f"s{at}" for at in range(CALLERS)], seed))
    return server.load("Add", path, Shape(CALLERS, CONNECTIONS, effort.seconds), repeat=False)


def compared(alone: list[Figures], watched: list[Figures]) -> Result:
    ratios = [after.calls_per_second / before.calls_per_second for before, after in zip(alone, watched, strict=True)]
    return Result(
        f"Add, calls a second with {WATCHERS} watchers (one never reads, one reconnects again and again) / without",
        statistics.median(ratios),
        0.9,
        details={
            "alone_per_second": statistics.median(one.calls_per_second for one in alone),
            "watched_per_second": statistics.median(one.calls_per_second for one in watched),
            "alone_p99_us": statistics.median(one.p99_us for one in alone),
            "watched_p99_us": statistics.median(one.p99_us for one in watched),
        },
    )


@contextmanager
def watching(server: Running) -> Iterator[None]:
    """Watch from a process of its own, which prints a line when all streams are open."""
    command = [sys.executable, "-m", "benchmarks.watchers", server.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


async def watch(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        call: Any = channel.unary_stream(
            WATCH, request_serializer=WatchRequest.SerializeToString, response_deserializer=WatchResponse.FromString
        )
        streams = [call(WatchRequest()) for _ in range(WATCHERS - 1)]
        for stream in streams:
            await stream.read()
        print("watching", flush=True)
        await asyncio.gather(_reconnect(call), *(_read(stream) for stream in streams[1:]))


async def _read(stream: Any) -> None:
    while await stream.read() is not grpc.aio.EOF:
        pass


async def _reconnect(call: Any) -> None:
    while True:
        stream = call(WatchRequest())
        await stream.read()
        await asyncio.sleep(RECONNECT_SECONDS)
        stream.cancel()


if __name__ == "__main__":
    if sys.argv[1:]:
        asyncio.run(watch(sys.argv[1]))
    else:
        print(*everything(FULL), sep="\n")
