"""Measure Add through each client against the bare stub of its language: benchmark.py [VARIANT ...]

Each variant's benchmark program measures both in one process, three times; the run with the median ratio counts. Writes
clients/benchmark.json, from which clients/parity.py makes a table in clients/README.md. The exit code is 1 if a client
takes more than 1.2 times as long as the stub.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from runner.fixtures import Fixtures
from runner.variants import known_variants

FILE = Path(__file__).parents[1] / "benchmark.json"
FIXTURE = "plain"
RUNS = 3
MAX_RATIO = 1.2
RUN_SECONDS = 300


def main() -> int:
    known = known_variants()
    measured: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    with Fixtures() as fixtures:
        address = fixtures.shared(FIXTURE).address
        for variant in sys.argv[1:] or [variant for variant in known if "benchmark" in known[variant]]:
            measured[variant] = median([measure(known[variant]["benchmark"], address) for _ in range(RUNS)])
            print(f"{variant}: {measured[variant]}", flush=True)
    ordered = {variant: measured[variant] for variant in known if variant in measured}
    FILE.write_text(json.dumps(ordered, indent=2) + "\n")
    return 1 if any(figures["ratio"] > MAX_RATIO for figures in measured.values()) else 0


def measure(command: list[str], address: str) -> dict[str, float]:
    done = subprocess.run([*command, address], stdout=subprocess.PIPE, timeout=RUN_SECONDS, check=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {name: figures[name] for name in ("client_us", "stub_us", "ratio")}


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the run with the median ratio as a whole, so that its figures belong together."""
    return sorted(runs, key=lambda run: run["ratio"])[len(runs) // 2]


if __name__ == "__main__":
    sys.exit(main())
