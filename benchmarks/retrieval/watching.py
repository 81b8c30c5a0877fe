"""Observe the index of a running sidecar through LanceDB's files, because there is no RPC for it.

It only reads, and opens the table again for each sample, because an open handle does not see new rows.
"""

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import lancedb
from grpc_health.v1 import health_pb2, health_pb2_grpc

from benchmarks.servers import Running
from memsidecar.stores.sqlite.rows import last_lsn

EPISODIC = "memsidecar.episodic"
QUIET_SECONDS = 4.0
"Longer than the idle time after which the sidecar runs maintenance."
QUIET_CPU_SHARE = 0.03
WAIT_SECONDS = 900.0


class WaitTimeout(RuntimeError):
    """A condition was not met in time."""


@dataclass(frozen=True)
class IndexFiles:
    """Tables in a sidecar's data directory."""

    folder: Path

    @classmethod
    def of(cls, data_dir: Path) -> "IndexFiles":
        return cls(data_dir / "index")

    def rows(self) -> int:
        return sum(int(table.count_rows()) for table in self._tables())

    def newest_us(self, after_us: int) -> int:
        """Return the time of the newest indexed message; `after_us` if none is newer."""
        where = f"time_us > {int(after_us)}"
        found = [table.search().where(where).select(["time_us"]).to_arrow() for table in self._tables()]
        times = [int(time_us) for one in found for time_us in one["time_us"].to_pylist()]
        return max([after_us, *times])

    def fragments(self) -> int:
        return sum(int(table.stats()["fragment_stats"]["num_fragments"]) for table in self._tables())

    def versions(self) -> int:
        return sum(len(table.list_versions()) for table in self._tables())

    def disk_bytes(self) -> int:
        return _size(self.folder)

    def live_bytes(self) -> int:
        """Return the size of the rows alone, in a fully compacted copy without indexes and old versions."""
        with tempfile.TemporaryDirectory(prefix="memsidecar-live-") as copy:
            shutil.copytree(self.folder, copy, dirs_exist_ok=True)
            for table in IndexFiles(Path(copy))._tables():
                for _ in range(2):  # cleanup keeps the files of versions younger than a millisecond
                    table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)
                    time.sleep(0.01)
            return sum(_size(data) for data in Path(copy).glob("*.lance/data"))

    def _tables(self) -> list[Any]:
        if not self.folder.is_dir():
            return []
        database: Any = lancedb.connect(self.folder)
        return [database.open_table(path.stem) for path in sorted(self.folder.glob("*.lance"))]


def entries_logged(data_dir: Path) -> int:
    """Return the number of log entries of a running sidecar: one per Add."""
    with closing(sqlite3.connect(f"file:{data_dir}/journal.db?mode=ro", uri=True, timeout=5)) as journal:
        return last_lsn(journal)


def _size(folder: Path) -> int:
    """Return the size of a directory; files may disappear meanwhile."""
    sizes = []
    for path in folder.rglob("*"):
        try:
            sizes.append(path.stat().st_size if path.is_file() else 0)
        except FileNotFoundError:
            continue
    return sum(sizes)


def wait_for(holds: Callable[[], bool], what: str, every_seconds: float = 0.25) -> float:
    """Wait for a condition and return the seconds; a check that fails because files move is repeated."""
    start = time.monotonic()
    while time.monotonic() - start < WAIT_SECONDS:
        try:
            if holds():
                return time.monotonic() - start
        except (OSError, RuntimeError, ValueError, grpc.RpcError):
            pass
        time.sleep(every_seconds)
    raise WaitTimeout(f"waited {WAIT_SECONDS:.0f} s for {what}")


def until_ready(server: Running) -> float:
    """Wait until the health service reports retrieval as ready."""
    with grpc.insecure_channel(server.address) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service=EPISODIC)

        def serves() -> bool:
            return bool(health.Check(request, timeout=5).status == health_pb2.HealthCheckResponse.SERVING)

        return wait_for(serves, f"{EPISODIC} to serve", 0.05)


def until_indexed(files: IndexFiles, rows: int) -> float:
    """Wait until every message is in the table; exact, because the number of added messages is known."""
    return wait_for(lambda: files.rows() >= rows, f"{rows} rows in the index")


def until_quiet(server: Running) -> float:
    """Wait until the sidecar is idle: compaction, indexing and cleanup have finished."""

    def quiet() -> bool:
        before = cpu_seconds(server.process.pid)
        time.sleep(QUIET_SECONDS)
        return cpu_seconds(server.process.pid) - before < QUIET_CPU_SHARE * QUIET_SECONDS

    return wait_for(quiet, "the sidecar to rest", 0)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
