"""Start and end of `memsidecar mcp`; only the protocol is on standard output."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pytest

from memsidecar.__main__ import main
from tests.mcp.desktop import PROGRAM
from tests.support.canaries import CANARY
from tests.support.waiting import HANG_SECONDS

HANDSHAKE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}


def request(number: int, method: str, **parameters: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}) + "\n"


INITIALIZE = request(1, "initialize", **HANDSHAKE) + '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


@contextmanager
def started() -> Iterator[tuple[IO[bytes], IO[bytes], IO[bytes], subprocess.Popen[bytes]]]:
    """Start it without an SDK as client; yield its standard streams after the handshake."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*PROGRAM, "--address", "127.0.0.1:1"], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(INITIALIZE.encode())
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())["result"]
        assert answer["serverInfo"]["name"] == "memsidecar" and "call build_context" in answer["instructions"]
        yield process.stdin, process.stdout, process.stderr, process


def test_only_the_protocol_is_on_its_output_and_it_ends_on_a_signal() -> None:
    bad = request(2, "tools/call", name="search_messages", arguments={"query": CANARY, "limit": -1})
    with started() as (stdin, stdout, stderr, process):
        stdin.write(f"no JSON {CANARY}\n{bad}".encode())
        stdin.flush()
        assert json.loads(stdout.readline())["result"]["isError"] is True
        process.send_signal(signal.SIGTERM)
        assert process.wait(HANG_SECONDS) == 0 and stdout.read() == b""
        log = stderr.read().decode()
    assert "tool_failed" in log and "Traceback" not in log and CANARY not in log


def test_it_ends_with_its_input_although_its_output_is_not_read() -> None:
    with started() as (stdin, stdout, stderr, process):
        stdout.close()
        stdin.write((request(2, "tools/list") * 50).encode())
        stdin.close()
        assert process.wait(HANG_SECONDS) == 0
        assert b"Traceback" not in stderr.read()


WRONG = {
    ("--data-dir", "d", "--address", "127.0.0.1:1"): "--data-dir and --address exclude each other",
    ("--data-dir", f"/tmp/{'long' * 40}"): "too long for a unix socket",
    ("--data-dir", "/tmp/50%"): "has one of",
    ("--user-id", "a\tb"): "--user-id: contains a control character",
    ("--session-id", "x" * 300): "--session-id: is longer than 256 bytes",
    ("--token-file", "/tmp/there is no such file"): "cannot be read",
}


@pytest.mark.parametrize(("flags", "problem"), list(WRONG.items()))
def test_wrong_usage_is_reported_in_one_line(
    flags: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *flags]) == 2
    output = capsys.readouterr()
    assert output.out == "" and len(output.err.splitlines()) == 1
    assert output.err.startswith("memsidecar mcp: ") and problem in output.err


def test_without_the_extra_it_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp"]) == 1
    assert capsys.readouterr().err == "memsidecar mcp: the MCP SDK is not installed: pip install 'memsidecar[mcp]'\n"


def test_the_command_line_does_not_load_the_sdk() -> None:
    """Nor does a sidecar: only `mcp_server` may import it, as tests/architecture checks."""
    code = "import sys, memsidecar.__main__; sys.exit('mcp' in sys.modules or 'grpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
