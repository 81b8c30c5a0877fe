"""Measure the disk use of the index after many small writes."""

import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import requests
from benchmarks.measuring import Result
from benchmarks.retrieval.effort import Effort
from benchmarks.retrieval.watching import IndexFiles, until_indexed, until_ready
from benchmarks.servers import Shape, sidecar

CALLERS = 16
SESSIONS = [f"growth-{n}" for n in range(CALLERS)]
AT_MOST_SECONDS = 600
FRAGMENTS, DISK = 50, 3


def growth(effort: Effort, folder: Path) -> Iterator[Result]:
    with sidecar(folder / "data", "--index", "lancedb") as server:
        until_ready(server)
        path = requests.write(folder / "adds", requests.adds(effort.single_adds, SESSIONS, 1))
        server.load("Add", path, Shape(CALLERS, 1, AT_MOST_SECONDS), repeat=False)
        files = IndexFiles.of(folder / "data")
        until_indexed(files, effort.single_adds)
        time.sleep(effort.idle_seconds)
        yield from _figures(files, f"{effort.single_adds:,} single Adds, {effort.idle_seconds:.0f} s later")


def _figures(files: IndexFiles, name: str) -> Iterator[Result]:
    used, live = files.disk_bytes(), files.live_bytes()
    details: dict[str, float] = {"versions": files.versions()}
    yield Result(f"{name}: fragments", files.fragments(), FRAGMENTS, at_most=True, unit="", details=details)
    details = {"bytes": used, "live_bytes": live}
    yield Result(f"{name}: disk use of the index / of its rows alone", used / live, DISK, at_most=True, details=details)
