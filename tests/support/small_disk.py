"""A disk that is small enough to be filled, and a file that fills it."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from tests.support.process import Refusal

MOST_WRITES = 2_000
ROOM_CAME_BACK = 3


@contextmanager
def small_disk_at(point: Path, size: int) -> Iterator[Path]:
    point.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(point)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"NOT TESTED: a full disk. A small one cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield point
    except BaseException:
        subprocess.run(
            ["umount", "--lazy", str(point)], check=True
        )  # the code that failed may still have files open there
        raise
    subprocess.run(["umount", str(point)], check=True)


class Foreign:
    """A file of another program that takes all free space."""

    def __init__(self, disk: Path) -> None:
        self._path = disk / "foreign"

    def take(self, size: int) -> None:
        self._path.write_bytes(bytes(size))

    def take_all(self) -> None:
        with self._path.open("ab", buffering=0) as file:
            size = 1 << 16
            while size:
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass
                size //= 2

    def leave(self) -> None:
        self._path.unlink()


def write_until_full(write: Callable[[int], object]) -> None:
    """Write until two writes in a row are refused. Each refusal must have its reason, and allow a retry.

    One is not enough: the journal's readers and writers go on meanwhile. They may free space between the two, but not
    again and again.
    """
    refused: list[int] = []
    for number in range(MOST_WRITES):
        try:
            write(number)
        except grpc.RpcError as error:
            said = Refusal(error)
            assert said.code is grpc.StatusCode.RESOURCE_EXHAUSTED, said.message
            assert said.reason == "DISK_FULL" and said.retry, said.message
            refused.append(number)
        if refused[-2:] == [number - 1, number]:
            return
        assert len(refused) <= ROOM_CAME_BACK
    raise AssertionError("the disk never became full")
