"""LanceDB's event loop and threads, and the translation of its errors."""

import asyncio
import errno
import os
import re
import sys
from collections.abc import Coroutine
from contextlib import suppress
from threading import Thread
from typing import Any, TypeVar

import lancedb

from memsidecar.domain.statistics import OperationStatistics
from memsidecar.stores.contract.index import IndexUnavailable

T = TypeVar("T")

_SYSTEM_ERROR = re.compile(r"os error (\d+)")
# System errors that a damaged table causes. Others (a full disk, too many open files) are temporary.
_DAMAGE_ERRORS = {errno.ENOENT, errno.EIO, errno.EISDIR, errno.ENOTDIR, errno.EINVAL}
_MAX_MESSAGE_CHARS = 300

NICENESS = 10


class Unreadable(IndexUnavailable):
    """The stored data is probably damaged: a retry will not help."""


class LanceRuntime:
    """Runs coroutines of LanceDB on an event loop of its own. Any thread may call it, and waits for the result."""

    def __init__(self) -> None:
        self.calls = OperationStatistics()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="memsidecar-lance", daemon=True)
        self._thread.start()

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            coroutine.close()
            raise IndexUnavailable("the index is closed")
        try:
            with self.calls.measured():
                return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
        except Exception as error:  # panics of Rust as well: their class cannot be imported
            raise translated(error) from error

    def close(self) -> None:
        """Stop the event loop. No call may be waiting."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def translated(error: Exception) -> IndexUnavailable:
    text = f"{type(error).__name__}: {error}"
    kind = IndexUnavailable if _is_temporary(error, text) else Unreadable
    return kind(text[:_MAX_MESSAGE_CHARS])


def _is_temporary(error: Exception, text: str) -> bool:
    numbers = {int(number) for number in _SYSTEM_ERROR.findall(text)}
    if isinstance(error, OSError) and error.errno is not None:
        numbers.add(error.errno)
    return bool(numbers - _DAMAGE_ERRORS) or "Resources exhausted" in text


def start_workers() -> None:
    """Start LanceDB's threads, with a lower priority. LanceDB starts them with its first call, and keeps them."""
    starting = Thread(target=_start, name="memsidecar-lance-start")
    starting.start()
    starting.join()


def _start() -> None:
    if sys.platform == "linux":
        with suppress(OSError):  # if the system forbids it, they run with normal priority
            os.nice(NICENESS)
    asyncio.run(_first_call())


async def _first_call() -> None:
    (await lancedb.connect_async("memory://")).close()  # type: ignore[no-untyped-call]
