"""LanceDB's own threads, which compact and index, give way to those that answer calls.

Linux lets every thread be nice by itself, and a new one is as nice as the one that started it. So LanceDB's come from a
thread that gives way, and Python's own stay as they are: one that had to wait with the GIL in hand would stop them all.
"""

import asyncio
import os
import sys
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
        os.nice(NICENESS)
    asyncio.run(_ask_something())


async def _ask_something() -> None:
    (await lancedb.connect_async("memory://")).close()  # type: ignore[no-untyped-call]
