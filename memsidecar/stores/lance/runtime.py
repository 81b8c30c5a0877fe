"""LanceDB's event loop, threads, error translation."""

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

from memsidecar.stores.contract.index import IndexUnavailable

T = TypeVar("T")

_SYSTEM_ERROR = re.compile(r"os error (\d+)")
# What a damaged table makes the system say; anything else of the system's (a full disk, no more files) passes.
_OF_DAMAGE = {errno.ENOENT, errno.EIO, errno.EISDIR, errno.ENOTDIR, errno.EINVAL}
_LONGEST_MESSAGE = 300

NICENESS = 10


class Unreadable(IndexUnavailable):
    """What is stored is not what was written, as far as can be told: waiting will not help."""


class LanceRuntime:
    """Call it with a coroutine of LanceDB's, from any thread, and wait."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="memsidecar-lance", daemon=True)
        self._thread.start()

    def __call__(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._loop.is_closed():
            coroutine.close()
            raise IndexUnavailable("the index is closed")
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()
        except Exception as error:  # a panic in Rust is one too, and its class has no name here
            raise translated(error) from error

    def close(self) -> None:
        """Nobody may be waiting any more."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def translated(error: Exception) -> IndexUnavailable:
    text = f"{type(error).__name__}: {error}"
    kind = IndexUnavailable if _is_the_systems(error, text) else Unreadable
    return kind(text[:_LONGEST_MESSAGE])


def _is_the_systems(error: Exception, text: str) -> bool:
    numbers = {int(number) for number in _SYSTEM_ERROR.findall(text)}
    if isinstance(error, OSError) and error.errno is not None:
        numbers.add(error.errno)
    return bool(numbers - _OF_DAMAGE) or "Resources exhausted" in text


def start_workers() -> None:
    """Before anything else is asked of LanceDB: it starts its threads with the first question, and keeps them."""
    starting = Thread(target=_start, name="memsidecar-lance-start")
    starting.start()
    starting.join()


def _start() -> None:
    if sys.platform == "linux":
        with suppress(OSError):  # where the system forbids it, they are like all others
            os.nice(NICENESS)
    asyncio.run(_ask_something())


async def _ask_something() -> None:
    (await lancedb.connect_async("memory://")).close()  # type: ignore[no-untyped-call]
