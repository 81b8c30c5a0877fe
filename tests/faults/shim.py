"""A sidecar whose fsyncs are watched, failed, slowed down or held up; `shim.c` says how."""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).with_name("shim.c")
WAL = "journal.db-wal"
DB = "journal.db"


class Sync(NamedTuple):
    start_ns: int
    end_ns: int
    path: str


class Shim:
    """Builds the library in a folder of the test's own; `environ` is for the process to be watched."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("NOT TESTED: what happens at fsync. It needs a C compiler named cc, and there is none here.")
        library, self._trace, self._orders = folder / "shim.so", folder / "trace", folder / "orders"
        build = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", str(library), str(SOURCE), "-ldl"]
        subprocess.run(build, check=True)
        self.environ = {
            "LD_PRELOAD": str(library),
            "FAULT_TRACE": str(self._trace),
            "FAULT_ORDERS": str(self._orders),
        }

    def syncs(self, name: str) -> list[Sync]:
        """The calls that succeeded on files of this name, in order."""
        return [sync for sync in self._traced(name) if sync.end_ns]

    def held(self, name: str) -> int:
        """How many calls on files of this name have begun to wait for other orders so far."""
        return sum(not sync.end_ns for sync in self._traced(name))

    def _traced(self, name: str) -> list[Sync]:
        # Behind the last end of a line is what is being written at the moment, or nothing.
        lines = self._trace.read_text().split("\n")[:-1] if self._trace.exists() else []
        parsed = [line.split(" ", 2) for line in lines]
        return [Sync(int(start), int(end), path) for start, end, path in parsed if path.endswith(f"/{name}")]

    def order(self, *orders: str) -> None:
        """Replace the orders; at once as a whole, because the process may be reading them."""
        fresh = self._orders.with_suffix(".new")
        fresh.write_text("".join(f"{order}\n" for order in orders))
        fresh.rename(self._orders)
