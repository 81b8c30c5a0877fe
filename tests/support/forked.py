"""Commands of memsidecar, forked from a process that has loaded its code: loading is most of what a start costs.

Everything else is as with `python -m memsidecar`: a process of its own, with arguments, environment and standard
streams of its own, which begins in `memsidecar.__main__.main` and ends as an interpreter ends. What exec does beyond
that is seen by the tests of the command line and of starting, and by everybody who gives an environment.
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

from tests.support.nursery import MOST_REQUEST_BYTES

END_SECONDS = 30


class Nursery:
    """The process that is forked. It ends when nobody is at its door any more."""

    def __init__(self) -> None:
        self._door, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with inner:
            command = [sys.executable, "-m", "tests.support.nursery", str(inner.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[inner.fileno()], stdout=subprocess.DEVNULL)
        atexit.register(self.close)

    def ask(self, arguments: Sequence[str], environ: Mapping[str, str], descriptors: Sequence[int]) -> None:
        request = json.dumps([list(arguments), dict(environ), str(Path.cwd())]).encode()
        assert len(request) <= MOST_REQUEST_BYTES
        socket.send_fds(self._door, [request], descriptors)

    def close(self) -> None:
        self._door.close()
        self._process.wait(END_SECONDS)


@cache
def nursery() -> Nursery:
    return Nursery()


class Forked:
    """As much of `subprocess.Popen` as tests use, for a process that is somebody else's child."""

    def __init__(self, arguments: Sequence[str], environ: Mapping[str, str], stderr: int) -> None:
        reading, writing = os.pipe()
        status, told = os.pipe()
        nursery().ask(arguments, environ, (writing, stderr, told))
        os.close(writing)
        os.close(told)
        self.stdout: IO[bytes] = os.fdopen(reading, "rb")
        self._status: IO[bytes] = os.fdopen(status, "rb", buffering=0)
        self.pid = int(self._status.readline())
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, negative for a signal, as soon as the kernel has taken everything back from it."""
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
    """A command that says less than a pipe holds, until its end; one that does not end is killed and fails the test."""
    with tempfile.TemporaryFile() as errors:
        process = Forked(arguments, environ, errors.fileno())
        with process.stdout:
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(END_SECONDS)
                raise
            said = process.stdout.read().decode()
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, code, said, errors.read().decode())
