"""Servers under comparison, each in its own process, and the load on them."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOAD = ROOT / ".tools" / "bin" / "load"
SERVICE = "/memsidecar.v1.MemoryService/"


@dataclass(frozen=True)
class Figures:
    calls: int
    calls_per_second: float
    p50_us: float
    p99_us: float
    client_cpu_share: float


@dataclass(frozen=True)
class Shape:
    """Number of callers, each with one call in flight, number of connections, and duration.

    With a `rate`, calls are scheduled at that many per second, and wait for a free caller if there is none.
    """

    callers: int
    connections: int
    seconds: float
    rate: float = 0.0


@dataclass(frozen=True)
class Running:
    address: str
    process: subprocess.Popen[str]
    ready_seconds: float
    http_address: str = ""
    "The address of the HTTP listener of a sidecar."

    @property
    def resident_mb(self) -> float:
        return self._memory_mb("VmRSS:")

    @property
    def peak_mb(self) -> float:
        """Return the peak resident memory."""
        return self._memory_mb("VmHWM:")

    def _memory_mb(self, name: str) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
        raise RuntimeError("the system does not tell resident memory")

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the process, so that its background work does not slow down the other side."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def load(self, method: str, requests: Path, shape: Shape, repeat: bool, token: str = "") -> Figures:
        command = [str(LOAD), "-address", self.address, "-method", SERVICE + method, "-requests", str(requests)]
        command += ["-callers", str(shape.callers), "-connections", str(shape.connections)]
        command += ["-seconds", str(shape.seconds), "-rate", str(shape.rate), f"-repeat={str(repeat).lower()}"]
        command += ["-token", token]
        answer = json.loads(subprocess.check_output(command, text=True))
        if answer["failures"] or not answer["calls"]:
            raise RuntimeError(
                f"{method}: {answer['failures']} of {answer['calls']} failed: {answer.get('first_failure')}"
            )
        share = answer["client_cpu_seconds"] / answer["seconds"]
        return Figures(answer["calls"], answer["calls_per_second"], answer["p50_us"], answer["p99_us"], share)


@contextmanager
def empty_handler(kind: str) -> Iterator[Running]:
    with _started([sys.executable, "-m", "benchmarks.empty", kind]) as (process, line, seconds):
        yield Running(f"127.0.0.1:{line.strip()}", process, seconds)


@contextmanager
def sidecar(data_dir: Path, *flags: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "memsidecar", "serve", "--listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0"]
    command += ["--http-listen", "127.0.0.1:0"]
    with _started([*command, "--data-dir", str(data_dir), *flags]) as (process, line, seconds):
        ready = json.loads(line)
        yield Running(ready["listen"], process, seconds, ready["http_listen"])


@contextmanager
def _started(command: list[str]) -> Iterator[tuple[subprocess.Popen[str], str, float]]:
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield process, line, time.monotonic() - start
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
