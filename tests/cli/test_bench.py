"""`memsidecar bench` and progress bars."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memsidecar.cli.bench import Measurement
from memsidecar.v1.session_pb2 import ExportRequest, ListSessionsRequest
from tests.cli.commands import CommandLine
from tests.support.waiting import HANG_SECONDS, until

SMALL = ("--messages", "60", "--searches", "4", "--contexts", "2")


def is_empty(memory: CommandLine) -> bool:
    with memory.sidecar.client() as client:
        listed = client.sessions.ListSessions(ListSessionsRequest(namespace="memsidecar-bench"))
        return not listed.sessions and not list(client.sessions.Export(ExportRequest(namespace="memsidecar-bench")))


def test_three_rpcs_are_measured_and_everything_is_forgotten(memory: CommandLine) -> None:
    measured = {each["rpc"]: each for each in memory.lines("bench", *SMALL)}
    assert {rpc: each["calls"] for rpc, each in measured.items()} == {"Add": 60, "Search": 4, "BuildContext": 2}
    for each in measured.values():
        assert 0 < each["p50Ms"] <= each["p95Ms"] <= each["p99Ms"] <= each["maxMs"] and each["callsPerSecond"] > 0
    assert is_empty(memory)


def test_an_interrupted_measurement_is_forgotten(memory: CommandLine) -> None:
    command = [sys.executable, "-m", "memsidecar", "bench", "--messages", "1000000"]
    environ = {"PYTHONPATH": ":".join(sys.path), **memory.variables}
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: not is_empty(memory))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 130 and "interrupted" in errors and "Traceback" not in errors
    assert is_empty(memory)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 50.0), (0.95, 95.0), (0.99, 99.0), (1.0, 100.0), (0.001, 1.0)])
def test_a_percentile_is_the_nearest_rank(share: float, expected: float) -> None:
    measurement = Measurement("Add", [number / 1000 for number in range(1, 101)], 1.0)
    assert measurement.percentile_ms(share) == pytest.approx(expected)


def test_a_terminal_gets_a_progress_bar_and_a_pipe_gets_none(memory: CommandLine, tmp_path: Path) -> None:
    code, received = memory.terminal("export", "--out", str(tmp_path / "one.jsonl"))
    assert code == 0 and "exporting" in received and re.search(r"━", received)
    done = memory.run("export", "--out", str(tmp_path / "two.jsonl"))
    assert done.returncode == 0 and re.fullmatch(r"exported \d+ records to .*\n", done.stderr)
