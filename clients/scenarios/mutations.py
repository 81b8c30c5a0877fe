"""Mutation test of the scenarios: mutations.py VARIANT ... [--rpc NAME ...]

Breaks one RPC of the sidecar after the other. For each variant, at least one scenario that uses the RPC must fail;
otherwise the exit code is 1.
"""

import argparse
import sys
from typing import Any

from run import all_steps, run_scenarios
from runner.fixtures import Fixtures
from runner.scenario_files import read_scenarios
from runner.variants import driver_commands


def main() -> int:
    parser = argparse.ArgumentParser(usage="mutations.py VARIANT ... [--rpc NAME ...]")
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--rpc", nargs="*", help="The RPCs to break. Default: all.")
    arguments = parser.parse_args()
    scenarios = [
        scenario
        for scenario in read_scenarios()
        if scenario["fixture"] in ("plain", "indexed") and "dedicated" not in scenario
    ]
    undetected = False
    for rpc in arguments.rpc or sorted({rpc for scenario in scenarios for rpc in rpcs_of(scenario)}):
        affected = [scenario for scenario in scenarios if rpc in rpcs_of(scenario)]
        with Fixtures(broken=rpc) as fixtures:
            results = run_scenarios(driver_commands(arguments.variants, ()), affected, fixtures, quiet=True)
        counts = [f"{result.variant} {result.failed} of {result.failed + result.passed} failed" for result in results]
        undetected = undetected or not all(result.failed for result in results)
        print(f"{rpc} broken: {', '.join(counts)}", flush=True)
    return 1 if undetected else 0


def rpcs_of(scenario: dict[str, Any]) -> set[str]:
    return {
        step[kind] for step in all_steps(scenario["steps"]) for kind in ("call", "iterate", "stream") if kind in step
    }


if __name__ == "__main__":
    sys.exit(main())
