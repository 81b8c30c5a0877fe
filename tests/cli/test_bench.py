"""`memsidecar bench` and progress bars."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from memsidecar.access.policy import AccessRole
from memsidecar.cli.bench import Measurement
from memsidecar.v1.session_pb2 import ExportRequest, ListSessionsRequest
from tests.access.access_files import Grant, write_access_file
from tests.cli.commands import CommandLine
from tests.support.process import SidecarProcess
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


def test_what_a_token_may_not_forget_stays_and_its_removal_is_named(tmp_path: Path) -> None:
    grants = {role: Grant(role.name, ("*",), role) for role in (AccessRole.WRITE, AccessRole.ADMIN)}
    access_file = write_access_file(tmp_path / "access.toml", list(grants.values()))
    with SidecarProcess(tmp_path / "data", "--index", "volatile", "--access-file", str(access_file)) as sidecar:
        memory = CommandLine(sidecar, tmp_path)
        done = memory.run("bench", *SMALL, MEMSIDECAR_TOKEN=grants[AccessRole.WRITE].text)
        assert done.returncode == 0 and "What was added stays (ForgetUser is refused (PERMISSION_DENIED" in done.stderr
        (removal,) = re.findall(r"memsidecar (forget user bench-\S+ --namespace memsidecar-bench --yes)", done.stderr)
        removed = memory.run(*removal.split(), MEMSIDECAR_TOKEN=grants[AccessRole.ADMIN].text)
        assert removed.returncode == 0 and '"messages": 60' in removed.stdout


def test_without_a_sidecar_there_is_nothing_to_forget(memory: CommandLine) -> None:
    done = memory.run("bench", *SMALL, "--address", "127.0.0.1:1")
    assert done.returncode == 1 and "127.0.0.1:1 does not answer" in done.stderr and "stays" not in done.stderr


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
