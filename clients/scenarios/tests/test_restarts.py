"""While a sidecar restarts, no other scenario runs: its client retries for a limited time only."""

import sys
import threading
from typing import Any, cast

from run import run_scenarios
from runner.fixtures import Fixtures

VARIANTS = ("first", "second")
ECHO_DRIVER = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"]}), flush=True)
"""
BARRIER_SECONDS = 60
RESTART_SECONDS = 0.1


class CountingFixtures:
    """Fixtures without processes that count the running scenarios."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._barrier = threading.Barrier(len(VARIANTS))
        self.running_at_restart: list[int] = []

    def dedicated(self, _name: str) -> "CountingSidecar":
        self._count(1)
        return CountingSidecar(self)

    def close(self) -> None:
        self._count(-1)

    def wait_for_all(self) -> None:
        """Return when all variants have called this."""
        self._barrier.wait(BARRIER_SECONDS)

    def restart(self) -> None:
        """Take a moment, so that a scenario that runs in parallel is counted."""
        threading.Event().wait(RESTART_SECONDS)
        with self._lock:
            self.running_at_restart.append(self._running)

    def _count(self, change: int) -> None:
        with self._lock:
            self._running += change


class CountingSidecar:
    def __init__(self, fixtures: CountingFixtures) -> None:
        self.address = ""
        self.client: dict[str, Any] = {}
        self.process = self
        self.close = fixtures.close
        self.pause = fixtures.wait_for_all
        self.start = self.restart = self.crash = fixtures.restart

    def variables(self) -> dict[str, Any]:
        return {}


def scenario(name: str, step: dict[str, Any]) -> dict[str, Any]:
    return {"file": "made", "name": name, "fixture": "any", "dedicated": True, "steps": [step]}


def test_restarts_run_alone_and_other_scenarios_run_in_parallel() -> None:
    fixtures = CountingFixtures()
    scenarios = [
        scenario("the sidecar restarts", {"sidecar": "restart"}),
        scenario("all variants wait for each other", {"sidecar": "pause"}),
        scenario("the sidecar starts while a client waits", {"concurrently": [{"sidecar": "start"}]}),
        scenario("all variants wait for each other again", {"sidecar": "pause"}),
        scenario("the sidecar crashes during a call", {"concurrently": [{"sidecar": "crash"}]}),
    ]
    commands = {variant: [sys.executable, "-c", ECHO_DRIVER] for variant in VARIANTS}
    results = run_scenarios(commands, scenarios, cast(Fixtures, fixtures), quiet=True)
    assert [(result.variant, result.passed, result.failed) for result in results] == [
        (variant, 5, 0) for variant in VARIANTS
    ]
    assert fixtures.running_at_restart == [1] * 3 * len(VARIANTS)
