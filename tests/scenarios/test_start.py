"""Listeners of the sidecar, and refused starts."""

import socket
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.scenarios.conversation import Conversation
from tests.support.forked import run
from tests.support.process import START_SECONDS, SidecarProcess


@pytest.fixture
def socket_path() -> Iterator[Path]:
    """Return a path under /tmp itself, because the path of a unix socket has about 100 bytes at most."""
    with TemporaryDirectory(prefix="mem") as directory:
        yield Path(directory) / "s.sock"


def refused(data_dir: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run a start that must fail."""
    arguments = ["serve", "--data-dir", str(data_dir), "--health-listen", ""]
    if "--http-listen" not in flags:
        arguments += ["--http-listen", ""]
    if "--listen" not in flags:
        arguments += ["--listen", "127.0.0.1:0"]
    return run(*arguments, *flags, timeout=START_SECONDS)


def test_the_ready_line_has_the_actual_addresses(sidecar: SidecarProcess) -> None:
    assert set(sidecar.ready) == {"event", "listen", "health_listen"}
    assert sidecar.ready["event"] == "ready"
    for name in ("listen", "health_listen"):
        host, _, port = sidecar.ready[name].rpartition(":")
        assert host == "127.0.0.1" and int(port) > 0


def test_a_unix_socket_serves_the_owner_and_the_group(data_dir: Path, socket_path: Path) -> None:
    with SidecarProcess(data_dir, "--listen", f"unix:{socket_path}") as sidecar:
        assert sidecar.ready["listen"] == f"unix:{socket_path}"
        assert stat.S_IMODE(socket_path.stat().st_mode) == 0o660
        with sidecar.client() as client:
            Conversation(client, "s").add("hello")
            assert Conversation(client, "s").contents() == ["hello"]
        assert sidecar.stop() == 0


def test_a_second_server_does_not_replace_a_socket_in_use(tmp_path: Path, data_dir: Path, socket_path: Path) -> None:
    listen = ("--listen", f"unix:{socket_path}")
    with SidecarProcess(data_dir, *listen) as sidecar:
        second = refused(tmp_path / "other", *listen)
        assert second.returncode == 1
        assert str(socket_path) in second.stderr and "in use" in second.stderr
        assert "Traceback" not in second.stderr
        with sidecar.client() as client:
            assert Conversation(client, "s").add("still here").sequence == 1


def test_the_socket_of_a_killed_server_is_replaced(data_dir: Path, socket_path: Path) -> None:
    with SidecarProcess(data_dir, "--listen", f"unix:{socket_path}") as sidecar:
        sidecar.kill()
        assert socket_path.is_socket()
        sidecar.start()
        with sidecar.client() as client:
            assert Conversation(client, "s").add("back again").sequence == 1


def test_a_file_that_is_no_socket_is_not_changed(data_dir: Path, socket_path: Path) -> None:
    socket_path.write_text("precious")
    result = refused(data_dir, "--listen", f"unix:{socket_path}")
    assert result.returncode == 1 and "not a socket" in result.stderr
    assert socket_path.read_text() == "precious"


def test_a_second_process_on_the_same_data_is_refused(sidecar: SidecarProcess) -> None:
    result = refused(sidecar.data_dir)
    assert (result.returncode, result.stdout) == (1, "")
    assert str(sidecar.data_dir) in result.stderr
    assert "Traceback" not in result.stderr
    with sidecar.client() as client:
        assert Conversation(client, "undisturbed").add("hello").sequence == 1


@pytest.mark.parametrize("flag", ["--listen", "--health-listen", "--http-listen"])
def test_a_port_in_use_is_refused_with_a_clear_message(data_dir: Path, flag: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = refused(data_dir, flag, address)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"cannot listen on {address}" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_port_of_another_sidecar_is_refused(sidecar: SidecarProcess, data_dir: Path) -> None:
    result = refused(data_dir, "--listen", sidecar.address)
    assert result.returncode == 1 and f"cannot listen on {sidecar.address}" in result.stderr


def test_a_non_loopback_address_is_refused(data_dir: Path) -> None:
    result = refused(data_dir, "--listen", "0.0.0.0:0")
    assert result.returncode == 2 and "loopback" in result.stderr


def test_an_idle_sidecar_stops_and_exits_0(data_dir: Path) -> None:
    with SidecarProcess(data_dir, executed=True) as sidecar:
        assert sidecar.stop() == 0
