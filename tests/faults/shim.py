"""Libraries that are loaded into a sidecar before all others: for its fsyncs (`shim.c`), its writes, its clock."""

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCES = Path(__file__).parent
WAL = "journal.db-wal"
DB = "journal.db"


class Sync(NamedTuple):
    start_ns: int
    end_ns: int
    path: str


@cache
def library(name: str) -> str:
    """Build the library of the source with this name, once for this process."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip(f"NOT TESTED: what needs {name}.c in the sidecar. There is no C compiler named cc here.")
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    built = f"{folder}/{name}.so"
    build = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", built, str(SOURCES / f"{name}.c"), "-ldl"]
    subprocess.run(build, check=True)
    return built


class Shim:
    """Trace file and order file of one test; `environ` is the environment of the traced process."""

    def __init__(self, folder: Path) -> None:
        self._trace, self._orders = folder / "trace", folder / "orders"
        self.environ = {
            "LD_PRELOAD": library("shim"),
            "FAULT_TRACE": str(self._trace),
            "FAULT_ORDERS": str(self._orders),
        }

    def syncs(self, name: str) -> list[Sync]:
        """Return the successful calls on files of this name, in order."""
        return [sync for sync in self._traced(name) if sync.end_ns]

    def held(self, name: str) -> int:
        """Return how many calls on files of this name were blocked by a hold order so far."""
        return sum(not sync.end_ns for sync in self._traced(name))

    def _traced(self, name: str) -> list[Sync]:
        # A line without its end is still being written.
        lines = self._trace.read_text().split("\n")[:-1] if self._trace.exists() else []
        parsed = [line.split(" ", 2) for line in lines]
        return [Sync(int(start), int(end), path) for start, end, path in parsed if path.endswith(f"/{name}")]

    def order(self, *orders: str) -> None:
        """Replace the order file atomically, because the process may be reading it."""
        fresh = self._orders.with_suffix(".new")
        fresh.write_text("".join(f"{order}\n" for order in orders))
        fresh.rename(self._orders)
