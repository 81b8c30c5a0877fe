"""A full disk with the journal and the index: reads and searches work, and indexing resumes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages
from tests.faults_index.index_files import IndexFiles, until
from tests.support.process import Client, SidecarProcess
from tests.support.small_disk import ForeignFile, small_disk_at, write_until_full

DISK_BYTES = 16 << 20
BALLAST = ("--ballast-bytes", "524288", "--wal-checkpoint-bytes", "262144")


@pytest.fixture
def small_disk(data_dir: Path) -> Iterator[Path]:
    with small_disk_at(data_dir, DISK_BYTES) as disk:
        yield disk


def check_all_messages(acknowledged: AcknowledgedMessages, client: Client) -> None:
    acknowledged.check_readable(client)
    acknowledged.check_found(client)


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "killed and started on the full disk"])
def test_on_a_full_disk_searches_work_and_indexing_resumes(small_disk: Path, restarted: bool) -> None:
    acknowledged, foreign, files = AcknowledgedMessages(), ForeignFile(small_disk), IndexFiles(small_disk)
    with SidecarProcess(small_disk, *FLAGS, *BALLAST) as sidecar:
        with sidecar.client() as client:
            acknowledged.add_many(client, "before", 50)
            acknowledged.add_many(client, "stays", 50)
            files.wait_until_complete(acknowledged.contents)
            foreign.fill_disk()
            write_until_full(lambda _: acknowledged.add(client, "full", "x" * 2_000))
            check_all_messages(acknowledged, client)
            words = acknowledged.clear(client, "before")
            for word in words[:3]:
                assert not any(hit.message.content.endswith(word) for hit in acknowledged.search(client, word).hits)
        if restarted:
            sidecar.kill()
            sidecar.start()
        with sidecar.client() as client:
            check_all_messages(acknowledged, client)
            foreign.remove()
            acknowledged.add(client, "after")
            files.wait_until_complete(acknowledged.contents)
            until(lambda: acknowledged.has_no_degradation(client), "a search has no degradation")
        assert sidecar.stop() == 0
    files.check_final(acknowledged.contents)
