"""All measurements of retrieval, in full or as a quick check."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measuring import Result
from benchmarks.retrieval.adding import adding
from benchmarks.retrieval.effort import Effort
from benchmarks.retrieval.growth import growth
from benchmarks.retrieval.searching import searching

FULL = Effort(
    messages=100_000,
    seconds=3,
    rounds=5,
    cold_rounds=3,
    add_seconds=20,
    add_rounds=3,
    single_adds=10_000,
    idle_seconds=60,
)
QUICK = Effort(
    messages=3_000,
    seconds=0.5,
    rounds=1,
    cold_rounds=1,
    add_seconds=2,
    add_rounds=1,
    single_adds=300,
    idle_seconds=3,
)


def everything(effort: Effort) -> Iterator[Result]:
    for part in (searching, adding, growth):
        with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as folder:
            yield from part(effort, Path(folder))
