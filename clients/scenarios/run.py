"""Run the scenarios: run.py VARIANT ... [--only WORDS] [--results FOLDER] [-- COMMAND ...]

Several variants run in parallel against the same sidecars. Scenarios that restart a sidecar run last, one variant at a
time. A COMMAND starts the driver of a variant that is not in variants.yaml. The last lines count the scenarios that
passed for each variant. The exit code is 1 unless all of them passed.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from runner.driver import Driver, DriverFailed
from runner.fixtures import Fixtures, FixtureUnsupported
from runner.matchers import Mismatch
from runner.results import Results
from runner.scenario_context import ClientRefused, ScenarioContext
from runner.scenario_files import read_scenarios
from runner.sidecar_process import SidecarStartError
from runner.steps import StepRunner
from runner.variables import UnknownVariable
from runner.variants import UnknownVariant, driver_commands

# A scenario waits about half of its time. More scenarios in parallel would delay each other past their time limits.
MAX_PARALLEL = 2 * (os.cpu_count() or 1)


def main() -> int:
    arguments, commands = _arguments()
    # On SIGTERM the fixtures are closed, which ends their sidecars.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    scenarios = [
        scenario for scenario in read_scenarios() if arguments.only in f"{scenario['file']}: {scenario['name']}"
    ]
    with Fixtures() as fixtures:
        results = run_scenarios(commands, scenarios, fixtures)
    for result in results:
        if arguments.results:
            result.write(arguments.results / f"{result.variant}.json")
        print(result.last_line(), flush=True)
    return 1 if any(result.failed or not result.passed for result in results) else 0


def run_scenarios(
    commands: Mapping[str, list[str]], scenarios: list[dict[str, Any]], fixtures: Fixtures, quiet: bool = False
) -> list[Results]:
    """Return the results of each variant, in the order of `commands`."""
    variants = [VariantRun(variant, command, fixtures, quiet) for variant, command in commands.items()]
    run_in_parallel(variants, [scenario for scenario in scenarios if not restarts_sidecar(scenario)])
    # A client retries for about four seconds. No other variant may slow down a sidecar that must be back by then.
    for variant in variants:
        variant.run([scenario for scenario in scenarios if restarts_sidecar(scenario)])
    return [variant.finish() for variant in variants]


def run_in_parallel(variants: list["VariantRun"], scenarios: list[dict[str, Any]]) -> None:
    # Each variant starts at another scenario, so that they do not all start a sidecar at the same moment.
    offsets = [len(scenarios) * number // len(variants) for number in range(len(variants))]
    with ThreadPoolExecutor(MAX_PARALLEL) as pool:
        list(pool.map(VariantRun.run, variants, [scenarios[offset:] + scenarios[:offset] for offset in offsets]))


def restarts_sidecar(scenario: dict[str, Any]) -> bool:
    return any(step.get("sidecar") in ("start", "restart", "crash") for step in all_steps(scenario["steps"]))


class VariantRun:
    """The scenarios of one variant, with its driver and its results."""

    def __init__(self, variant: str, command: list[str], fixtures: Fixtures, quiet: bool) -> None:
        self._report = _discard if quiet else _print_line
        self._command = command
        self._fixtures = fixtures
        self._results = Results(variant)
        self._driver = Driver(command, {})

    def run(self, scenarios: list[dict[str, Any]]) -> None:
        for scenario in scenarios:
            self._run(scenario)

    def finish(self) -> Results:
        self._driver.stop()
        return self._results

    def _run(self, scenario: dict[str, Any]) -> None:
        """Run one scenario and report it on one line."""
        title = f"{self._results.variant}: {scenario['file']}: {scenario['name']}"
        started_at, called, problem = time.monotonic(), set[str](), ""
        try:
            with ScenarioContext(scenario, self._fixtures, self._command, self._driver) as context:
                steps = StepRunner(context)
                called = steps.called
                problem = _run_steps(steps, scenario["steps"], context.variables)
        except FixtureUnsupported as why:
            self._results.skipped += 1
            self._report(f"skip {title}: {why}")
            return
        except (DriverFailed, SidecarStartError) as failed:
            problem = problem or str(failed)
        self._results.count(called, not problem)
        self._report(f"{'FAIL' if problem else 'ok  '} {title} ({time.monotonic() - started_at:.1f} s)")
        if problem:
            self._report(f"     {problem}")


def _run_steps(runner: StepRunner, steps: list[dict[str, Any]], variables: dict[str, Any]) -> str:
    """Return the first problem, or an empty text."""
    for number, step in enumerate(steps, 1):
        try:
            runner.run(step, variables)
        except (Mismatch, ClientRefused, DriverFailed, UnknownVariable) as problem:
            return f"step {number}: {problem}"
    return ""


def all_steps(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        yield step
        yield from all_steps([*step.get("concurrently", []), *step.get("in_order", [])])


def _discard(_line: str) -> None:
    pass


def _print_line(line: str) -> None:
    """Write the line with one call, so that lines of parallel variants do not mix."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _arguments() -> tuple[argparse.Namespace, dict[str, list[str]]]:
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(usage="run.py VARIANT ... [--only WORDS] [--results FOLDER] [-- COMMAND ...]")
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--only", default="", help="Only scenarios with these words in their file or name.")
    parser.add_argument("--results", type=Path, help="Folder for the counts by RPC, one file for each variant.")
    arguments = parser.parse_args(sys.argv[1:at])
    try:
        return arguments, driver_commands(arguments.variants, sys.argv[at + 1 :])
    except UnknownVariant as unknown:
        parser.error(str(unknown))


if __name__ == "__main__":
    sys.exit(main())
