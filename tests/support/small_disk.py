"""A mount of a small disk, and a file that fills it."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from tests.support.process import Refusal

MAX_WRITES = 2_000
MAX_REFUSALS = 3


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
        subprocess.run(["umount", "--lazy", str(point)], check=True)  # the failed code may still have open files there
        raise
    subprocess.run(["umount", str(point)], check=True)


class ForeignFile:
    """A file of another program that takes all free space."""

    def __init__(self, disk: Path) -> None:
        self._path = disk / "foreign"

    def write(self, size: int) -> None:
        self._path.write_bytes(bytes(size))

    def fill_disk(self) -> None:
        with self._path.open("ab", buffering=0) as file:
            size = 1 << 16
            while size:
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass
                size //= 2

    def remove(self) -> None:
        self._path.unlink()


def write_until_full(write: Callable[[int], object]) -> None:
    """Write until two writes in a row are refused. Each refusal must have its reason, and allow a retry.

    One is not enough: other work of the journal may free space between two writes, but only a few times.
    """
    refused: list[int] = []
    for number in range(MAX_WRITES):
        try:
            write(number)
        except grpc.RpcError as error:
            error_details = Refusal(error)
            assert error_details.code is grpc.StatusCode.RESOURCE_EXHAUSTED, error_details.message
            assert error_details.reason == "DISK_FULL" and error_details.retry, error_details.message
            refused.append(number)
        if refused[-2:] == [number - 1, number]:
            return
        assert len(refused) <= MAX_REFUSALS
    raise AssertionError("the disk never became full")
