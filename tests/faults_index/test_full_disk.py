"""A full disk, with the journal and the index on it: reads and searches go on, and indexing resumes by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults_index.acknowledged import FLAGS, Kept
from tests.faults_index.index_files import IndexFiles, until
from tests.support.process import Client, SidecarProcess
from tests.support.small_disk import Foreign, small_disk_at, write_until_full

DISK_BYTES = 16 << 20
BALLAST = ("--ballast-bytes", "524288", "--wal-checkpoint-bytes", "262144")


@pytest.fixture
def small_disk(data_dir: Path) -> Iterator[Path]:
    with small_disk_at(data_dir, DISK_BYTES) as disk:
        yield disk


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
            write_until_full(lambda _: kept.say(client, "full", "x" * 2_000))
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
