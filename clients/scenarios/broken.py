"""Break one RPC of the sidecar after the other, and see that scenarios fail: broken.py LANGUAGE ... [--rpc NAME ...]

Scenarios that pass whatever the sidecar answers would prove nothing. Ends with 1 where all scenarios that use a broken
RPC pass in some language.
"""

import argparse
import sys
from typing import Any

from conductor.drivers import driver_commands
from conductor.fixtures import Fixtures
from conductor.library import read_scenarios
from run import all_steps, played

NOT_IMPLEMENTED = {"ForgetMessage", "ForgetUser", "Export", "Import", "Watch"}


def main() -> int:
    parser = argparse.ArgumentParser(usage="broken.py LANGUAGE ... [--rpc NAME ...]")
    parser.add_argument("languages", nargs="+")
    parser.add_argument("--rpc", nargs="*", help="Which to break; all that are built, where none is named.")
    arguments = parser.parse_args()
    scenarios = [one for one in read_scenarios() if one["fixture"] in ("plain", "indexed") and "alone" not in one]
    green = False
    for rpc in arguments.rpc or sorted({used for one in scenarios for used in rpcs_of(one)} - NOT_IMPLEMENTED):
        affected = [one for one in scenarios if rpc in rpcs_of(one)]
        with Fixtures(broken=rpc) as fixtures:
            tallies = played(driver_commands(arguments.languages, ()), affected, fixtures, quietly=True)
        told = ", ".join(f"{one.language} {one.failed} of {one.failed + one.passed} red" for one in tallies)
        green = green or not all(one.failed for one in tallies)
        print(f"{rpc} broken: {told}", flush=True)
    return 1 if green else 0


def rpcs_of(scenario: dict[str, Any]) -> set[str]:
    return {
        step[kind] for step in all_steps(scenario["steps"]) for kind in ("call", "iterate", "stream") if kind in step
    }


if __name__ == "__main__":
    sys.exit(main())
