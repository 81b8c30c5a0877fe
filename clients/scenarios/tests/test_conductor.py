"""Drivers that do not do what they should are noticed, and none makes the conductor wait for ever."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "run.py"
# Answers everything with an empty message, whatever was asked.
EMPTY = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"id": json.loads(line)["id"], "answer": "", "items": [], "answers": []}), flush=True)
"""


def play(driver: str, only: str) -> tuple[int, list[str]]:
    command = [sys.executable, str(RUN), "pretended", "--only", only, "--", sys.executable, "-c", driver]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(
    ("driver", "problem"),
    [
        (EMPTY, "step 1: answer.message_id should be 'm1', and is ''"),
        ("pass", "the driver has ended"),
        ("print('Hello!', flush=True); import sys; sys.stdin.read()", "the driver said 'Hello!'"),
        ("""print('{"id": 99}', flush=True); import sys; sys.stdin.read()""", "the driver said"),
    ],
)
def test_a_driver_that_is_wrong_fails(driver: str, problem: str) -> None:
    code, lines = play(driver, "the same message again")
    assert code == 1
    assert lines[-1] == "pretended: 0 passed, 1 failed"
    assert any(problem in line for line in lines), lines


def test_a_call_that_should_fail_and_does_not_is_noticed() -> None:
    code, lines = play(EMPTY, "a wrong field is named by its path")
    assert code == 1
    assert "step 1: the call should have failed, and did not" in lines[-2]
