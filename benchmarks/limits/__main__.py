"""Measure the effect of limits, print it, and write it to a file: `python -m benchmarks.limits [quick]`.

Measures how much a flooding tenant slows down a quiet one, with and without a rate quota, and how much memory callers
can make a sidecar allocate. A quick run only verifies that the benchmarks work, and is not saved.
"""

import json
import platform
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.limits import flooding, memory
from benchmarks.limits.flooding import FloodEffect
from benchmarks.limits.memory import Held
from benchmarks.servers import LOAD

RESULTS = Path(__file__).with_name("results.json")
QUOTAS = (0.0, 50.0)
SECONDS, QUICK_SECONDS = 4.0, 1.0


def main() -> int:
    words = set(sys.argv[1:])
    if words - {"quick"}:
        print(f"not known: {', '.join(sorted(words))}; see the head of benchmarks/limits/__main__.py", file=sys.stderr)
        return 2
    if not LOAD.exists():
        print(f"{LOAD} is missing; `make bench` builds it (needs Go)", file=sys.stderr)
        return 2
    quick = "quick" in words
    with tempfile.TemporaryDirectory(prefix="memsidecar-bench-") as folder:
        report = _report(Path(folder), QUICK_SECONDS if quick else SECONDS)
    if not quick:
        RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    return 0


def _report(folder: Path, seconds: float) -> dict[str, Any]:
    return {
        "machine": {"cpu": platform.machine(), "python": platform.python_version(), "grpcio": version("grpcio")},
        "memory": [_shown_held(one) for one in memory.everything(folder)],
        "noticed": [_shown_effect(one) for one in _floods(folder, seconds)],
    }


def _floods(folder: Path, seconds: float) -> Iterator[FloodEffect]:
    for quota in QUOTAS:
        with flooding.sharing(folder, quota) as tenants:
            flooding.fill(tenants)
            yield from flooding.noticed(tenants, folder, quota, seconds)


def _shown_held(one: Held) -> dict[str, Any]:
    print(
        f"{one.what}: {one.idle_mb:.0f} MB, at most {one.peak_mb:.0f} MB ({one.offered_mb:.0f} MB on offer)", flush=True
    )
    return {**asdict(one), "grown_mb": one.grown_mb}


def _shown_effect(one: FloodEffect) -> dict[str, Any]:
    quota = f"{one.rate_quota:g} calls a second" if one.rate_quota else "no rate quota"
    print(
        f"{one.flood}, {one.callers} callers, {quota}: p50 x{one.p50_ratio:.1f}, p99 x{one.p99_ratio:.1f}", flush=True
    )
    return asdict(one)


if __name__ == "__main__":
    sys.exit(main())
