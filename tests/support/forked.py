"""Run commands of memsidecar as forks of a process that has loaded its code: loading takes most of the time of a start.

All else is as with `python -m memsidecar`: a separate process with its own arguments, environment and standard
streams, which starts in `memsidecar.__main__.main`, waits for its threads and runs its exit handlers. The tests of the
command line and of starting cover what exec and the end of an interpreter do beyond that, and so does each test that
gives an environment.
"""

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO

from tests.support.fork_server import MAX_REQUEST_BYTES
from tests.support.waiting import HANG_SECONDS


class ForkServer:
    """The process that forks. It ends when its socket is closed."""

    def __init__(self, preloaded: str) -> None:
        environ = {**os.environ, "LD_PRELOAD": preloaded} if preloaded else None
        self._socket, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with inner:
            command = [sys.executable, "-m", "tests.support.fork_server", str(inner.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[inner.fileno()], stdout=subprocess.DEVNULL, env=environ)
        atexit.register(self.close)

    def fork(self, arguments: Sequence[str], environ: Mapping[str, str], descriptors: Sequence[int]) -> None:
        request = json.dumps([list(arguments), dict(environ), str(Path.cwd())]).encode()
        assert len(request) <= MAX_REQUEST_BYTES
        socket.send_fds(self._socket, [request], descriptors)

    def close(self) -> None:
        self._socket.close()
        self._process.wait(HANG_SECONDS)


@cache
def fork_server(preloaded: str) -> ForkServer:
    """Return the fork server of this process whose children have a library loaded before all others, or none."""
    return ForkServer(preloaded)


class Forked:
    """The part of `subprocess.Popen` that tests use, for a process that is not a child of this one."""

    def __init__(self, arguments: Sequence[str], environ: Mapping[str, str], stderr: int) -> None:
        reading, writing = os.pipe()
        status, status_writer = os.pipe()
        fork_server(environ.get("LD_PRELOAD", "")).fork(arguments, environ, (writing, stderr, status_writer))
        os.close(writing)
        os.close(status_writer)
        self.stdout: IO[bytes] = os.fdopen(reading, "rb")
        self._status: IO[bytes] = os.fdopen(status, "rb", buffering=0)
        self.pid = int(self._status.readline())
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, negative for a signal, once the kernel has freed all resources of the process."""
        if self._code is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            self._code = int(self._status.readline())
            self._status.close()
        return self._code

    def poll(self) -> int | None:
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(*arguments: str, timeout: float, environ: Mapping[str, str] = os.environ) -> subprocess.CompletedProcess[str]:
    """Run a command that prints less than a pipe holds. One that does not end is killed, and fails the test."""
    with tempfile.TemporaryFile() as errors:
        process = Forked(arguments, environ, errors.fileno())
        with process.stdout:
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(HANG_SECONDS)
                raise
            output = process.stdout.read().decode()
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, output, errors.read().decode())
