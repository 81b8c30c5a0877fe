"""Play the scenarios: run.py LANGUAGE ... [--only WORDS] [--tallies FOLDER] [-- COMMAND ...]

Several languages are played side by side, against the same sidecars; what starts a sidecar again comes last, one after
the other. A COMMAND starts the driver of one that is not in languages.yaml yet. The last lines tell how many scenarios
passed in each; the exit code is 1 unless all of them did.
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

from conductor.driver import Driver, DriverFailed
from conductor.drivers import UnknownLanguage, driver_commands
from conductor.fixtures import Fixtures, NotPossible
from conductor.library import read_scenarios
from conductor.matching import Mismatch
from conductor.process import NotStarted
from conductor.stage import ClientRefused, Stage
from conductor.steps import Steps
from conductor.tally import Tally
from conductor.values import UnknownVariable

# Half of a scenario is waiting. More of them at once would only make each other late, and many look at the clock.
AT_ONCE = 2 * (os.cpu_count() or 1)


def main() -> int:
    arguments, commands = _arguments()
    # Whoever ends us early ends the sidecars, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    scenarios = [one for one in read_scenarios() if arguments.only in f"{one['file']}: {one['name']}"]
    with Fixtures() as fixtures:
        tallies = played(commands, scenarios, fixtures)
    for tally in tallies:
        if arguments.tallies:
            tally.write(arguments.tallies / f"{tally.language}.json")
        print(tally.last_line(), flush=True)
    return 1 if any(tally.failed or not tally.passed for tally in tallies) else 0


def played(
    commands: Mapping[str, list[str]], scenarios: list[dict[str, Any]], fixtures: Fixtures, quietly: bool = False
) -> list[Tally]:
    parts = [Part(language, command, fixtures, quietly) for language, command in commands.items()]
    play_side_by_side(parts, [one for one in scenarios if not restarts(one)])
    # A client gives up after some four seconds. A sidecar that is to be back by then gets the machine to itself.
    for part in parts:
        part.play([one for one in scenarios if restarts(one)])
    return [part.end() for part in parts]


def play_side_by_side(parts: list["Part"], scenarios: list[dict[str, Any]]) -> None:
    # Each begins elsewhere, so that they do not all start a sidecar at the same moment.
    shifts = [len(scenarios) * number // len(parts) for number in range(len(parts))]
    with ThreadPoolExecutor(AT_ONCE) as together:
        list(together.map(Part.play, parts, [scenarios[shift:] + scenarios[:shift] for shift in shifts]))


def restarts(scenario: dict[str, Any]) -> bool:
    return any(step.get("sidecar") in ("start", "restart", "crash") for step in all_steps(scenario["steps"]))


class Part:
    """One language."""

    def __init__(self, language: str, command: list[str], fixtures: Fixtures, quietly: bool) -> None:
        self._tell = _nothing if quietly else _tell
        self._command = command
        self._fixtures = fixtures
        self._tally = Tally(language)
        self._driver = Driver(command, {})

    def play(self, scenarios: list[dict[str, Any]]) -> None:
        for scenario in scenarios:
            self._play(scenario)

    def end(self) -> Tally:
        self._driver.end()
        return self._tally

    def _play(self, scenario: dict[str, Any]) -> None:
        """One scenario, on a line of its own."""
        title = f"{self._tally.language}: {scenario['file']}: {scenario['name']}"
        begin, called, problem = time.monotonic(), set[str](), ""
        try:
            with Stage(scenario, self._fixtures, self._command, self._driver) as stage:
                steps = Steps(stage)
                called = steps.called
                problem = _played(steps, scenario["steps"], stage.variables)
        except NotPossible as why:
            self._tally.skipped += 1
            self._tell(f"skip {title}: {why}")
            return
        except (DriverFailed, NotStarted) as failed:
            problem = problem or str(failed)
        self._tally.count(called, not problem)
        self._tell(f"{'FAIL' if problem else 'ok  '} {title} ({time.monotonic() - begin:.1f} s)")
        if problem:
            self._tell(f"     {problem}")


def _played(steps: Steps, all_steps: list[dict[str, Any]], variables: dict[str, Any]) -> str:
    """What went wrong; empty where nothing did."""
    for number, step in enumerate(all_steps, 1):
        try:
            steps.play(step, variables)
        except (Mismatch, ClientRefused, DriverFailed, UnknownVariable) as problem:
            return f"step {number}: {problem}"
    return ""


def all_steps(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in steps:
        yield step
        yield from all_steps(step.get("concurrently", []))


def _nothing(_line: str) -> None:
    pass


def _tell(line: str) -> None:
    """In one piece, though others tell something at the same time."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _arguments() -> tuple[argparse.Namespace, dict[str, list[str]]]:
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(usage="run.py LANGUAGE ... [--only WORDS] [--tallies FOLDER] [-- COMMAND ...]")
    parser.add_argument("languages", nargs="+")
    parser.add_argument("--only", default="", help="Only scenarios with these words in their file or name.")
    parser.add_argument("--tallies", type=Path, help="Folder for what came of it, by RPC, in a file for each language.")
    arguments = parser.parse_args(sys.argv[1:at])
    try:
        return arguments, driver_commands(arguments.languages, sys.argv[at + 1 :])
    except UnknownLanguage as unknown:
        parser.error(str(unknown))


if __name__ == "__main__":
    sys.exit(main())
