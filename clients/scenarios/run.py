"""Play the scenarios with a language's driver: run.py LANGUAGE [--only WORDS] [--tally FILE] -- COMMAND ...

COMMAND starts the driver. The last line tells how many scenarios passed; the exit code is 1 unless all of them did.
"""

import argparse
import signal
import sys
import time
from pathlib import Path
from typing import Any

from conductor.driver import Driver, DriverFailed
from conductor.fixtures import Fixtures, NotPossible
from conductor.library import read_scenarios
from conductor.matching import Mismatch
from conductor.process import NotStarted
from conductor.stage import ClientRefused, Stage
from conductor.steps import Steps
from conductor.tally import Tally
from conductor.values import UnknownVariable


def main() -> int:
    arguments, command = _arguments()
    # Whoever ends us early ends the sidecars, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    tally = Tally(arguments.language)
    with Fixtures() as fixtures:
        driver = Driver(command, {})
        for scenario in read_scenarios():
            if arguments.only in f"{scenario['file']}: {scenario['name']}":
                _play(scenario, fixtures, command, driver, tally)
        driver.end()
    if arguments.tally:
        tally.write(arguments.tally)
    print(tally.last_line(), flush=True)
    return 1 if tally.failed else 0


def _play(scenario: dict[str, Any], fixtures: Fixtures, command: list[str], driver: Driver, tally: Tally) -> None:
    """One scenario, on a line of its own."""
    title, begin, called, problem = f"{scenario['file']}: {scenario['name']}", time.monotonic(), set[str](), ""
    try:
        with Stage(scenario, fixtures, command, driver) as stage:
            steps = Steps(stage)
            called = steps.called
            problem = _played(steps, scenario["steps"], stage.variables)
    except NotPossible as why:
        tally.skipped += 1
        print(f"skip {title}: {why}", flush=True)
        return
    except (DriverFailed, NotStarted) as failed:
        problem = problem or str(failed)
    tally.count(called, not problem)
    print(f"{'FAIL' if problem else 'ok  '} {title} ({time.monotonic() - begin:.1f} s)", flush=True)
    if problem:
        print(f"     {problem}", flush=True)


def _played(steps: Steps, all_steps: list[dict[str, Any]], variables: dict[str, Any]) -> str:
    """What went wrong; empty where nothing did."""
    for number, step in enumerate(all_steps, 1):
        try:
            steps.play(step, variables)
        except (Mismatch, ClientRefused, DriverFailed, UnknownVariable) as problem:
            return f"step {number}: {problem}"
    return ""


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(usage="run.py LANGUAGE [--only WORDS] [--tally FILE] -- COMMAND ...")
    parser.add_argument("language")
    parser.add_argument("--only", default="", help="Only scenarios with these words in their file or name.")
    parser.add_argument("--tally", type=Path, help="Where to write what came of it, by RPC.")
    if "--" not in sys.argv:
        parser.error("which driver? Give its command behind --")
    at = sys.argv.index("--")
    return parser.parse_args(sys.argv[1:at]), sys.argv[at + 1 :]


if __name__ == "__main__":
    sys.exit(main())
