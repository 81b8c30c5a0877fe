"""Finds or starts the shared sidecar."""

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
"Somebody may have been killed while starting another one, which takes that long to answer."
LOG_BYTES = 1 << 20


class SharedSidecar:
    """Of one data directory; to be used in one event loop."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._folder = data_dir / SHARED_FOLDER
        self._socket = self._folder / SOCKET
        self._users: int | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._reaching: asyncio.Task[None] | None = None

    async def ensure_running(self) -> None:
        """Return as soon as it answers. Raises StartRefused when it cannot be started.

        Whoever stops waiting does not stop the start: the next one finds it further on.
        """
        if self._reaching is None or self._reaching.done():
            self._reaching = asyncio.create_task(self._reach())
        await asyncio.shield(self._reaching)

    async def _reach(self) -> None:
        try:
            if self._users is None:
                _make_private(self._data_dir, self._folder)
                self._users = await _locked(self._folder / "users.lock", fcntl.LOCK_SH)
            if not self._answers():
                async with _alone(self._folder / "start.lock"):
                    if not self._answers():
                        await self._start()
        except OSError as error:
            raise StartRefused(f"{self._folder} cannot be used: {error.strerror}") from error

    async def _start(self) -> None:
        with (self._folder / "sidecar.log").open("ab") as log:
            if log.tell() > LOG_BYTES:
                log.truncate(0)
            said_before = log.seek(0, os.SEEK_END)
            self._process = self._spawn(log.fileno())
            await self._answered(self._process, Path(log.name), said_before)

    def _spawn(self, log: int) -> subprocess.Popen[bytes]:
        program = (sys.executable, "-m", f"{__package__}.sidecar_main", str(self._folder / "users.lock"))
        flags = ("--data-dir", str(self._data_dir), "--listen", f"{UNIX_SCHEME}{self._socket}", "--health-listen", "")
        # A session of its own: who ends us by our group must not end it for the others.
        return subprocess.Popen(
            (*program, *flags), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )

    async def _answered(self, process: subprocess.Popen[bytes], log: Path, said_before: int) -> None:
        ended: float | None = None
        while not self._answers():
            if process.poll() is not None:
                ended = ended or time.monotonic()
                if time.monotonic() - ended > LATE_SECONDS:
                    raise StartRefused(_last_line(log, said_before) or f"it ended with {process.returncode}")
            await asyncio.sleep(PAUSE_SECONDS)

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(PROBE_SECONDS)
            try:
                probe.connect(str(self._socket))
            except OSError:
                return False
            return True


def _make_private(data_dir: Path, folder: Path) -> None:
    """Both for nobody else; and such that they survive power loss, for the sidecar trusts a directory that it finds."""
    new = [one for one in (data_dir, *data_dir.parents) if not one.exists()]
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    for one in new:
        descriptor = os.open(one.parent, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o700)


@asynccontextmanager
async def _alone(file: Path) -> AsyncIterator[None]:
    descriptor = await _locked(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


async def _locked(file: Path, how: int) -> int:
    """The descriptor that holds the lock, which is not inherited by what we start."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    while True:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return descriptor


def _last_line(log: Path, said_before: int) -> str:
    with log.open("rb") as file:
        file.seek(said_before)
        lines = file.read().decode(errors="replace").split("\n")
    return next((line.removeprefix("memsidecar: ") for line in reversed(lines) if line), "")
