"""Looking at processes that are somebody else's children, and waiting for them."""

import time
from collections.abc import Callable
from pathlib import Path

from tests.mcp.desktop import PATIENCE_SECONDS


def sidecar_pid(data_dir: Path) -> int:
    return int((data_dir / "lock").read_text())


def is_running(pid: int) -> bool:
    """Nobody has to have reaped it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
