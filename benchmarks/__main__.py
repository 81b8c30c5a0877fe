"""Measure, print, and write the figures to a file: `python -m benchmarks [quick]`.

Only the full run is kept in the repository's results; a quick one shows that everything still runs.
"""

import json
import platform
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

from benchmarks.measuring import FULL, QUICK, Bench, Result
from benchmarks.report import RESULTS, table, update_readme
from benchmarks.servers import LOAD


def main() -> int:
    quick = sys.argv[1:] == ["quick"]
    if not LOAD.exists():
        print(f"{LOAD} is missing; `make bench` builds it (needs Go)", file=sys.stderr)
        return 2
    results: list[Result] = []
    with Bench(QUICK if quick else FULL) as bench:
        for result in bench.all():
            results.append(result)
            print(
                f"{'holds ' if result.holds else 'MISSED'} {result.name}: {result.value:.2f} {result.unit}", flush=True
            )
    if not quick:
        _write(RESULTS, results)
        update_readme(table(json.loads(RESULTS.read_text())))
    return 0


def _write(path: Path, results: list[Result]) -> None:
    report = {
        "machine": {"cpu": platform.machine(), "cores": _cores(), "python": platform.python_version()},
        "grpcio": version("grpcio"),
        "results": [{**asdict(one), "holds": one.holds} for one in results],
    }
    path.write_text(json.dumps(report, indent=2) + "\n")


def _cores() -> int:
    return Path("/proc/cpuinfo").read_text().count("processor\t:")


if __name__ == "__main__":
    sys.exit(main())
