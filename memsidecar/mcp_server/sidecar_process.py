"""The sidecar that the MCP servers of one data directory share: found, or started by the first of them."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from memsidecar.cli.mcp_options import SHARED_FOLDER, SOCKET
from memsidecar.domain.errors import StartRefused
from memsidecar.domain.network_address import UNIX_SCHEME

PAUSE_SECONDS = 0.02
PROBE_SECONDS = 0.5
LATE_SECONDS = 3.0
"Another process may have been killed while it started the sidecar, which then needs this long to answer."
LOG_BYTES = 1 << 20


class SharedSidecar:
    """The sidecar of one data directory. Belongs to one event loop."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._folder = data_dir / SHARED_FOLDER
        self._socket = self._folder / SOCKET
        self._users: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._starting: asyncio.Task[None] | None = None

    async def ensure_running(self) -> None:
        """Return as soon as the sidecar accepts connections. Raises StartRefused when it cannot be started.

        A cancelled call does not cancel the start; the next call waits for the same one.
        """
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._find_or_start())
        await asyncio.shield(self._starting)

    async def _find_or_start(self) -> None:
        try:
            if self._users is None:
                _make_private(self._data_dir, self._folder)
                self._users = await _lock(self._folder / "users.lock", fcntl.LOCK_SH)
            if not self._accepts_connections():
                async with _exclusive_lock(self._folder / "start.lock"):
                    if not self._accepts_connections():
                        await self._start()
        except OSError as error:
            raise StartRefused(f"{self._folder} cannot be used: {error.strerror}") from error

    async def _start(self) -> None:
        with (self._folder / "sidecar.log").open("ab") as log:
            if log.tell() > LOG_BYTES:
                log.truncate(0)
            log_start = log.seek(0, os.SEEK_END)
            self._process = self._spawn(log.fileno())
            await self._wait_until_ready(self._process, Path(log.name), log_start)

    def _spawn(self, log: int) -> subprocess.Popen[bytes]:
        program = (sys.executable, "-m", f"{__package__}.sidecar_main", str(self._folder / "users.lock"))
        listen = ("--listen", f"{UNIX_SCHEME}{self._socket}", "--health-listen", "", "--http-listen", "")
        # A session of its own: a signal to our process group must not end it for the other users.
        return subprocess.Popen(
            (*program, "--data-dir", str(self._data_dir), *listen),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    async def _wait_until_ready(self, process: subprocess.Popen[bytes], log: Path, log_start: int) -> None:
        ended: float | None = None
        while not self._accepts_connections():
            if process.poll() is not None:
                ended = ended or time.monotonic()
                if time.monotonic() - ended > LATE_SECONDS:
                    raise StartRefused(_last_line(log, log_start) or f"it ended with {process.returncode}")
            await asyncio.sleep(PAUSE_SECONDS)

    def _accepts_connections(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(PROBE_SECONDS)
            try:
                probe.connect(str(self._socket))
            except OSError:
                return False
            return True


def _make_private(data_dir: Path, folder: Path) -> None:
    """Create both for this user only, and fsync them: the sidecar trusts a directory that exists."""
    new = [folder for folder in (data_dir, *data_dir.parents) if not folder.exists()]
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    for created in new:
        descriptor = os.open(created.parent, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o700)


@asynccontextmanager
async def _exclusive_lock(file: Path) -> AsyncIterator[None]:
    descriptor = await _lock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


async def _lock(file: Path, mode: int) -> int:
    """Return the descriptor that holds the lock. Child processes do not inherit it."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    while True:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return descriptor


def _last_line(log: Path, log_start: int) -> str:
    with log.open("rb") as file:
        file.seek(log_start)
        lines = file.read().decode(errors="replace").split("\n")
    return next((line.removeprefix("memsidecar serve: ") for line in reversed(lines) if line), "")
