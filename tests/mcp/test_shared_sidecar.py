"""Several desktop programs share a data directory and a sidecar."""

import os
import signal
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.mcp.desktop import Desktop, desktop
from tests.mcp.processes import is_running, parent_of, sidecar_pid
from tests.support.canaries import CANARY
from tests.support.process import SidecarProcess
from tests.support.waiting import until


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A path that is short enough for a socket, with a space as in macOS' Application Support."""
    with tempfile.TemporaryDirectory(prefix="of ana ") as folder:
        yield Path(folder)


def add(desk: Desktop, content: str) -> None:
    desk.use("add_messages", messages=[{"role": "user", "content": f"{content} {CANARY}"}], session_id="shared")


def words(desk: Desktop) -> list[str]:
    messages = desk.use("recent_messages", session_id="shared")["messages"]
    return [message["content"].partition(" ")[0] for message in messages]


def test_two_programs_share_a_sidecar_that_ends_with_the_last_of_them(short_path: Path, tmp_path: Path) -> None:
    data_dir = short_path / "new" / "data"
    with ExitStack() as opened, ThreadPoolExecutor(2) as at_once:
        one, other = at_once.map(
            lambda _: opened.enter_context(desktop(tmp_path, "--data-dir", str(data_dir))), range(2)
        )
        list(at_once.map(add, (one, other), ("first", "first")))
        first_sidecar = sidecar_pid(data_dir)
        starter, survivor = (one, other) if parent_of(first_sidecar) == one.pid else (other, one)

        starter.kill()
        until(lambda: not is_running(starter.pid))
        add(survivor, "second")
        assert sidecar_pid(data_dir) == first_sidecar and words(survivor) == ["first", "first", "second"]

        os.kill(first_sidecar, signal.SIGKILL)
        add(survivor, "third")
        second_sidecar = sidecar_pid(data_dir)
        assert second_sidecar != first_sidecar and words(survivor) == ["first", "first", "second", "third"]

        survivor.kill()
        until(lambda: not is_running(second_sidecar))
    log = (data_dir / "mcp" / "sidecar.log").read_text()
    assert CANARY not in log and log.rstrip().endswith("stopped")
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (data_dir, data_dir / "mcp")] == [0o700, 0o700]


def test_a_directory_in_use_is_reported_and_used_when_it_is_free(short_path: Path, tmp_path: Path) -> None:
    data_dir = short_path / "data"
    with SidecarProcess(data_dir) as theirs:
        with desktop(tmp_path, "--data-dir", str(data_dir)) as desk:
            refusal = desk.refusal("list_facts")
            assert refusal.startswith(f"NOT_STARTED: the sidecar cannot be started: {data_dir} is in use by another")
            assert "`memsidecar mcp --address`" in refusal
            theirs.stop()
            add(desk, "mine")
            ours = sidecar_pid(data_dir)
            assert is_running(ours)
        until(lambda: not is_running(ours))
