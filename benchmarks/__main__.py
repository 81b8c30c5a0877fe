"""Measure, print, and write the figures to a file: `python -m benchmarks [quick] [SECTION ...]`.

The sections are calls, retrieval, context, hostile, watchers, erasures, metrics and replicas. Without one, all of them
run. Only a full run updates the repository's results, one section at a time; a quick run only verifies that the
benchmarks work.
"""

import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import erasures, hostile, measuring, metrics, replicas, watchers
from benchmarks.context import building as context
from benchmarks.measuring import Bench, Result
from benchmarks.report import RESULTS, table, update_readme
from benchmarks.restart import restarted
from benchmarks.retrieval import measuring as retrieval
from benchmarks.servers import LOAD

CALLS, RETRIEVAL, CONTEXT = "calls", "retrieval", "context"
BESIDE_OTHERS = {"hostile": hostile, "watchers": watchers, "erasures": erasures, "metrics": metrics}
"Sections that compare calls with the same calls while something else happens."
REPLICAS = "replicas"
"The one section without calls over gRPC, which the load generator in Go makes."
SECTIONS = (CALLS, RETRIEVAL, CONTEXT, *BESIDE_OTHERS, REPLICAS)


def main() -> int:
    words = set(sys.argv[1:])
    if unknown := words - {"quick", *SECTIONS}:
        print(f"not known: {', '.join(sorted(unknown))}; see the head of benchmarks/__main__.py", file=sys.stderr)
        return 2
    quick = "quick" in words
    sections = words - {"quick"} or {*SECTIONS}
    if sections != {REPLICAS} and not LOAD.exists():
        print(f"{LOAD} is missing; `make bench` builds it (needs Go)", file=sys.stderr)
        return 2
    if CALLS in sections:
        _keep(quick, _calls_report(_measured(_calls(quick))))
    if RETRIEVAL in sections:
        _keep(quick, {RETRIEVAL: _retrieval_report(_measured(_retrieval(quick)))})
    if CONTEXT in sections:
        _keep(quick, {CONTEXT: {"results": _plain(_measured(_contexts(quick)))}})
    for name, module in (BESIDE_OTHERS | {REPLICAS: replicas}).items():
        if name in sections:
            effort = module.QUICK if quick else module.FULL
            _keep(quick, {name: {"results": _plain(_measured(module.everything(effort)))}})
    return 0


def _contexts(quick: bool) -> Iterator[Result]:
    yield from context.everything(retrieval.QUICK if quick else retrieval.FULL)


def _calls(quick: bool) -> Iterator[Result]:
    effort = measuring.QUICK if quick else measuring.FULL
    with Bench(effort) as bench:
        yield from bench.all()
    yield from restarted(effort)


def _retrieval(quick: bool) -> Iterator[Result]:
    yield from retrieval.everything(retrieval.QUICK if quick else retrieval.FULL)


def _measured(results: Iterator[Result]) -> list[Result]:
    """Print each result as soon as it is available, and return all of them."""
    found = []
    for result in results:
        found.append(result)
        print(f"{'holds ' if result.holds else 'MISSED'} {result.name}: {result.value:.2f} {result.unit}", flush=True)
    return found


def _calls_report(results: list[Result]) -> dict[str, Any]:
    return {
        "machine": {"cpu": platform.machine(), "cores": _cores(), "python": platform.python_version()},
        "grpcio": version("grpcio"),
        "results": _plain(results),
    }


def _retrieval_report(results: list[Result]) -> dict[str, Any]:
    return {"versions": {name: found for name in ("lancedb", "chromadb") if (found := _version(name))}} | {
        "results": _plain(results)
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _plain(results: list[Result]) -> list[dict[str, Any]]:
    return [{**asdict(one), "holds": one.holds} for one in results]


def _keep(quick: bool, section: dict[str, Any]) -> None:
    """Update one section of the results file; keep the others."""
    if quick:
        return
    report = json.loads(RESULTS.read_text()) | section
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    update_readme(table(report))


def _cores() -> int:
    return Path("/proc/cpuinfo").read_text().count("processor\t:")


if __name__ == "__main__":
    sys.exit(main())
