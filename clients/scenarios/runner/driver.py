"""The driver of a variant: a process that reads commands as JSON lines and writes their results as JSON lines."""

import itertools
import json
import os
import subprocess
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

RESPONSE_SECONDS = 90
STOP_SECONDS = 20


class DriverFailed(Exception):
    """The driver exited, violated the protocol, or timed out."""


class Driver:
    """Client of a driver process. Commands run concurrently; each response has the id of its command."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_clean(environment), text=True, encoding="utf-8"
        )
        self._ids = itertools.count(1)
        self._pending: dict[int, Future[dict[str, Any]]] = {}
        self._exit_reason = ""
        self._lock, self._writing = threading.Lock(), threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def execute(self, **command: Any) -> dict[str, Any]:
        """Send a command and return its response."""
        number, pending = next(self._ids), Future[dict[str, Any]]()
        with self._lock:
            if self._exit_reason:
                raise DriverFailed(self._exit_reason)
            self._pending[number] = pending
        with suppress(OSError):  # the driver has exited; the reader thread fails the pending command
            self._send({"id": number, **command})
        try:
            return pending.result(RESPONSE_SECONDS)
        except TimeoutError:
            raise DriverFailed(f"no response to {command['do']} within {RESPONSE_SECONDS} seconds") from None

    def _send(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with self._writing:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()

    def stop(self) -> None:
        """Close the driver's input, which makes it exit."""
        assert self._process.stdin is not None
        try:
            with suppress(OSError):
                self._process.stdin.close()
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        line, reason = "", "the driver has exited"
        try:
            with self._process.stdout as lines:
                for line in lines:
                    answer = json.loads(line)
                    self._pending.pop(answer["id"]).set_result(answer)
        except (ValueError, KeyError, TypeError):
            reason = f"the driver wrote {line.strip()[:200]!r}"
            self._process.kill()
        with self._lock:
            self._exit_reason = reason
        for pending in self._pending.values():
            pending.set_exception(DriverFailed(reason))


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the process environment without MEMSIDECAR_* variables, plus those of the scenario."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}
    return {**kept, **environment}
