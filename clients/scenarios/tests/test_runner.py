"""The runner reports a driver that violates the protocol, and never waits for it without a limit."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from run import run_scenarios
from runner.fixtures import Fixtures
from runner.scenario_files import read_scenarios

RUN = Path(__file__).parents[1] / "run.py"
# Answers every command with an empty message.
EMPTY = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "answer": "", "items": [], "answers": []}), flush=True)
"""


@pytest.fixture(scope="module")
def fixtures() -> Iterator[Fixtures]:
    with Fixtures() as opened:
        yield opened


def run(driver: str, name: str, fixtures: Fixtures) -> None:
    scenarios = [scenario for scenario in read_scenarios() if name in scenario["name"]]
    (result,) = run_scenarios({"fake": [sys.executable, "-c", driver]}, scenarios, fixtures)
    assert result.last_line() == "fake: 0 passed, 1 failed"


@pytest.mark.parametrize(
    ("driver", "problem"),
    [
        (EMPTY, "step 1: answer.message_id should be 'm1', and is ''"),
        ("pass", "the driver has exited"),
        ("print('Hello!', flush=True); import sys; sys.stdin.read()", "the driver wrote 'Hello!'"),
        ("""print('{"id": 99}', flush=True); import sys; sys.stdin.read()""", "the driver wrote"),
    ],
)
def test_a_driver_that_is_wrong_fails(
    driver: str, problem: str, fixtures: Fixtures, capsys: pytest.CaptureFixture[str]
) -> None:
    run(driver, "the same message again", fixtures)
    assert problem in capsys.readouterr().out


def test_a_call_that_should_fail_and_succeeds_is_reported(
    fixtures: Fixtures, capsys: pytest.CaptureFixture[str]
) -> None:
    run(EMPTY, "an invalid field is named by its path", fixtures)
    assert "step 1: the call should have failed, and did not" in capsys.readouterr().out


def test_the_exit_code_is_1_after_a_failure() -> None:
    command = [sys.executable, str(RUN), "fake", "--only", "an address without a listener", "--"]
    done = subprocess.run([*command, sys.executable, "-c", "pass"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "passed, " in done.stdout.splitlines()[-1]
