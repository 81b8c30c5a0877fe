"""Measure one Add through each client against a bare stub of its language: times.py [LANGUAGE ...]

Each language's own program measures both in one process, three times, and the median ratio counts. Writes
clients/add_times.json, out of which clients/parity.py makes the table of clients/README.md. Ends with 1 where a client
takes more than 1.2 times as long.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from conductor.drivers import known_languages
from conductor.fixtures import Fixtures

FILE = Path(__file__).parents[1] / "add_times.json"
FIXTURE = "plain"
TIMES = 3
MOST = 1.2
RUN_SECONDS = 300


def main() -> int:
    known = known_languages()
    measured: dict[str, Any] = json.loads(FILE.read_text()) if FILE.exists() else {}
    with Fixtures() as fixtures:
        address = fixtures.shared(FIXTURE).address
        for language in sys.argv[1:] or [one for one in known if "add_times" in known[one]]:
            measured[language] = median([times(known[language]["add_times"], address) for _ in range(TIMES)])
            print(f"{language}: {measured[language]}", flush=True)
    FILE.write_text(json.dumps({one: measured[one] for one in known if one in measured}, indent=2) + "\n")
    return 1 if any(one["ratio"] > MOST for one in measured.values()) else 0


def times(command: list[str], address: str) -> dict[str, float]:
    done = subprocess.run([*command, address], stdout=subprocess.PIPE, timeout=RUN_SECONDS, check=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {name: told[name] for name in ("client_us", "stub_us", "ratio")}


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    """The run in the middle, whole, so that its figures belong together."""
    return sorted(runs, key=lambda run: run["ratio"])[len(runs) // 2]


if __name__ == "__main__":
    sys.exit(main())
