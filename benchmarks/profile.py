"""Measure the parts of a durable Add inside the sidecar: `python -m benchmarks.profile`.

The parts run one after the other on one thread, without gRPC: validation and token counts, which belong to the event
loop, then the committer's work on a group of 1, 16 and 100 messages.
"""

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import requests
from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import Append, PendingCommand
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.sqlite.writer import Writer
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1 import memory_pb2 as pb

MESSAGES = 3_200
PARTS = {"_stage": "check ids, assign sequences, encode", "_execute": "write and sync (SQLite)", "_publish": "publish"}


class Timed:
    """Accumulates the time spent in some methods of the writer."""

    def __init__(self, writer: Writer) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        for name in PARTS:
            setattr(writer, name, self._timed(name, getattr(writer, name)))

    def _timed(self, name: str, method: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(argument: Any) -> Any:
            start = time.perf_counter()
            try:
                return method(argument)
            finally:
                self.seconds[name] += time.perf_counter() - start

        return call


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="memsidecar-profile-") as folder:
        journal = SqliteJournal(Path(folder))
        counters = CounterRegistry("o200k_base")
        counters.default.warm()
        memory = WorkingMemory(journal, counters, WorkingLimits())
        source = random.Random(1)
        encoded = list(requests.adds(4 * MESSAGES, [f"s{n}" for n in range(16)], 1))
        received = [pb.AddRequest.FromString(one) for one in encoded]
        _show("count tokens", _each(lambda one: counters.default.count(one.message.content), received))
        drafts = [memory.add.validator(one.message, "message") for one in received]
        fresh = [requests.message(source) for _ in range(MESSAGES)]
        _show("check, count and encode", _each(lambda one: memory.add.validator(one, "message"), fresh))
        journal.close()
    for size in (1, 16, 100):
        _commits(size, [Append(SessionKey("default", f"s{n % 16}"), "", [draft]) for n, draft in enumerate(drafts)])


def _commits(size: int, commands: list[Append]) -> None:
    with tempfile.TemporaryDirectory(prefix="memsidecar-profile-") as folder:
        journal = SqliteJournal(Path(folder))
        WorkingMemory(journal, CounterRegistry("chars4"), WorkingLimits())
        timed = Timed(journal._writer)
        journal._committer.close()
        for start in range(0, MESSAGES, size):
            journal._writer.write([PendingCommand(one) for one in commands[start : start + size]])
        for name, part in PARTS.items():
            _show(f"group of {size}: {part}", timed.seconds[name] / MESSAGES)
        journal.close()


def _each(work: Callable[[Any], object], items: list[Any]) -> float:
    start = time.perf_counter()
    for item in items:
        work(item)
    return (time.perf_counter() - start) / len(items)


def _show(part: str, seconds: float) -> None:
    print(f"{part:45} {seconds * 1e6:7.1f} us a message")


if __name__ == "__main__":
    main()
