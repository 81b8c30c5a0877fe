"""While a sidecar comes back, nothing else is played: a client's patience is not for what others do to the machine."""

import sys
import threading
from typing import Any, cast

from conductor.fixtures import Fixtures
from run import played

LANGUAGES = ("one", "two")
ANSWERING = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"]}), flush=True)
"""
MEETING_SECONDS = 20
RESTART_SECONDS = 0.1


class Watched:
    """Fixtures without processes that count the scenarios under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = 0
        self._meeting = threading.Barrier(len(LANGUAGES))
        self.seen_by_restarts: list[int] = []

    def alone(self, _name: str) -> "WatchedSidecar":
        self._count(1)
        return WatchedSidecar(self)

    def close(self) -> None:
        self._count(-1)

    def meet(self) -> None:
        """Returns when all languages are here."""
        self._meeting.wait(MEETING_SECONDS)

    def restart(self) -> None:
        """Takes a moment, so that whoever is played beside it is seen."""
        threading.Event().wait(RESTART_SECONDS)
        with self._lock:
            self.seen_by_restarts.append(self._under_way)

    def _count(self, change: int) -> None:
        with self._lock:
            self._under_way += change


class WatchedSidecar:
    def __init__(self, watched: Watched) -> None:
        self.address = ""
        self.client: dict[str, Any] = {}
        self.process = self
        self.close = watched.close
        self.pause = watched.meet
        self.start = self.restart = self.crash = watched.restart

    def variables(self) -> dict[str, Any]:
        return {}


def scenario(name: str, step: dict[str, Any]) -> dict[str, Any]:
    return {"file": "made", "name": name, "fixture": "any", "alone": True, "steps": [step]}


def test_a_restart_has_the_machine_to_itself_and_all_else_is_played_side_by_side() -> None:
    watched = Watched()
    scenarios = [
        scenario("the sidecar restarts", {"sidecar": "restart"}),
        scenario("all languages meet", {"sidecar": "pause"}),
        scenario("the sidecar comes back while a client waits", {"concurrently": [{"sidecar": "start"}]}),
        scenario("all languages meet again", {"sidecar": "pause"}),
        scenario("the sidecar crashes under a client", {"concurrently": [{"sidecar": "crash"}]}),
    ]
    commands = {language: [sys.executable, "-c", ANSWERING] for language in LANGUAGES}
    tallies = played(commands, scenarios, cast(Fixtures, watched), quietly=True)
    assert [(tally.language, tally.passed, tally.failed) for tally in tallies] == [(one, 5, 0) for one in LANGUAGES]
    assert watched.seen_by_restarts == [1] * 3 * len(LANGUAGES)
