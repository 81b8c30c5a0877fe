"""LanceDB's own threads, which compact, index and search on disk, give way to those that take calls and commit.

Linux lets every thread be nice by itself, and a new one is as nice as the one that started it. So LanceDB's come from a
thread that gives way, and Python's own stay as they are. LanceDB's hold the GIL only to hand over a result.
"""

import asyncio
import os
import sys
from contextlib import suppress
from threading import Thread

import lancedb

NICENESS = 10


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
