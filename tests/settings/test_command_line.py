"""The command line as a process: exit codes, standard output and standard error."""

from __future__ import annotations

import subprocess
import sys
from subprocess import CompletedProcess

import pytest

from memsidecar.settings import documentation
from tests.support.forked import run
from tests.support.waiting import HANG_SECONDS


def memsidecar(*arguments: str, **variables: str) -> CompletedProcess[str]:
    # None of the tester's own MEMSIDECAR_ variables may reach the process.
    return run(*arguments, environ=variables, timeout=HANG_SECONDS)


def python(*arguments: str) -> CompletedProcess[str]:
    command, environ = (sys.executable, *arguments), {"PYTHONPATH": ":".join(sys.path)}
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=HANG_SECONDS, check=False)


def test_the_version_is_printed() -> None:
    done = python("-m", "memsidecar", "--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "memsidecar")


def test_settings_are_printed_as_documented() -> None:
    done = memsidecar("settings")
    assert (done.returncode, done.stdout) == (0, documentation())


@pytest.mark.parametrize(
    "arguments", [(), ("sing",), ("serve", "--lisen", "x"), ("serve", "--max-message", "1MiB"), ("settings", "x")]
)
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    done = memsidecar(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage:" in done.stderr


@pytest.mark.parametrize("command", ["serve", "doctor"])
def test_wrong_settings_exit_with_2_and_say_why_without_a_traceback(command: str) -> None:
    done = memsidecar(command, "--data-dir", "", MEMSIDECAR_READ_THREADS="many")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--data-dir = ''" in done.stderr
    assert "MEMSIDECAR_READ_THREADS = 'many'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mistyped_variable_stops_the_start() -> None:
    done = memsidecar("serve", MEMSIDECAR_LISTN="127.0.0.1:0")
    assert done.returncode == 2
    assert "MEMSIDECAR_LISTEN" in done.stderr


def test_the_command_line_starts_without_grpc_and_tokenizers() -> None:
    heavy = "{'grpc', 'tiktoken', 'lancedb', 'google.protobuf'} & set(sys.modules)"
    code = f"import sys, memsidecar.__main__; sys.exit(bool({heavy}))"
    assert python("-c", code).returncode == 0
