"""Compare the CPU time of an Add with metrics, scraped, and without.

Two sidecars are loaded with the same requests at the same time: for seconds at a time the machine takes up to twice the
CPU time for the same work, and both meet this alike. CPU time is what the scheduler counts for the threads of the
process. The messages are those of a system, from which nothing is learned: learning takes more time than the Adds, at
times of its own.
"""

import asyncio
import statistics
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.servers import Running, Shape, sidecar
from memsidecar.api.interceptors.call_statistics import CallStatistics
from memsidecar.v1.message_pb2 import ROLE_SYSTEM

CALLERS, CONNECTIONS = 32, 4
MAX_ADDS_PER_SECOND = 8_000
SCRAPE_SECONDS = 5.0
QUIET = ("--index", "off", "--log-calls", "none", "--summary-every-messages", "100000")
"Without the index, lines of slow calls and summaries, whose work varies from round to round."
MAX_COST, MAX_SHARE = 1.02, 0.02
REPETITIONS = 50_000


@dataclass(frozen=True)
class MetricsEffort:
    rounds: int
    seconds: float


FULL = MetricsEffort(rounds=120, seconds=2.0)
QUICK = MetricsEffort(rounds=2, seconds=0.3)


def everything(effort: MetricsEffort) -> Iterator[Result]:
    with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as name, ExitStack() as opened:
        folder = Path(name)
        sides = {on: opened.enter_context(sidecar(folder / on, "--metrics", on, *QUIET)) for on in ("off", "on")}
        pool = opened.enter_context(ThreadPoolExecutor(len(sides)))
        rounds: list[list[float]] = []
        with scraping(sides["on"]):
            for number in range(effort.rounds + 1):
                measure = partial(_cpu_us, path=_requests(folder, effort, number), effort=effort)
                rounds.append(list(pool.map(measure, sides.values())))
    # The first round loads the tokenizer, and fills caches.
    off, on = zip(*rounds[1:], strict=True)
    ratio = compared(off, on)
    yield ratio
    yield interceptor_cost(ratio.details["off_us"])


def _requests(folder: Path, effort: MetricsEffort, number: int) -> Path:
    sessions = [f"s{number}-{at}" for at in range(CALLERS)]
    count = int(effort.seconds * MAX_ADDS_PER_SECOND)
    return requests.write(folder / "adds", requests.adds(count, sessions, number, ROLE_SYSTEM))


def _cpu_us(server: Running, path: Path, effort: MetricsEffort) -> float:
    """Return the CPU time of an Add in microseconds."""
    before = _cpu_seconds(server)
    figures = server.load("Add", path, Shape(CALLERS, CONNECTIONS, effort.seconds), repeat=False)
    return (_cpu_seconds(server) - before) / figures.calls * 1e6


def _cpu_seconds(server: Running) -> float:
    """Return the CPU time of all threads, which all live as long as the process, in nanoseconds' precision."""
    threads = Path(f"/proc/{server.process.pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


@contextmanager
def scraping(server: Running) -> Iterator[None]:
    """Read /metrics again and again, as Prometheus does."""
    stopping = threading.Event()

    def scrape() -> None:
        while not stopping.wait(SCRAPE_SECONDS):
            with urllib.request.urlopen(f"http://{server.http_address}/metrics", timeout=30) as response:
                response.read()

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def compared(off: Sequence[float], on: Sequence[float]) -> Result:
    return Result(
        f"Add, CPU time with metrics, scraped every {SCRAPE_SECONDS:g} s / without",
        statistics.median(measured / bare for bare, measured in zip(off, on, strict=True)),
        MAX_COST,
        at_most=True,
        details={"off_us": statistics.median(off), "on_us": statistics.median(on)},
    )


def interceptor_cost(add_us: float) -> Result:
    """Compare the time that the interceptor adds to a call with the CPU time of an Add. No network adds noise to it."""

    async def handler(_request: object, _context: object) -> bytes:
        return b""

    counted = CallStatistics(is_enabled=True).unary("benchmarks.Add", handler)
    added_us = _fastest_us(counted) - _fastest_us(handler)
    details = {"interceptor_us": added_us, "add_us": add_us}
    return Result(
        "Add, time that its measurement adds / its CPU time", added_us / add_us, MAX_SHARE, True, details=details
    )


def _fastest_us(handler: Any) -> float:
    async def call() -> float:
        start = time.perf_counter()
        for _ in range(REPETITIONS):
            await handler(b"", None)
        return (time.perf_counter() - start) / REPETITIONS * 1e6

    return min(asyncio.run(call()) for _ in range(10))
