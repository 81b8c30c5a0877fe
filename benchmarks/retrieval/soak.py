"""Measure memory growth under an even, mixed load: `python -m benchmarks.retrieval.soak [--minutes 10]`.

The users who search are in RAM and add nothing, so their partitions do not grow; other users add messages. Prints a
line every half minute and the slope after the first two minutes. Exits with 1 if the slope is too steep.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import requests
from benchmarks.retrieval import corpus
from benchmarks.retrieval.bare import LIMIT
from benchmarks.retrieval.searching import load, running
from benchmarks.retrieval.watching import IndexFiles, until_indexed, until_quiet
from benchmarks.servers import Running, Shape

MOST_MB_A_MINUTE = 1.0
CALLERS = 16
LOOK_SECONDS, LINE_SECONDS = 2.0, 30.0
SESSIONS = [f"soak-{n}" for n in range(500)]


@dataclass(frozen=True)
class Soak:
    minutes: float
    settling_minutes: float
    messages: int
    adds_per_second: float
    searches_per_second: float


@dataclass(frozen=True)
class Sample:
    minutes: float
    megabytes: float


def main() -> int:
    soak = _options()
    with tempfile.TemporaryDirectory(prefix="memsidecar-soak-") as folder, running(Path(folder)) as server:
        turns = corpus.turns(soak.messages)
        load(server, turns)
        until_indexed(IndexFiles.of(Path(folder) / "data"), len(turns))
        until_quiet(server)
        samples = soaked(server, Path(folder), soak)
        peak = server.peak_mb
    slope = megabytes_a_minute(samples, soak.settling_minutes)
    print(f"{slope:+.2f} MB a minute after the first {soak.settling_minutes:g}; peak {peak:.0f} MB")
    return int(slope >= MOST_MB_A_MINUTE)


def _options() -> Soak:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--settling-minutes", type=float, default=2)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--adds-per-second", type=float, default=20)
    parser.add_argument("--searches-per-second", type=float, default=10)
    return Soak(**vars(parser.parse_args()))


def soaked(server: Running, folder: Path, soak: Soak) -> list[Sample]:
    """Sample the resident memory while both loads run, each at its rate."""
    seconds = soak.minutes * 60
    adds = requests.adds(int(seconds * soak.adds_per_second) + CALLERS, SESSIONS, 1)
    users = [corpus.MOST, corpus.SOME, *corpus.CROWD]
    searches = [
        request
        for at, text in enumerate(corpus.queries(2_000))
        for request in corpus.searches(users[at % len(users)], [text], LIMIT)
    ]
    loads = {
        "Add": (requests.write(folder / "adds", adds), soak.adds_per_second),
        "Search": (requests.write(folder / "searches", searches), soak.searches_per_second),
    }
    with ThreadPoolExecutor(len(loads)) as threads:
        under_way = [
            threads.submit(server.load, method, path, Shape(CALLERS, 1, seconds, rate), method == "Search")
            for method, (path, rate) in loads.items()
        ]
        samples = _watched(server, seconds)
        for one in under_way:
            one.result()
    return samples


def _watched(server: Running, seconds: float) -> list[Sample]:
    samples: list[Sample] = []
    start, next_line = time.monotonic(), 0.0
    while (passed := time.monotonic() - start) < seconds:
        samples.append(Sample(passed / 60, server.resident_mb))
        if passed >= next_line:
            print(f"{passed / 60:5.1f} min {samples[-1].megabytes:7.1f} MB", flush=True)
            next_line += LINE_SECONDS
        time.sleep(LOOK_SECONDS)
    return samples


def megabytes_a_minute(samples: list[Sample], settling_minutes: float) -> float:
    """Return the slope of a least-squares line, so that no single sample decides."""
    later = [one for one in samples if one.minutes >= settling_minutes]
    slope, _ = np.polyfit([one.minutes for one in later], [one.megabytes for one in later], 1)
    return float(slope)


if __name__ == "__main__":
    sys.exit(main())
