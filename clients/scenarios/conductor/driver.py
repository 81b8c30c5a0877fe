"""A language's driver: a process that is told in JSON lines what to call, and answers in JSON lines what came of it."""

import itertools
import json
import os
import subprocess
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

ANSWER_SECONDS = 90
END_SECONDS = 20


class DriverFailed(Exception):
    """The driver ended, said something that is none of the protocol, or took too long."""


class Driver:
    """Several commands may be under way; each answer names the command that it belongs to."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_clean(environment), text=True, encoding="utf-8"
        )
        self._ids = itertools.count(1)
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._ended = ""
        self._lock, self._writing = threading.Lock(), threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def tell(self, **command: Any) -> dict[str, Any]:
        """The answer to a command, whichever it is."""
        number, waiting = next(self._ids), Future[dict[str, Any]]()
        with self._lock:
            if self._ended:
                raise DriverFailed(self._ended)
            self._waiting[number] = waiting
        with suppress(OSError):  # it has ended, and whoever reads is about to find out
            self._send({"id": number, **command})
        try:
            return waiting.result(ANSWER_SECONDS)
        except TimeoutError:
            raise DriverFailed(f"no answer to {command['do']} within {ANSWER_SECONDS} seconds") from None

    def _send(self, command: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with self._writing:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()

    def end(self) -> None:
        """Closing its input tells a driver to end."""
        assert self._process.stdin is not None
        try:
            with suppress(OSError):
                self._process.stdin.close()
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        line, why = "", "the driver has ended"
        try:
            with self._process.stdout as lines:
                for line in lines:
                    answer = json.loads(line)
                    self._waiting.pop(answer["id"]).set_result(answer)
        except (ValueError, KeyError, TypeError):
            why = f"the driver said {line.strip()[:200]!r}"
            self._process.kill()
        with self._lock:
            self._ended = why
        for waiting in self._waiting.values():
            waiting.set_exception(DriverFailed(why))


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what would tell a client where to go, but for what the scenario says."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}
    return {**kept, **environment}
