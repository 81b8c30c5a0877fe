"""Compare the CPU time of an Add with metrics, scraped, and without.

Two sidecars are loaded in turn with the same requests, in short rounds and alternating order; the other one is stopped
meanwhile. CPU time is what the scheduler counts for the threads of the process: throughput differs by several per cent
from round to round, and so does what else the machine does.
"""

import asyncio
import statistics
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.servers import Running, Shape, sidecar
from memsidecar.api.interceptors.call_statistics import CallStatistics

CALLERS, CONNECTIONS = 32, 4
MAX_ADDS_PER_SECOND = 8_000
SCRAPE_SECONDS = 5.0
QUIET = ("--index", "off", "--log-calls", "none")
"Without the index and lines of slow calls, whose work varies from round to round."
MAX_COST, MAX_SHARE = 1.02, 0.02
REPETITIONS = 50_000


@dataclass(frozen=True)
class MetricsEffort:
    rounds: int
    seconds: float


FULL = MetricsEffort(rounds=100, seconds=1.0)
QUICK = MetricsEffort(rounds=2, seconds=0.3)


def everything(effort: MetricsEffort) -> Iterator[Result]:
    with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as name, ExitStack() as opened:
        folder = Path(name)
        sides = {on: opened.enter_context(sidecar(folder / on, "--metrics", on, *QUIET)) for on in ("off", "on")}
        costs: dict[str, list[float]] = {"off": [], "on": []}
        with scraping(sides["on"]):
            for number in range(effort.rounds + 1):
                path = _requests(folder, effort, number)
                for on, other in (("off", "on"), ("on", "off"))[:: 1 if number % 2 else -1]:
                    with sides[other].paused():
                        costs[on].append(_cpu_us(sides[on], path, effort))
    # The first round loads the tokenizer, and fills caches.
    ratio = compared(costs["off"][1:], costs["on"][1:])
    yield ratio
    yield interceptor_cost(ratio.details["off_us"])


def _requests(folder: Path, effort: MetricsEffort, number: int) -> Path:
    sessions = [f"s{number}-{at}" for at in range(CALLERS)]
    count = int(effort.seconds * MAX_ADDS_PER_SECOND)
    return requests.write(folder / "adds", requests.adds(count, sessions, number))


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
    """Read /metrics again and again, as Prometheus does. While the server is stopped, a scrape waits."""
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


def compared(off: list[float], on: list[float]) -> Result:
    """Compare the lower quartiles: what else the machine does adds to the CPU time of a round, and never takes away."""
    bare, measured = (statistics.quantiles(costs, n=4)[0] for costs in (off, on))
    return Result(
        f"Add, CPU time with metrics, scraped every {SCRAPE_SECONDS:g} s / without",
        measured / bare,
        MAX_COST,
        at_most=True,
        details={"off_us": bare, "on_us": measured},
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
