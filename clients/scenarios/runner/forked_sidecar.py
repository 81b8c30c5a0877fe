"""Sidecars that a fork server starts: the client of the fork server, and its child processes."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from select import select
from typing import IO

SCENARIOS = Path(__file__).parents[1]


class ForkedSidecar:
    """A child of the fork server, with the part of Popen's interface that the runner uses."""

    def __init__(self, pid: int, stdout: IO[bytes], status: IO[bytes]) -> None:
        self.pid = pid
        self.stdout = stdout
        self._status = status
        self._exited = False

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        return 0 if self._wait(0) else None

    def wait(self, timeout: float) -> None:
        """Wait until the sidecar has exited. Raises subprocess.TimeoutExpired."""
        if not self._wait(timeout):
            raise subprocess.TimeoutExpired(f"sidecar {self.pid}", timeout)

    def _wait(self, timeout: float) -> bool:
        """Return whether the supervisor has closed the status pipe, which it does after the sidecar's exit."""
        if not self._exited and select([self._status], [], [], timeout)[0]:
            self._exited = True
            self._status.close()
        return self._exited


class ForkServer:
    """Client of the fork server process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def _connection(self) -> socket.socket:
        """Start the process on first use."""
        if self._socket is None:
            self._socket, remote = socket.socketpair()
            environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}
            command = [sys.executable, "-m", "runner.fork_server", str(remote.fileno())]
            with remote:
                self._process = subprocess.Popen(command, cwd=SCENARIOS, env=environment, pass_fds=[remote.fileno()])
        return self._socket

    def start(self, arguments: list[str], log: IO[bytes], broken: str = "") -> ForkedSidecar:
        """Start `memsidecar` with these arguments. `broken` names an RPC to break."""
        stdout, stdout_write = os.pipe()
        status, status_write = os.pipe()
        request = json.dumps([arguments, broken, str(Path.cwd())]).encode()
        descriptors = [stdout_write, log.fileno(), status_write]
        with self._lock:  # the connection is a stream: one request at a time, each answered by its process id
            socket.send_fds(self._connection(), [request], descriptors)
            os.close(stdout_write)
            os.close(status_write)
            status_file = os.fdopen(status, "rb", buffering=0)
            pid = status_file.readline()
        if not pid:
            raise RuntimeError("the fork server has exited")
        return ForkedSidecar(int(pid), os.fdopen(stdout, "rb"), status_file)

    def close(self) -> None:
        if self._socket and self._process:
            self._socket.close()
            self._process.wait()
