"""A full disk, with the journal and the index on it: reads and searches go on, and indexing resumes by itself."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from tests.faults.test_full_disk import Foreign
from tests.faults_index.index import IndexFiles, until
from tests.faults_index.kept import FLAGS, Kept
from tests.support.process import Client, SidecarProcess, refusal

DISK_BYTES = 16 << 20
BALLAST = ("--ballast-bytes", "524288", "--wal-checkpoint-bytes", "262144")


@pytest.fixture
def small_disk(data_dir: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: an index on a full disk. Mounting a small one needs root.")
    data_dir.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(data_dir)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"NOT TESTED: an index on a full disk. It cannot be mounted here: {mounted.stderr.strip()}")
    yield data_dir
    subprocess.run(["umount", "-l", str(data_dir)], check=True)


def say_until_refused(kept: Kept, client: Client) -> int:
    """What still fits is acknowledged; the first that does not says so. How many fitted."""
    for number in range(2_000):
        try:
            kept.say(client, "full", "x" * 2_000)
        except grpc.RpcError:
            said = refusal(lambda: kept.say(client, "full", "x" * 2_000))
            assert said.code is grpc.StatusCode.RESOURCE_EXHAUSTED and said.reason == "DISK_FULL", said.message
            return number
    raise AssertionError("the disk never became full")


def check_all_there(kept: Kept, client: Client) -> None:
    kept.check_readable(client)
    kept.check_found(client)


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "killed and started on the full disk"])
def test_on_a_full_disk_searches_go_on_and_indexing_resumes_by_itself(small_disk: Path, restarted: bool) -> None:
    kept, foreign, files = Kept(), Foreign(small_disk), IndexFiles(small_disk)
    with SidecarProcess(small_disk, *FLAGS, *BALLAST) as sidecar:
        with sidecar.client() as client:
            kept.say_many(client, "before", 50)
            kept.say_many(client, "stays", 50)
            files.wait_until_complete(kept.said)
            foreign.take_all()
            say_until_refused(kept, client)
            check_all_there(kept, client)
            words = kept.clear(client, "before")
            for word in words[:3]:
                assert not any(hit.message.content.endswith(word) for hit in kept.search(client, word).hits)
        if restarted:
            sidecar.kill()
            sidecar.start()
        with sidecar.client() as client:
            check_all_there(kept, client)
            foreign.leave()
            kept.say(client, "after")
            files.wait_until_complete(kept.said)
            until(lambda: kept.lacks_nothing(client), "a search lacks nothing")
        assert sidecar.stop() == 0
    files.check_settled(kept.said)
